import NudgeCodec
public import NudgeSchema
public import StreamRuntime

/// Answers that outlive the loss of their task go to its next owner, as `push.answered` on `nudge.pushes`.
extension DispatcherStage {
  /// Writes what is known of a request.
  public static func handover(
    of known: HandedOver<SendReply>, now: Milliseconds
  ) throws -> (key: [UInt8], value: [UInt8])? {
    guard let place = WaitingPush.EffectKey(known.ticket.effect) else { return nil }
    let body = PushAnswered(
      userId: place.userId, deviceId: place.deviceId, pushId: place.pushId, attempt: known.ticket.attempt,
      result: known.reply.map { .init($0.answer.verdict) } ?? .pending, httpStatus: known.reply?.answer.httpStatus,
      errorCode: known.reply?.answer.errorCode, fcmName: known.reply?.answer.name,
      requests: known.reply?.requests, startedAt: known.reply?.startedAt, finishedAt: known.reply?.finishedAt)
    let id = DispatcherRules.sha256(
      ["answered", place.userId, place.deviceId, place.pushId, "\(body.attempt)", body.result.rawValue]
        .joined(separator: "\u{1}"))
    let event = PushEvent(
      Envelope(eventId: id, occurredAt: known.reply?.finishedAt ?? now), origin: place.cause,
      source: place.cause.position, .answered(body))
    return (Array(place.userId.utf8), RecordCodec().encode(event))
  }

  /// Reads it.
  public static func handedOver(_ record: InputRecord) throws -> HandedOver<SendReply> {
    let event = try PushRecord.read(record, codec: RecordCodec())
    guard case .answered(let body) = event.body else {
      throw Rejection(.schemaViolation, "a record with the header \(RecordHeader.handover) is no push.answered")
    }
    let ticket = EffectTicket(
      WaitingPush.EffectKey(
        userId: body.userId, deviceId: body.deviceId, pushId: body.pushId, cause: event.origin
      ).rowKey, attempt: body.attempt)
    guard body.result != .pending else { return HandedOver(ticket, reply: nil) }
    let finishedAt = body.finishedAt ?? event.envelope.occurredAt
    return HandedOver(
      ticket,
      reply: SendReply(
        id: 0,
        answer: PushAnswer(body.verdict, httpStatus: body.httpStatus, errorCode: body.errorCode),
        requests: body.requests ?? 1, startedAt: body.startedAt ?? finishedAt, finishedAt: finishedAt),
      decides: body.result != .undecided)
  }
}

extension PushAnswered.Result {
  init(_ verdict: PushAnswer.Verdict) {
    switch verdict {
    case .sent: self = .sent
    case .invalidToken: self = .invalidToken
    case .senderMismatch: self = .senderMismatch
    case .rejected: self = .rejected
    case .subscriptionRefused, .projectRefused, .platformRefused, .quotaExceeded, .serverFailed, .unreachable, .notSent:
      self = .undecided
    }
  }
}

extension PushAnswered {
  fileprivate var verdict: PushAnswer.Verdict {
    switch result {
    case .sent: .sent(name: fcmName)
    case .invalidToken: .invalidToken
    case .senderMismatch: .senderMismatch
    case .rejected: .rejected
    case .pending, .undecided: .unreachable
    }
  }
}
