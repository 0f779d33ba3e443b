import JSONCodec
public import NudgeSchema

/// The body of a `messages:send` for a push and one of its devices (P2), with the fields of that device's platform only.
public struct FCMMessage: Sendable {
  /// FCM's limit on the payload, keys and values, in bytes. All but the token counts here, headers too: FCM is said not to
  /// count them, but it adds keys of its own to what it sends to APNs, where the same limit holds.
  public static let maxPayloadBytes = 4096
  /// APNs' limit on a collapse id, in bytes. Longer ids are hashed, on all platforms.
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
  private var collapse: Collapse?

  /// The message for a push and a target; the push's own targets are ignored.
  ///
  /// - Parameters:
  ///   - occurredAt: when the message was written, in milliseconds since the epoch.
  ///   - hash: makes a short printable hash of a text.
  public init(push: Push, target: PushTarget, occurredAt: Milliseconds, hash: @escaping @Sendable (String) -> String) {
    self.push = push
    self.target = target
    self.occurredAt = occurredAt
    self.hash = hash
  }

  /// The message for a push that waits, as it is sent to a device that may be off.
  init(_ item: WaitingPush, hash: @escaping @Sendable (String) -> String) {
    self.init(push: item.sentPush, target: item.target, occurredAt: item.occurredAt, hash: hash)
    collapse = item.collapse
  }

  /// The JSON with at most `maxPayloadBytes` of payload. Too large a push loses text of the body first, then of the title and
  /// the names, then the pictures; a catch-up its last lines before all. Ids are never cut; nil where they alone are too large.
  public func encoded() -> [UInt8]? {
    var text = Text(
      title: push.title, body: push.body, imageUrl: push.imageUrl, avatarUrl: push.avatarUrl,
      senderName: push.conversation?.senderName, conversationTitle: push.conversation?.name,
      lines: push.digest?.lines ?? [])
    var (bytes, payloadBytes) = write(text)
    while payloadBytes > Self.maxPayloadBytes, !text.lines.isEmpty {
      text.lines.removeLast()
      (bytes, payloadBytes) = write(text)
    }
    if payloadBytes <= Self.maxPayloadBytes { return bytes }
    if isVisible {
      for part in [
        \Text.body, \Text.title, \Text.conversationTitle, \Text.senderName, \Text.avatarUrl, \Text.imageUrl,
      ] {
        guard let full = text[keyPath: part] else { continue }
        let excess = payloadBytes - Self.maxPayloadBytes
        // A URL is kept whole or dropped.
        let isURL = part == \Text.imageUrl || part == \Text.avatarUrl
        let room = isURL ? 0 : full.utf8.count - excess
        text[keyPath: part] = room > 0 ? TextCut.shortened(full, toBytes: room) : nil
        (bytes, payloadBytes) = write(text)
        if payloadBytes <= Self.maxPayloadBytes { return bytes }
      }
    }
    return nil
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
  }

  // MARK: Properties of the push

  /// Whether the device shows more than a badge.
  private var isVisible: Bool {
    (push.kind == .message || push.kind == .digest) && push.presentation != .badge
  }
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

  /// The device shows only the last push of a collapse id: a repeat after a time-out must not stack (P7). For what is shown
  /// it is the message.
  private var collapseId: String {
    let id: String
    switch push.kind {
    case .message: id = isVisible ? push.messageId ?? push.pushId : Self.badgeKey
    case .badge: id = Self.badgeKey
    case .read: id = "read-" + (push.conversationId ?? push.pushId)
    // The same as the message's: for a device that is off, APNs keeps the deletion instead of the message.
    case .deleted: id = push.messageId ?? push.pushId
    // Each has other messages: a later one does not replace it, unless it continues its counts.
    case .digest, .escalation: id = collapse?.key ?? push.pushId
    }
    return id.utf8.count <= Self.maxCollapseIdBytes ? id : hash(id)
  }

  private var ttlSeconds: Int { min(max(push.ttlSeconds, 0), Self.maxTTLSeconds) }

  // MARK: Writing

  private func write(_ text: Text) -> (bytes: [UInt8], payloadBytes: Int) {
    var writer = FCMBodyWriter()
    writer.object { root in
      root.uncounted { $0.field("validate_only", false) }
      root.object("message") { message in
        message.uncounted { $0.field("token", target.token) }
        if isVisible {
          message.object("notification") {
            $0.field("title", text.title)
            $0.field("body", text.body)
            $0.field("image", text.imageUrl)
          }
        }
        writeData(text, to: &message)
        message.object("fcm_options") { $0.field("analytics_label", analyticsLabel) }
        switch target.platform {
        case .ios: writeAPNs(text, to: &message)
        case .android: writeAndroid(to: &message)
        case .web: writeWebPush(text, to: &message)
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
      if isVisible, target.platform != .web {
        $0.field("avatarUrl", text.avatarUrl)
        $0.field("senderName", text.senderName)
        $0.field("conversationTitle", text.conversationTitle)
        if push.conversation?.kind == .group { $0.field("isGroup", "true") }
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
      if isVisible {
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
      }
    }
  }
}
