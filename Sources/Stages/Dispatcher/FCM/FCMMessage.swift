import JSONCodec
public import NudgeSchema
import Wording

/// The body of a `messages:send` for a push and one of its devices (P2), with the fields of that device's platform only.
public struct FCMMessage: Sendable {
  /// FCM's limit on the payload, keys and values, in bytes. All but the token counts here, headers too: FCM is said not to
  /// count them, but it adds keys of its own to what it sends to APNs, where the same limit holds.
  public static let maxPayloadBytes = 4096
  /// APNs' limit on a collapse id, in bytes.
  public static let maxCollapseIdBytes = 64
  /// The longest FCM keeps a push, in seconds: four weeks.
  public static let maxTTLSeconds = 2_419_200
  /// The Android channel of alerts.
  public static let alertChannel = "messages"
  /// The Android channel of silent notifications, of low importance.
  public static let silentChannel = "messages_silent"

  /// The collapse key of pushes that change the badge alone.
  static let badgeKey = "badge"

  private let push: Push
  private let target: PushTarget
  private let occurredAt: Milliseconds
  private let hash: @Sendable (String) -> String
  private let webLink: WebLink?
  private var collapse: Collapse?

  /// The message for a push and a target; the push's own targets are ignored.
  ///
  /// - Parameters:
  ///   - occurredAt: when the message was written, in milliseconds since the epoch.
  ///   - hash: makes a short printable hash of a text.
  ///   - webLink: where a click on the web leads.
  public init(
    push: Push, target: PushTarget, occurredAt: Milliseconds, hash: @escaping @Sendable (String) -> String,
    webLink: WebLink? = nil
  ) {
    self.webLink = webLink
    self.push = push
    self.target = target
    self.occurredAt = occurredAt
    self.hash = hash
  }

  /// The message for a push that waits, as it is sent to a device that may be off.
  init(_ item: WaitingPush, rules: DispatcherRules) {
    self.init(
      push: item.sentPush, target: item.target, occurredAt: item.occurredAt, hash: rules.hash, webLink: rules.webLink)
    collapse = item.collapse
  }

  /// The JSON with at most `maxPayloadBytes` of payload. Of a push that is too large the pictures go first, then the last lines of a
  /// catch-up, then text of the body, of the names and of the title; what fits of the pictures afterwards is put back. Ids are never cut;
  /// nil where they alone are too large.
  public func encoded() -> [UInt8]? {
    var text = Text(push)
    let pictures = (avatar: text.avatarUrl, image: text.imageUrl)
    var (bytes, payloadBytes) = write(text)
    func fits() -> Bool { payloadBytes <= Self.maxPayloadBytes }
    if !fits(), pictures != (nil, nil) {
      (text.avatarUrl, text.imageUrl) = (nil, nil)
      (bytes, payloadBytes) = write(text)
    }
    while !fits(), !text.lines.isEmpty {
      text.lines.removeLast()
      (bytes, payloadBytes) = write(text)
    }
    for (part, least) in isVisible ? Self.cuts : [] where !fits() {
      guard let full = text[keyPath: part] else { continue }
      let room = max(full.utf8.count - (payloadBytes - Self.maxPayloadBytes), least)
      // A name is in title and data, and the body on some platforms twice.
      text[keyPath: part] = room > 0 ? TextCut.shortened(full, toBytes: room) : nil
      (bytes, payloadBytes) = write(text)
      if !fits(), let half = text[keyPath: part], half.utf8.count > least {
        text[keyPath: part] = least > 0 ? TextCut.shortened(half, toBytes: least) : nil
        (bytes, payloadBytes) = write(text)
      }
    }
    guard fits() else { return nil }
    for (part, address) in [(\Text.avatarUrl, pictures.avatar), (\Text.imageUrl, pictures.image)] {
      guard let address, text[keyPath: part] == nil else { continue }
      var fuller = text
      fuller[keyPath: part] = address
      let (more, size) = write(fuller)
      if size <= Self.maxPayloadBytes { (text, bytes) = (fuller, more) }
    }
    return bytes
  }

  /// What is cut, in this order, and the bytes that are left at least: first nobody loses a text that can be read, then the title is
  /// the last to go.
  private static var cuts: [(WritableKeyPath<Text, String?>, Int)] {
    [
      (\.body, 256), (\.conversationTitle, 64), (\.senderName, 64), (\.title, 128), (\.conversationTitle, 0),
      (\.senderName, 0), (\.body, 32), (\.title, 32), (\.body, 0),
    ]
  }

  /// The parts that are cut where the payload is too large.
  private struct Text {
    var title: String?
    var body: String?
    var imageUrl: String?
    var avatarUrl: String?
    /// The names of sender and group, for the app.
    var senderName: String?
    var conversationTitle: String?
    /// The lines of a catch-up, for the app.
    var lines: [Digest.Line]

    /// What can be seen of a push: a text of blanks is none, and a picture without an absolute https address does not leave.
    init(_ push: Push) {
      func visible(_ text: String?) -> String? { text.flatMap { $0.isVisible ? $0 : nil } }
      title = visible(push.title)
      body = visible(push.body)
      senderName = visible(push.conversation?.senderName)
      conversationTitle = visible(push.conversation?.name)
      imageUrl = PictureAddress.usable(push.imageUrl)
      avatarUrl = PictureAddress.usable(push.avatarUrl)
      lines = push.digest?.lines ?? []
      let words = Wording(locale: push.language)
      if body == nil, push.kind == .message, let name = senderName ?? title { body = words.newMessage(from: name) }
      // Neither can be seen, and no name is known.
      if title == nil, body == nil { title = words.messages(1) }
    }
  }

  // MARK: Properties of the push

  /// Whether the device shows more than a badge.
  private var isVisible: Bool {
    (push.kind == .message || push.kind == .digest) && push.presentation != .badge
  }
  /// The app draws the notification from the data; nobody else shows anything.
  private var isDrawnByApp: Bool { target.platform == .android && target.renders == true }
  private var isAlert: Bool { isVisible && push.presentation == .alert }
  /// Whether it passes the person's Focus on iOS: somebody addresses them, and it matters much.
  private var isTimeSensitive: Bool {
    isAlert && push.priority == .high && (push.mentioned == true || push.answered == true)
  }
  private var isFallback: Bool { push.reason == .simpleRules || push.reason == .notifyAll }

  /// `type` of the data, by which the app chooses.
  private var dataType: String {
    switch push.kind {
    case .badge: "badge"
    case .read: "read"
    case .deleted: "deleted"
    case .digest: "digest"
    // It is for no device.
    case .escalation: "badge"
    case .message: !isVisible ? "badge" : isFallback ? "new_message" : "smart_notification"
    }
  }

  /// The label by which FCM's own statistics count the push: a few, of `[a-zA-Z0-9-_.~%]{1,50}`.
  private var analyticsLabel: String { isVisible ? "\(dataType)-\(push.presentation.rawValue)" : dataType }

  /// The buttons of the notification; a catch-up has none.
  private var category: String? {
    push.kind == .digest ? nil : isFallback ? "MESSAGE" : "SMART_NOTIFICATION_CATEGORY"
  }

  /// The device shows only the last push of a collapse id: a repeat after a time-out must not stack (P7). For what is shown it is the
  /// message; of messages that appear silently on Android it is their conversation, because a phone shows no more than 50 notifications
  /// of an app, and then none of the next alert.
  private var collapseId: String {
    switch push.kind {
    case .message where !isVisible: Self.badgeKey
    case .message where isSummary: NotificationIds.conversation(push.conversationId ?? "", hash: hash)
    // The same as the message's: for a device that is off, APNs keeps the deletion instead of the message.
    case .message, .deleted: messageId
    case .badge: Self.badgeKey
    case .read: "read-" + NotificationIds.conversation(push.conversationId ?? push.pushId, hash: hash)
    // Each has other messages: a later one does not replace it, unless it continues its counts.
    case .digest, .escalation: NotificationIds.plain(collapse?.key ?? push.pushId, hash: hash)
    }
  }

  private var messageId: String {
    guard let conversationId = push.conversationId, let messageId = push.messageId else {
      return NotificationIds.plain(push.pushId, hash: hash)
    }
    return NotificationIds.message(messageId, in: conversationId, hash: hash)
  }

  /// One notification stands for all silent messages of the conversation: FCM shows it, not the app.
  private var isSummary: Bool {
    target.platform == .android && target.renders != true && isVisible && !isAlert && push.unread != nil
      && push.conversationId != nil
  }

  private var ttlSeconds: Int { min(max(push.ttlSeconds, 0), Self.maxTTLSeconds) }

  /// The body, and of a notification that stands for several messages how many there are.
  private func shownBody(_ body: String?) -> String? {
    guard isSummary, let unread = push.unread, unread > 1 else { return body }
    let count = Wording(locale: push.language).messages(unread)
    return body.map { "\(count) · \($0)" } ?? count
  }

  /// Where a click leads on the web.
  private var link: String? {
    guard let webLink, let conversationId = push.conversationId else { return nil }
    return webLink.address(conversationId: conversationId, messageId: push.messageId)
  }

  // MARK: Writing

  private func write(_ text: Text) -> (bytes: [UInt8], payloadBytes: Int) {
    var writer = FCMBodyWriter()
    writer.object { root in
      root.uncounted { $0.field("validate_only", false) }
      root.object("message") { message in
        message.uncounted { $0.field("token", target.address) }
        if isVisible, !isDrawnByApp {
          message.object("notification") {
            $0.field("title", text.title)
            $0.field("body", shownBody(text.body))
            $0.field("image", text.imageUrl)
          }
        }
        writeData(text, to: &message)
        message.object("fcm_options") { $0.field("analytics_label", analyticsLabel) }
        switch target.platform {
        case .ios: writeAPNs(text, to: &message)
        case .android: writeAndroid(to: &message)
        case .web, .desktop: writeWebPush(text, to: &message)
        }
      }
    }
    return (writer.bytes, writer.payloadBytes)
  }

  private func writeData(_ text: Text, to message: inout FCMBodyWriter) {
    message.object("data") {
      $0.field("type", dataType)
      $0.field("conversationId", push.conversationId)
      $0.field("messageId", push.messageId)
      $0.field("senderId", push.senderId)
      $0.field("recipientId", push.userId)
      $0.field("pushId", push.pushId)
      $0.field("priority", push.priority.rawValue)
      $0.field("presentation", push.presentation.rawValue)
      $0.field("badge", String(max(push.badge, 0)))
      $0.field("timestamp", String((push.sentAt ?? occurredAt) / 1000))
      if push.replaces == true { $0.field("replaces", "true") }
      if let digest = push.digest {
        $0.field("messages", String(digest.messages))
        $0.field("conversations", String(digest.conversations))
        $0.field("lines", Self.json(text.lines))
      }
      // On Android and iOS the app shows the sender's picture (large icon, communication notification), not FCM.
      if isVisible, target.platform != .web, target.platform != .desktop {
        $0.field("avatarUrl", text.avatarUrl)
        $0.field("senderName", text.senderName)
        $0.field("conversationTitle", text.conversationTitle)
        if push.conversation?.kind == .group { $0.field("isGroup", "true") }
      }
      if isVisible, isDrawnByApp {
        $0.field("title", text.title)
        $0.field("body", text.body)
        $0.field("imageUrl", text.imageUrl)
        $0.field("category", category)
      }
    }
  }

  /// The lines of a catch-up as a JSON array: FCM's data has texts only.
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

  private func writeAPNs(_ text: Text, to message: inout FCMBodyWriter) {
    message.object("apns") { apns in
      apns.object("headers") {
        // `background` would be wrong even where only the badge changes: it may not carry a badge, and Apple throttles it.
        $0.field("apns-push-type", "alert")
        $0.field("apns-priority", isAlert ? "10" : "5")
        // Counted from the decision, so that a repeat has the same expiration.
        $0.field("apns-expiration", ttlSeconds == 0 ? "0" : String(push.decidedAt / 1000 + Int64(ttlSeconds)))
        $0.field("apns-collapse-id", collapseId)
      }
      apns.object("payload") {
        $0.object("aps") { aps in
          aps.field("badge", max(push.badge, 0))
          aps.field("content-available", 1)
          guard isVisible else { return }
          aps.field("mutable-content", 1)
          aps.field("category", category)
          aps.field("thread-id", push.conversationId)
          aps.field("interruption-level", isTimeSensitive ? "time-sensitive" : isAlert ? "active" : "passive")
          if isAlert { aps.field("sound", "default") }
        }
      }
      // iOS shows one picture: the message's, or else the sender's.
      if isVisible, let image = text.imageUrl ?? text.avatarUrl {
        apns.object("fcm_options") { $0.field("image", image) }
      }
    }
  }

  private func writeAndroid(to message: inout FCMBodyWriter) {
    message.object("android") { android in
      // FCM deprioritises apps whose high-priority pushes show nothing.
      android.field("priority", isAlert ? "HIGH" : "NORMAL")
      android.field("ttl", "\(ttlSeconds)s")
      if isVisible, isDrawnByApp {
        android.field("collapse_key", collapse?.key)
      } else if isVisible {
        // Without, as long as the device is there: FCM keeps four of them a token, and a fifth conversation would lose its messages.
        android.field("collapse_key", collapse?.key)
        android.object("notification") {
          $0.field("channel_id", isAlert ? Self.alertChannel : Self.silentChannel)
          $0.field("tag", collapseId)
          $0.field("notification_count", max(push.badge, 0))
          $0.field("notification_priority", isAlert ? "PRIORITY_HIGH" : "PRIORITY_LOW")
          if isAlert { $0.field("sound", "default") }
        }
      } else if push.kind == .badge || push.kind == .message {
        android.field("collapse_key", collapseId)
      } else {
        android.field("collapse_key", collapse?.key)
      }
    }
  }

  private func writeWebPush(_ text: Text, to message: inout FCMBodyWriter) {
    message.object("webpush") { web in
      web.object("headers") {
        $0.field("TTL", String(ttlSeconds))
        $0.field("Urgency", isAlert ? "high" : isVisible ? "normal" : "low")
      }
      if isVisible {
        web.object("notification") {
          $0.field("tag", collapseId)
          $0.field("icon", text.avatarUrl)
          $0.field("image", text.imageUrl)
          $0.field("silent", !isAlert)
        }
        if let link { web.object("fcm_options") { $0.field("link", link) } }
      }
    }
  }
}
