import NudgeCodec
import NudgeSchema
import StreamRuntime

/// A push in a device's lane: waiting, or in flight.
struct WaitingPush: Encodable, Sendable, Equatable {
  /// Why it must not be sent any more. A push in flight ends with its answer, unless the answer would lead to a retry.
  enum Withdrawal: String, Encodable, Sendable, CaseIterable {
    /// A `push.cancelled` named it.
    case cancelled
    /// A later push makes this one redundant.
    case superseded
  }

  /// The push, without its targets.
  @Boxed var push: Push
  var target: PushTarget
  /// The push's own origin. A `push.cancelled` applies to pushes with an earlier one.
  var cause: Origin
  /// The position of the push's record on `nudge.pushes`, with the index of the target: the origin of the outcome.
  var origin: Origin
  /// The producer's event that led to it.
  var source: RecordPosition
  /// When that event happened.
  var occurredAt: Milliseconds
  /// The trace context of the push's record.
  var traceparent: String?
  /// The replay id of the push's record.
  var replayId: String?
  /// The number of requests made, including one in flight.
  var attempts = 0
  /// When the first request was made.
  var firstAttemptAt: Milliseconds?
  /// The start of its time budget: the time of the first request that failed because of FCM or the network, with no open breaker since.
  var failingSince: Milliseconds?
  /// The earliest time of the next request, by the wall clock. In flight: when the answer counts as lost if the process dies.
  var notBefore: Milliseconds = 0
  /// Whether a request was made and has no answer.
  var inAir = false
  /// The last answer's status.
  var httpStatus: Int?
  /// The last answer's code.
  var errorCode: String?
  var withdrawn: Withdrawal?
  /// How it replaces others that FCM stores for a device that seems to be off; nil if it does not.
  var collapse: Collapse?
  /// Whether it is counted among the device's unconfirmed pushes.
  var isCounted = false
  /// The number of the push's targets; absent for one.
  var devices: Int?

  /// Whether it goes to the webhook instead of a device.
  var isEscalation: Bool { push.kind == .escalation }

  /// Whether it only changes the badge.
  var isBadgeOnly: Bool { push.kind == .badge || (push.kind == .message && push.presentation == .badge) }

  /// Whether it shows nothing. A full lane drops such pushes first.
  var isQuiet: Bool {
    push.kind == .read || push.kind == .deleted || isBadgeOnly || push.kind == .digest && push.presentation == .badge
  }

  /// How long it still waits for its device to show the banner, before its first request; nil if it does not wait. A longer wait comes from
  /// a clock that was set.
  func answerWait(at now: Milliseconds) -> Milliseconds? {
    let left = notBefore - now
    return attempts == 0 && left > 0 && left <= Self.longestAnswerWait ? left : nil
  }

  /// Twice the analyzer's wait, because the analyzer has another clock.
  private static let longestAnswerWait: Milliseconds = 4_000
  /// The error code of a push whose device has shown the message through its stream.
  static let shownLive = "shown_live"

  /// When the message was written.
  var sentAt: Milliseconds { push.sentAt ?? occurredAt }

  /// Whether this later push makes `other` redundant: only the last badge counts (P2); a read also removes from the screen what earlier
  /// reads and deletions of its conversation would have; an edited message replaces its former text.
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

  /// Adopts the appearance of the push that it replaces, because that one was not sent.
  mutating func appear(as other: WaitingPush) {
    push.priority = other.push.priority
    push.presentation = other.push.presentation
    push.quietHours = other.push.quietHours
    push.mentioned = other.push.mentioned
    push.answered = other.push.answered
    push.urgent = other.push.urgent
    push.conversation = other.push.conversation
    push.reason = other.push.reason
    push.imageUrl = other.push.imageUrl
    if other.attempts == 0 { notBefore = other.notBefore }
    // An edit of an old message does not name its author.
    guard push.senderId == nil else { return }
    push.title = other.push.title
    push.avatarUrl = other.push.avatarUrl
    push.senderId = other.push.senderId
  }
}

extension WaitingPush: PackedFields {
  /// The version of rows with pushes. Version 2 added the fields of edits, quiet hours, mentions and the time budget; 3 catch-ups; 4
  /// escalations, answers and names; 5 languages and collapse keys; 6 the number of targets; 7 unread messages and apps that draw
  /// notifications; 8 subscriptions, encryption keys and urgency.
  static var rowVersions: RowVersions { RowVersions(8) }

  /// One for all: what it keeps in a box is not made for each push that is read.
  static let blank = Self(push: .blank, target: .blank, cause: .blank, origin: .blank, source: .blank, occurredAt: 0)

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&_push)
    try row.field(&target)
    try row.field(&cause)
    try row.field(&origin)
    try row.field(&source)
    try row.field(&occurredAt)
    try row.field(&attempts)
    try row.field(&notBefore)
    try row.flags()
    row.flag(&inAir)
    try row.optional(&traceparent)
    try row.optional(&replayId)
    try row.optional(&firstAttemptAt)
    try row.optional(&httpStatus)
    try row.optional(&errorCode)
    try row.optional(&withdrawn)
    // Since version 2.
    try row.optional(&failingSince)
    // Since version 5.
    try row.optional(&collapse)
    row.flag(&isCounted)
    // Since version 6.
    try row.optional(&devices)
  }
}

extension WaitingPush.Withdrawal: PackedChoice {}

/// Reads and checks records of `nudge.pushes`. The analyzer wrote them, but a faulty one must not stop the partition.
enum PushRecord {
  /// Throws a `Rejection` that names the field, never a value (T4).
  static func read(_ record: InputRecord, codec: RecordCodec) throws -> PushEvent {
    guard let key = record.key, !key.isEmpty else { throw Rejection(.missingKey, "the record has no key") }
    guard let value = record.value else { throw Rejection(.schemaViolation, "the record has no value") }
    let event = try Rejection.reading { try codec.decode(PushEvent.self, from: value) }
    guard key.elementsEqual(event.body.userId.utf8) else {
      throw Rejection(.keyMismatch, "the key is not userId")
    }
    try check(event.body)
    return event
  }

  /// One item for each target, as it waits in that target's lane. `inherited` are the step's headers, which later records also get.
  static func items(
    of push: Push, in event: PushEvent, _ record: InputRecord, inherited: [RecordHeaderField]
  ) -> [WaitingPush] {
    var untargeted = push
    untargeted.targets = []
    func header(_ name: String) -> String? {
      // Nudge never writes a longer header; it would not fit a row.
      inherited.first { $0.name == name }.flatMap {
        $0.value.count <= 256 ? String(decoding: $0.value, as: UTF8.self) : nil
      }
    }
    let traceparent = header(RecordHeader.traceparent)
    let replayId = header(RecordHeader.replayId)
    let recipients = push.kind == .escalation ? [.webhook] : push.targets
    return recipients.enumerated().map { index, target in
      var item = WaitingPush(
        push: untargeted, target: target, cause: event.origin,
        origin: Origin(record.position, index: Int32(index)), source: event.source,
        occurredAt: event.envelope.occurredAt, traceparent: traceparent, replayId: replayId)
      item.devices = push.targets.count > 1 ? push.targets.count : nil
      item.fitRow()
      return item
    }
  }

  private static func check(_ body: PushEventBody) throws {
    try check(id: body.userId, "userId")
    switch body {
    case .push(let push):
      try check(id: push.pushId, "pushId")
      for (id, field) in [
        (push.conversationId, "conversationId"), (push.messageId, "messageId"), (push.senderId, "senderId"),
      ] {
        if let id { try check(id: id, field) }
      }
      guard !push.targets.isEmpty || push.kind == .escalation else {
        throw Rejection(.schemaViolation, "targets is empty")
      }
      var devices = Set<RowKey>()
      for (index, target) in push.targets.enumerated() {
        try check(id: target.deviceId, "targets[\(index)].deviceId")
        if let projectId = target.projectId { try check(id: projectId, "targets[\(index)].projectId") }
        // Most people have only one device.
        guard push.targets.count == 1 || devices.insert(RowKey(target.deviceId)).inserted else {
          throw Rejection(.schemaViolation, "targets[\(index)].deviceId names a device a second time")
        }
        try check(address: target, "targets[\(index)]")
      }
    case .answered(let answered):
      try check(id: answered.pushId, "pushId")
      try check(id: answered.deviceId, "deviceId")
    case .cancelled(let cancelled):
      guard
        cancelled.deviceId != nil || cancelled.messageId != nil || cancelled.conversationId != nil
          || cancelled.replayId != nil || cancelled.erased == true || cancelled.senderId != nil
          || cancelled.conversationKind != nil || cancelled.showPreviews != nil || cancelled.quietHours != nil
      else {
        throw Rejection(
          .schemaViolation,
          "push.cancelled names no device, message, conversation, sender or replay, is no erasure, and changes nothing")
      }
      if let target = cancelled.target {
        guard sameId(cancelled.deviceId, target.deviceId) else {
          throw Rejection(.schemaViolation, "target is not of deviceId")
        }
        try check(address: target, "target")
        if let projectId = target.projectId { try check(id: projectId, "target.projectId") }
      }
      if let hours = cancelled.quietHours, QuietSpan(hours) == nil {
        throw Rejection(.schemaViolation, "quietHours: start and end must be HH:MM, 00:00 to 23:59")
      }
    }
  }

  private static func check(address target: PushTarget, _ field: String) throws(Rejection) {
    do throws(SchemaViolation) {
      try target.validateAddress(in: "\(field).")
    } catch {
      throw Rejection(.schemaViolation, error.description)
    }
  }

  private static func check(id: String, _ field: String) throws {
    guard (1...256).contains(id.utf8.count), id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw Rejection(.schemaViolation, "\(field) is not 1 to 256 bytes without control characters")
    }
  }
}
