import NudgeSchema

/// A push in a device's lane: waiting, or in flight.
struct WaitingPush: Codable, Sendable, Equatable {
  /// Why it must not be sent any more. A push in flight ends by its answer, unless that would have it sent again.
  enum Withdrawal: String, Codable, Sendable, CaseIterable {
    /// A `push.cancelled` named it.
    case cancelled
    /// A later push makes this one redundant.
    case superseded
  }

  /// The push, without its targets.
  @Boxed var push: Push
  var target: PushTarget
  /// The push's own origin: a `push.cancelled` applies to pushes with an earlier one.
  var cause: Origin
  /// The push's record on `nudge.pushes` and the index of the target: the origin of the outcome.
  var origin: Origin
  /// The producer's event behind it.
  var source: RecordPosition
  /// When that event happened.
  var occurredAt: Milliseconds
  /// The trace context of the push's record.
  var traceparent: String?
  /// The replay id of the push's record.
  var replayId: String?
  /// Requests made, one in flight included.
  var attempts = 0
  /// When the first request was made.
  var firstAttemptAt: Milliseconds?
  /// The start of its time budget: when the first request was made that FCM or the network failed, with no open breaker
  /// since.
  var failingSince: Milliseconds?
  /// The earliest next request, by the wall clock. In flight: when the answer counts as lost, should the process die.
  var notBefore: Milliseconds = 0
  /// A request was made and has no answer.
  var inAir = false
  /// The last answer's status.
  var httpStatus: Int?
  /// The last answer's code.
  var errorCode: String?
  var withdrawn: Withdrawal?
  /// How it replaces others that FCM stores for a device that seems to be off; nil: it does not.
  var collapse: Collapse?
  /// It is counted among the device's unconfirmed pushes.
  var isCounted = false
  /// How many targets the push had; nil: one.
  var devices: Int?

  /// It goes to the webhook, and to no device.
  var isEscalation: Bool { push.kind == .escalation }

  /// It changes only the badge.
  var isBadgeOnly: Bool { push.kind == .badge || (push.kind == .message && push.presentation == .badge) }

  /// It shows nothing: a full lane drops such pushes first.
  var isQuiet: Bool {
    push.kind == .read || push.kind == .deleted || isBadgeOnly || push.kind == .digest && push.presentation == .badge
  }

  /// How long it still waits for its device to show the banner, before its first request; nil: it does not. A longer wait is that of a clock
  /// that was set.
  func answerWait(at now: Milliseconds) -> Milliseconds? {
    let left = notBefore - now
    return attempts == 0 && left > 0 && left <= Self.longestAnswerWait ? left : nil
  }

  /// Twice as long as an analyzer says, because its clock is another one.
  private static let longestAnswerWait: Milliseconds = 4_000
  /// The error code of a push whose device has shown the message by its stream.
  static let shownLive = "shown_live"

  /// When the message was written.
  var sentAt: Milliseconds { push.sentAt ?? occurredAt }

  /// Whether this later push makes `other` redundant: the last badge wins (P2); a read also removes from the screen what
  /// earlier reads and deletions of its conversation would have; an edited message replaces its former text.
  func supersedes(_ other: WaitingPush) -> Bool {
    switch push.kind {
    case .read:
      other.isBadgeOnly
        || (other.push.kind == .read || other.push.kind == .deleted)
          && sameId(other.push.conversationId, push.conversationId)
    case .deleted: other.isBadgeOnly
    case .badge, .digest: other.isBadgeOnly
    case .escalation: false
    case .message: isBadgeOnly ? other.isBadgeOnly : replaces(other)
    }
  }

  /// Whether it is the same message with a later text.
  func replaces(_ other: WaitingPush) -> Bool {
    push.replaces == true && other.push.kind == .message && push.messageId != nil
      && sameId(push.messageId, other.push.messageId)
      && sameId(push.conversationId, other.push.conversationId)
  }

  /// Takes over how the push that it replaces would have appeared, because that one was not sent.
  mutating func appear(as other: WaitingPush) {
    push.priority = other.push.priority
    push.presentation = other.push.presentation
    push.quietHours = other.push.quietHours
    push.mentioned = other.push.mentioned
    push.answered = other.push.answered
    push.conversation = other.push.conversation
    push.reason = other.push.reason
    push.imageUrl = other.push.imageUrl
    if other.attempts == 0 { notBefore = other.notBefore }
    // An edit of an old message does not say who wrote it.
    guard push.senderId == nil else { return }
    push.title = other.push.title
    push.avatarUrl = other.push.avatarUrl
    push.senderId = other.push.senderId
  }
}

extension WaitingPush {
  private static let maxBodyBytes = 3600
  private static let maxTitleBytes = 1024
  private static let maxImageUrlBytes = 2048
  private static let maxAvatarUrlBytes = 704
  private static let maxNameBytes = 256
  private static let maxLanguageBytes = 16
  /// The limit of preferences (`SchemaLimits.timeZoneBytes`).
  private static let maxTimeZoneBytes = 64

  /// Cuts what FCM would refuse anyway, so that every push fits a row. Sizes are those of the JSON.
  mutating func fitRow() {
    push.digest?.fitRow()
    push.escalation?.fitRow()
    if push.language?.utf8.count ?? 0 > Self.maxLanguageBytes { push.language = nil }
    push.body = push.body.flatMap {
      TextCut.shortened($0, toBytes: Self.maxBodyBytes, measuring: TextCut.jsonBytes)
    }
    push.title = push.title.flatMap {
      TextCut.shortened($0, toBytes: Self.maxTitleBytes, measuring: TextCut.jsonBytes)
    }
    if let url = push.imageUrl, TextCut.jsonBytes(url[...]) > Self.maxImageUrlBytes { push.imageUrl = nil }
    if let url = push.avatarUrl, TextCut.jsonBytes(url[...]) > Self.maxAvatarUrlBytes { push.avatarUrl = nil }
    if var conversation = push.conversation {
      conversation.senderName = Self.cutName(conversation.senderName)
      conversation.name = conversation.name.map(Self.cutName)
      push.conversation = push.digest == nil ? conversation : nil
    }
    if let hours = push.quietHours, QuietSpan(hours) == nil || hours.timeZone?.utf8.count ?? 0 > Self.maxTimeZoneBytes {
      push.quietHours = nil
    }
  }

  private static func cutName(_ name: String) -> String {
    TextCut.shortened(name, toBytes: maxNameBytes, measuring: TextCut.jsonBytes) ?? ""
  }

  /// A cheap estimate of its bytes: the long texts, and a constant for the rest.
  var approximateBytes: Int {
    700 + (push.title?.utf8.count ?? 0) + (push.body?.utf8.count ?? 0) + target.address.utf8.count
  }

  /// An upper bound of its bytes in a row.
  var rowBytes: Int {
    func size(_ text: String?) -> Int { text?.utf8.count ?? 0 }
    // Numbers, codes and lengths, with room to grow. A test compares the bound with the real encoding.
    var bytes = 1280
    bytes += size(push.pushId) + size(push.userId) + size(push.title) + size(push.body) + size(push.imageUrl)
    bytes += size(push.conversation?.senderName) + size(push.conversation?.name)
    bytes += size(push.avatarUrl) + size(push.quietHours?.timeZone)
    bytes += size(push.conversationId) + size(push.messageId) + size(push.senderId)
    bytes += size(target.deviceId) + size(target.address) + size(target.projectId)
    bytes += size(target.webPush?.p256dh) + size(target.webPush?.auth)
    bytes += size(target.sealing?.p256dh) + size(target.sealing?.auth)
    bytes += size(cause.topic) + size(origin.topic) + size(source.topic)
    bytes += size(traceparent) + size(replayId)
    if let escalation = push.escalation { bytes += size(escalation.senderName) + size(escalation.groupName) + 32 }
    for line in push.digest?.lines ?? [] {
      bytes += size(line.conversationId) + size(line.messageId) + size(line.title) + size(line.text) + 32
    }
    return bytes
  }
}

extension Escalation {
  private static let maxNameBytes = 512

  /// Cuts what no analyzer writes.
  fileprivate mutating func fitRow() {
    func cut(_ name: String?) -> String? {
      name.flatMap { TextCut.shortened($0, toBytes: Self.maxNameBytes, measuring: TextCut.jsonBytes) }
    }
    senderName = cut(senderName)
    groupName = cut(groupName)
  }
}

extension Digest {
  private static let maxTextBytes = 512

  /// Forgets what only people look for, and cuts what no analyzer writes.
  fileprivate mutating func fitRow() {
    parts = nil
    lines = lines.prefix(Self.maxLines).map { line in
      var line = line
      line.title =
        TextCut.shortened(line.title, toBytes: Self.maxTextBytes, measuring: TextCut.jsonBytes) ?? ""
      line.text = TextCut.shortened(line.text, toBytes: Self.maxTextBytes, measuring: TextCut.jsonBytes) ?? ""
      return line
    }
  }
}
