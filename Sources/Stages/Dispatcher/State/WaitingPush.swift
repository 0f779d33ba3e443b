import NudgeSchema

/// A push that waits in a device's lane, or is in the air for it.
struct WaitingPush: Codable, Sendable, Equatable {
  /// Why it is not to be sent any more. One in the air ends by its answer; only where that says "again" does this count.
  enum Withdrawal: String, Codable, Sendable, CaseIterable {
    /// A `push.cancelled` named it.
    case cancelled
    /// A later push says all that this one said.
    case superseded
  }

  /// The push, without its targets.
  var push: Push
  /// The device.
  var target: PushTarget
  /// The push's own origin, by which a `push.cancelled` knows what came before it.
  var cause: Origin
  /// Where the push is on `nudge.pushes`, and which of its targets this is: the origin of the outcome.
  var origin: Origin
  /// The event it all began with.
  var source: RecordPosition
  /// When that happened.
  var occurredAt: Milliseconds
  /// The push record's trace context.
  var traceparent: String?
  /// The push record's replay.
  var replayId: String?
  /// Requests made for it, the one in the air included.
  var attempts = 0
  /// When the first was made.
  var firstAttemptAt: Milliseconds?
  /// When the first request was made that failed through FCM or the way to it, without a pause since: from here on its
  /// time budget runs.
  var failingSince: Milliseconds?
  /// Not sent again before this; while it is in the air: not unless its answer was lost with the process.
  var notBefore: Milliseconds = 0
  /// A request was made and its answer has not come.
  var inAir = false
  /// The last answer's status.
  var httpStatus: Int?
  /// The last answer's code.
  var errorCode: String?
  /// Why it is not to be sent any more.
  var withdrawn: Withdrawal?

  /// It changes the badge and nothing else.
  var isBadgeOnly: Bool { push.kind == .badge || (push.kind == .message && push.presentation == .badge) }

  /// It shows nothing: the first to go where a lane is full.
  var isQuiet: Bool { push.kind == .read || push.kind == .deleted || isBadgeOnly }

  /// When the message was written.
  var sentAt: Milliseconds { push.sentAt ?? occurredAt }

  /// Whether this one, later, says all that `other` said: the last badge wins (P2); a read also takes off the screen what
  /// earlier reads and deletions of its conversation were to take; an edited message stands for its former text.
  func supersedes(_ other: WaitingPush) -> Bool {
    switch push.kind {
    case .read:
      other.isBadgeOnly
        || (other.push.kind == .read || other.push.kind == .deleted)
          && sameId(other.push.conversationId, push.conversationId)
    case .deleted: other.isBadgeOnly
    case .badge: other.isBadgeOnly
    case .message: isBadgeOnly ? other.isBadgeOnly : replaces(other)
    }
  }

  /// Whether it is the same message with a later text.
  func replaces(_ other: WaitingPush) -> Bool {
    push.replaces == true && other.push.kind == .message && push.messageId != nil
      && sameId(push.messageId, other.push.messageId)
      && sameId(push.conversationId, other.push.conversationId)
  }

  /// The push it replaces was not sent: it appears as that one would have.
  mutating func appear(as other: WaitingPush) {
    push.priority = other.push.priority
    push.presentation = other.push.presentation
    push.quietHours = other.push.quietHours
    push.mentioned = other.push.mentioned
    push.reason = other.push.reason
    push.imageUrl = other.push.imageUrl
  }
}

extension WaitingPush {
  /// The longest token that is taken, in bytes; FCM's have some 200.
  static let maxTokenBytes = 4096
  private static let maxBodyBytes = 3600
  private static let maxTitleBytes = 1024
  private static let maxImageUrlBytes = 2048
  private static let maxAvatarUrlBytes = 704
  /// As many as preferences may have (`SchemaLimits.timeZoneBytes`).
  private static let maxTimeZoneBytes = 64

  /// Cuts what FCM would not take anyway, so that every waiting push fits a row (`LaneRow.maxBytes`). All as JSON.
  mutating func fitRow() {
    push.body = push.body.flatMap {
      TextCut.shortened($0, toBytes: Self.maxBodyBytes, measuring: TextCut.jsonBytes)
    }
    push.title = push.title.flatMap {
      TextCut.shortened($0, toBytes: Self.maxTitleBytes, measuring: TextCut.jsonBytes)
    }
    if let url = push.imageUrl, TextCut.jsonBytes(url[...]) > Self.maxImageUrlBytes { push.imageUrl = nil }
    if let url = push.avatarUrl, TextCut.jsonBytes(url[...]) > Self.maxAvatarUrlBytes { push.avatarUrl = nil }
    if let hours = push.quietHours, QuietSpan(hours) == nil || hours.timeZone?.utf8.count ?? 0 > Self.maxTimeZoneBytes {
      push.quietHours = nil
    }
  }

  /// About what it takes, in bytes, at no cost: the texts that make the difference, and a usual rest.
  var approximateBytes: Int {
    700 + (push.title?.utf8.count ?? 0) + (push.body?.utf8.count ?? 0) + target.token.utf8.count
  }

  /// An upper bound of what it takes in a row, in bytes.
  var rowBytes: Int {
    func size(_ text: String?) -> Int { text?.utf8.count ?? 0 }
    // Numbers, codes and lengths: counted once, and generously, so that a row which changes with its first push stays short;
    // a test holds it to the real encoding.
    var bytes = 1280
    bytes += size(push.pushId) + size(push.userId) + size(push.title) + size(push.body) + size(push.imageUrl)
    bytes += size(push.avatarUrl) + size(push.quietHours?.timeZone)
    bytes += size(push.conversationId) + size(push.messageId) + size(push.senderId)
    bytes += size(target.deviceId) + size(target.token) + size(target.projectId)
    bytes += size(cause.topic) + size(origin.topic) + size(source.topic)
    bytes += size(traceparent) + size(replayId)
    return bytes
  }
}
