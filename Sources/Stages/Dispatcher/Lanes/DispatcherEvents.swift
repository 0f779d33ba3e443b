import NudgeCodec
import NudgeSchema
import StreamRuntime

/// A step with the record that it processes.
struct LaneContext {
  let step: Step<DispatcherStage>
  /// The record; nil if the step processes an answer or a wake-up.
  var record: RecordPosition?

  /// The wall clock, for rows, outcomes, freshness and quiet hours.
  var now: Milliseconds { step.now }
  /// The steady clock, for waits in memory.
  var steadyNow: Milliseconds { step.steadyNow }

  /// Whether the stream thread has room for another request to the destination.
  func hasRoom(for scope: DeliveryScope) -> Bool { step.hasRoom(forEffectsOf: scope.destination.group) }
}

/// Builds and emits the records that the dispatcher writes about a push.
struct DispatcherEvents {
  let codec: RecordCodec
  let hash: @Sendable (String) -> String

  /// Emits the outcome of a push and device (P8). Its event id is a function of both, so that a checker recognises a duplicate.
  func emitOutcome(
    _ item: WaitingPush, _ result: OutcomeResult, fcmName: String? = nil, _ context: LaneContext
  ) throws {
    let missed = item.missed(result)
    let body = OutcomeBody(
      pushId: item.push.pushId, userId: item.push.userId, deviceId: item.target.deviceId,
      tokenHash: hash(item.target.address), result: result, httpStatus: item.httpStatus,
      errorCode: item.withdrawn == .superseded && result == .cancelled ? "superseded" : item.errorCode,
      fcmName: fcmName, destination: OutcomeDestination(of: item), collapseKey: item.collapse?.key,
      catchUp: missed == nil ? nil : true,
      attempts: item.attempts, firstAttemptAt: item.firstAttemptAt, finishedAt: context.step.now)
    let outcome = Outcome(
      Envelope(eventId: eventId(of: item, for: "outcome"), occurredAt: item.occurredAt), origin: item.origin,
      source: item.source, body)
    try context.step.emit(
      bytes: codec.encode(outcome), to: .outcomes, key: item.push.userId, headers: headers(of: item, context))
    context.step.count(DispatcherMetric(result, item.target.platform, item.push.kind))
    if let missed { try emitMissed(missed, item, context) }
  }

  /// Leaves a message to the person's catch-up, which the analyzer makes (D18).
  private func emitMissed(_ missed: PushMissed, _ item: WaitingPush, _ context: LaneContext) throws {
    let event = TimelineEvent(
      Envelope(eventId: eventId(of: item, for: "missed"), occurredAt: context.step.now), origin: item.origin,
      source: item.source, .pushMissed(missed))
    try context.step.emit(
      bytes: codec.encode(event), to: .timeline, key: item.push.userId, headers: headers(of: item, context))
  }

  /// Emits the dead letter of a push that cannot be sent in its present form, with the device on which it failed. The headers name the
  /// push's own record.
  func emitDeadLetter(_ item: WaitingPush, _ context: LaneContext) throws {
    // A push that a webhook refused cannot be sent again.
    if item.isEscalation { return }
    var push = item.push
    push.targets = [item.target]
    let code = item.errorCode ?? "UNKNOWN"
    let service = item.target.webPush == nil ? "FCM" : "the push service"
    let reason =
      item.httpStatus.map { "\(service) answered \($0) \(code)" }
      ?? (code == DispatcherRules.payloadTooLarge
        ? "the payload is too large for \(service), however much of the text is cut"
        : "nothing was sent to \(service): \(code)")
    try context.step.emit(
      PushEvent(
        Envelope(eventId: eventId(of: item, for: "rejected"), occurredAt: item.occurredAt), origin: item.cause,
        source: item.source, .push(push)),
      to: .deadLetters, key: item.push.userId,
      // The lane does not store the record's timestamp; the record was written when the push was decided.
      headers: headers(of: item, context)
        + RecordHeaderField.ofDeadLetter(
          .fcmRejected, reason, stage: DispatcherStage.definition.name, topic: item.origin.topic,
          partition: item.origin.partition, offset: item.origin.offset, timestamp: item.push.decidedAt))
  }

  /// Reports to the analyzer that a token is gone. The analyzer checks whether the device has registered again since (T3).
  func emitInvalidated(_ item: WaitingPush, code: String, _ context: LaneContext) throws {
    let body = TimelineEventBody.deviceInvalidated(
      DeviceInvalidated(
        userId: item.push.userId, deviceId: item.target.deviceId, tokenHash: hash(item.target.address),
        version: item.target.version, code: code))
    let event = TimelineEvent(
      Envelope(eventId: eventId(of: item, for: "invalidated"), occurredAt: context.step.now), origin: item.origin,
      source: item.source, body)
    try context.step.emit(
      bytes: codec.encode(event), to: .timeline, key: item.push.userId, headers: headers(of: item, context))
  }

  private func eventId(of item: WaitingPush, for purpose: String) -> String {
    hash([purpose, item.push.userId, item.target.deviceId, item.push.pushId].joined(separator: "\u{1}"))
  }

  /// The headers of the push's record. The step itself adds those of the record it processes.
  private func headers(of item: WaitingPush, _ context: LaneContext) -> [RecordHeaderField] {
    if item.origin.position == context.record { return [] }
    var headers: [RecordHeaderField] = []
    if let value = item.traceparent { headers.append(RecordHeaderField(RecordHeader.traceparent, value)) }
    if let value = item.replayId { headers.append(RecordHeaderField(RecordHeader.replayId, value)) }
    return headers
  }
}

extension WaitingPush {
  /// The record that leaves a push with this result to the person's catch-up. Nil if a request may have delivered the push, if nobody
  /// wanted it any more, or if it shows nothing of a message.
  func missed(_ result: OutcomeResult) -> PushMissed? {
    guard let cause = missedBecause(result), push.kind == .message, push.presentation != .badge, replayId == nil,
      push.escalation == nil, let conversationId = push.conversationId, let messageId = push.messageId
    else { return nil }
    // An edit has a reason if it took the place of a message that was not sent. Any other edit replaces what is shown.
    let isEdit = push.replaces == true
    guard !isEdit || push.reason != nil else { return nil }
    return PushMissed(
      userId: push.userId, pushId: push.pushId, device: Int(origin.index ?? 0), devices: devices ?? 1,
      conversationId: conversationId, messageId: messageId, cause: cause, presentation: push.presentation,
      priority: push.priority, sentAt: sentAt, expiresAt: push.expiresAt,
      senderName: push.conversation?.senderName ?? push.title ?? "",
      groupName: push.conversation?.kind == .group ? push.conversation?.name : nil, text: push.body ?? "",
      edited: isEdit ? true : nil, senderId: push.senderId, avatarUrl: push.avatarUrl)
  }

  private func missedBecause(_ result: OutcomeResult) -> PushMissed.Cause? {
    switch result {
    case .expired: .expired
    case .gaveUp where errorCode == Self.laneFull: .laneFull
    case .cancelled where errorCode == Self.inQuietHours && withdrawn == nil: .quietHours
    case .sent, .invalidToken, .quarantined, .rejected, .gaveUp, .cancelled: nil
    }
  }

  /// The error code of the oldest push of a full lane.
  static let laneFull = "lane_full"
  /// The error code of a push that waited until quiet hours began.
  static let inQuietHours = "quiet_hours"
}
