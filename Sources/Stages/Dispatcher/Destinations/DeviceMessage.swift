import JSONCodec
import NudgeSchema
public import ServiceKit
import Wording

/// The content of a push for a device, independent of the service: the data for the app, and the texts, cut if they are too long. It is an
/// object, because each copy of a struct would count the references of all texts.
final class DeviceMessage: Sendable {
  let push: Push
  let target: PushTarget
  private let occurredAt: Milliseconds
  private let hash: @Sendable (String) -> String
  private let webLink: WebLink?
  let collapse: Collapse?

  /// The message for a push and a target. The push's own targets are ignored.
  ///
  /// - Parameters:
  ///   - occurredAt: When the message was written, in milliseconds since the epoch.
  ///   - hash: Computes a short printable hash of a text.
  ///   - webLink: Where a click on the web leads.
  init(
    push: Push, target: PushTarget, occurredAt: Milliseconds, hash: @escaping @Sendable (String) -> String,
    webLink: WebLink?, collapse: Collapse? = nil
  ) {
    self.collapse = collapse
    self.webLink = webLink
    self.push = push
    self.target = target
    self.occurredAt = occurredAt
    self.hash = hash
  }

  /// The message for a waiting push, in the form for a device that may be off.
  convenience init(_ item: WaitingPush, rules: DispatcherRules) {
    self.init(
      push: item.sentPush, target: item.target, occurredAt: item.occurredAt, hash: rules.hash, webLink: rules.webLink,
      collapse: item.collapse)
  }

  // MARK: Fitting

  /// The texts that fit, with the result of `write` for them. If a push is too large, pictures are removed first, then the last lines of a
  /// catch-up, then text of the body, the names and the title. Pictures that fit afterwards are put back. Ids are never cut. Nil if they
  /// alone are too large.
  ///
  /// - Parameter write: Creates a body from texts, and returns the size that counts against the limit.
  func fitted(toBytes limit: Int, _ write: (Text) -> (bytes: [UInt8], size: Int)) -> (text: Text, bytes: [UInt8])? {
    var text = Text(push)
    let pictures = (avatar: text.avatarUrl, image: text.imageUrl)
    var (bytes, size) = write(text)
    func fits() -> Bool { size <= limit }
    // Nearly every push fits.
    if fits() { return (text, bytes) }
    if pictures != (nil, nil) {
      (text.avatarUrl, text.imageUrl) = (nil, nil)
      (bytes, size) = write(text)
    }
    while !fits(), !text.lines.isEmpty {
      text.lines.removeLast()
      (bytes, size) = write(text)
    }
    for (part, least) in isVisible ? Self.cuts : [] where !fits() {
      guard let full = text[keyPath: part] else { continue }
      let room = max(full.utf8.count - (size - limit), least)
      // A name is in title and data, and some platforms have the body twice.
      text[keyPath: part] = room > 0 ? TextCut.shortened(full, toBytes: room) : nil
      (bytes, size) = write(text)
      if !fits(), let half = text[keyPath: part], half.utf8.count > least {
        text[keyPath: part] = least > 0 ? TextCut.shortened(half, toBytes: least) : nil
        (bytes, size) = write(text)
      }
    }
    guard fits() else { return nil }
    for (part, address) in [(\Text.avatarUrl, pictures.avatar), (\Text.imageUrl, pictures.image)] {
      guard let address, text[keyPath: part] == nil else { continue }
      var fuller = text
      fuller[keyPath: part] = address
      let (more, itsSize) = write(fuller)
      if itsSize <= limit { (text, bytes) = (fuller, more) }
    }
    return (text, bytes)
  }

  /// The texts to cut, in this order, and the fewest bytes that remain of each. First every text keeps a readable part; the title is cut
  /// last.
  private static var cuts: [(WritableKeyPath<Text, String?>, Int)] {
    [
      (\.body, 256), (\.conversationTitle, 64), (\.senderName, 64), (\.title, 128), (\.conversationTitle, 0),
      (\.senderName, 0), (\.body, 32), (\.title, 32), (\.body, 0),
    ]
  }

  /// The parts that are cut if the payload is too large.
  struct Text {
    var title: String?
    var body: String?
    var imageUrl: String?
    var avatarUrl: String?
    /// The names of sender and group, for the app.
    var senderName: String?
    var conversationTitle: String?
    /// The lines of a catch-up, for the app.
    var lines: [Digest.Line]

    /// The visible parts of a push. A blank text counts as absent, and a picture is sent only with an absolute https address.
    init(_ push: Push) {
      func visible(_ text: String?) -> String? { text.flatMap { $0.isVisible ? $0 : nil } }
      title = visible(push.title)
      body = visible(push.body)
      senderName = visible(push.conversation?.senderName)
      conversationTitle = visible(push.conversation?.name)
      imageUrl = PictureAddress.usable(push.imageUrl)
      avatarUrl = PictureAddress.usable(push.avatarUrl)
      lines = push.digest?.lines ?? []
      if body == nil, push.kind == .message, let name = senderName ?? title {
        body = Wording(locale: push.language).newMessage(from: name)
      }
      // Neither text is visible, and no name is known.
      if title == nil, body == nil { title = Wording(locale: push.language).messages(1) }
    }
  }

  // MARK: Properties of the push

  /// Whether the device shows more than a badge.
  var isVisible: Bool {
    (push.kind == .message || push.kind == .digest) && push.presentation != .badge
  }
  /// Whether the app or its service worker draws the notification from the data, and nothing else shows it.
  var isDrawnByApp: Bool {
    target.webPush != nil || isSealed || target.platform == .android && target.renders == true
  }
  /// Whether the data is encrypted for the device's app.
  var isSealed: Bool { target.sealing != nil }
  var isAlert: Bool { isVisible && push.presentation == .alert }
  /// Whether it passes the person's Focus on iOS: it is urgent, or has high priority and mentions or answers them (P11).
  var isTimeSensitive: Bool { isAlert && (push.urgent == true || push.priority == .high && push.isMeant) }
  var isFallback: Bool { push.reason == .simpleRules || push.reason == .notifyAll }

  /// The field `type` of the data, by which the app decides what to do.
  var dataType: String {
    switch push.kind {
    case .badge: "badge"
    case .read: "read"
    case .deleted: "deleted"
    case .digest: "digest"
    // No device receives it.
    case .escalation: "badge"
    case .message: !isVisible ? "badge" : isFallback ? "new_message" : "smart_notification"
    }
  }

  /// The label for FCM's own statistics. There are only a few labels, of the form `[a-zA-Z0-9-_.~%]{1,50}`.
  var analyticsLabel: String { isVisible ? "\(dataType)-\(push.presentation.rawValue)" : dataType }

  /// The buttons of the notification; a catch-up has none.
  var category: String? {
    push.kind == .digest ? nil : isFallback ? "MESSAGE" : "SMART_NOTIFICATION_CATEGORY"
  }

  /// The device shows only the last push of a collapse id, so that a repeat after a time-out does not stack (P7). For a visible push the id
  /// is that of the message. For silent messages on Android it is that of the conversation, because a phone shows at most 50 notifications
  /// of an app and would drop the next alert.
  var collapseId: String {
    switch push.kind {
    case .message where !isVisible: Collapse.badgeKey
    case .message where isSummary: NotificationIds.conversation(push.conversationId ?? "", hash: hash)
    // The same id as the message's, so that for a device that is off APNs stores the deletion instead of the message.
    case .message, .deleted: messageId
    case .badge: Collapse.badgeKey
    case .read: "read-" + NotificationIds.conversation(push.conversationId ?? push.pushId, hash: hash)
    // Each catch-up has other messages, so a later one does not replace it unless it continues its counts.
    case .digest, .escalation: NotificationIds.plain(collapse?.key ?? push.pushId, hash: hash)
    }
  }

  var messageId: String {
    guard let conversationId = push.conversationId, let messageId = push.messageId else {
      return NotificationIds.plain(push.pushId, hash: hash)
    }
    return NotificationIds.message(messageId, in: conversationId, hash: hash)
  }

  /// Whether one notification stands for all silent messages of the conversation. FCM shows it, not the app.
  var isSummary: Bool {
    target.platform == .android && !isDrawnByApp && isVisible && !isAlert && push.unread != nil
      && push.conversationId != nil
  }

  var ttlSeconds: Int { min(max(push.ttlSeconds, 0), FCMMessage.maxTTLSeconds) }

  /// The body, with the number of messages for a notification that stands for several.
  func shownBody(_ body: String?) -> String? {
    guard isSummary, let unread = push.unread, unread > 1 else { return body }
    let count = Wording(locale: push.language).messages(unread)
    return body.map { "\(count) · \($0)" } ?? count
  }

  /// Where a click on the web leads.
  var link: String? {
    guard let webLink, let conversationId = push.conversationId else { return nil }
    return webLink.address(conversationId: conversationId, messageId: push.messageId)
  }

  // MARK: Data

  /// The message's time in the order of its conversation.
  var sentAt: Milliseconds { push.sentAt ?? occurredAt }

  /// Writes the data into an open object.
  func writeData(_ text: Text, to data: inout PayloadWriter) {
    data.field("type", dataType)
    data.field("conversationId", push.conversationId)
    data.field("messageId", push.messageId)
    data.field("senderId", push.senderId)
    data.field("recipientId", push.userId)
    data.field("pushId", push.pushId)
    data.field("priority", push.priority.rawValue)
    data.field("presentation", push.presentation.rawValue)
    data.field("badge", String(max(push.badge, 0)))
    data.field("timestamp", String(sentAt / 1000))
    if push.replaces == true { data.field("replaces", "true") }
    if let digest = push.digest {
      data.field("messages", String(digest.messages))
      data.field("conversations", String(digest.conversations))
      data.field("lines", Self.json(text.lines))
    }
    // On Android and iOS the app shows the sender's picture (large icon, communication notification); FCM cannot.
    if isVisible, isDrawnByApp || target.platform == .ios || target.platform == .android {
      data.field("avatarUrl", text.avatarUrl)
      data.field("senderName", text.senderName)
      data.field("conversationTitle", text.conversationTitle)
      if push.conversation?.kind == .group { data.field("isGroup", "true") }
    }
    if isVisible, isDrawnByApp {
      data.field("title", text.title)
      data.field("body", text.body)
      data.field("imageUrl", text.imageUrl)
      data.field("category", category)
    }
  }

  /// The lines of a catch-up as a JSON array in a text, because FCM's data has only texts.
  private static func json(_ lines: [Digest.Line]) -> String {
    var json = JSONWriter(capacity: 512)
    json.beginArray()
    for line in lines {
      json.beginObject()
      json.field("conversationId", line.conversationId)
      json.field("messageId", line.messageId)
      json.field("title", line.title)
      json.field("text", line.text)
      json.endObject()
    }
    json.endArray()
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

/// The ids by which a device replaces and removes notifications. They have at most 64 bytes of ASCII, because they are sent in an HTTP
/// header.
/// Apps compute the same ids (`NotificationId` of NudgeClient, docs/apps.md). `Schemas/app/notification-ids.json` has test values for both.
enum NotificationIds {
  /// The id of a message's notification. Message ids are unique only within a conversation. The length separates two pairs of ids whose
  /// concatenation would be equal.
  static func message(_ messageId: String, in conversationId: String, hash: (String) -> String) -> String {
    hash("\(conversationId.utf8.count):\(conversationId)\(messageId)")
  }

  /// The id of a conversation's single notification. It cannot be a message's, because no message has an empty id.
  static func conversation(_ conversationId: String, hash: (String) -> String) -> String {
    message("", in: conversationId, hash: hash)
  }

  /// One of Nudge's own ids, unchanged if a header may contain it.
  static func plain(_ id: String, hash: (String) -> String) -> String {
    let isLegal =
      !id.isEmpty && id.utf8.count <= FCMMessage.maxCollapseIdBytes
      && id.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
      }
    return isLegal ? id : hash(id)
  }
}

/// Where a click on a notification leads on the web: the app's own URL of a conversation.
public struct WebLink: Sendable, Equatable {
  private let template: String

  /// - Parameter template: An https address in which `{conversationId}` and `{messageId}` are replaced.
  /// - Throws: `SettingValueError` if a browser would not open it.
  public init(_ template: String) throws(SettingValueError) {
    let sample = Self.filled(template, conversationId: "c", messageId: "m")
    guard PictureAddress.isUsable(sample) else {
      throw SettingValueError(allowed: "an https address such as https://chat.example.com/c/{conversationId}")
    }
    self.template = template
  }

  /// The address of a message in its conversation.
  func address(conversationId: String, messageId: String?) -> String {
    Self.filled(template, conversationId: conversationId, messageId: messageId ?? "")
  }

  private static func filled(_ template: String, conversationId: String, messageId: String) -> String {
    // Ids are percent-encoded first, so that none can look like a placeholder.
    template.replacing("{conversationId}", with: PercentEncoding.segment(conversationId))
      .replacing("{messageId}", with: PercentEncoding.segment(messageId))
  }
}

/// Percent-encodes ids from outside, so that they stay within their part of a URL.
enum PercentEncoding {
  /// A text as one segment of a path, or as a value of a query.
  static func segment(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var escaped: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): escaped.append(byte)
      default: escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
