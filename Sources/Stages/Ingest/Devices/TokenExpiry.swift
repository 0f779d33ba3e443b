import NudgeCodec
public import NudgeSchema
public import StreamRuntime

/// A token that nobody registered for `IngestRules.tokenLifetime` is dropped, as FCM does (T5): its device loses it, and the owner row
/// goes. One timer a token looks whether the token was registered since.
extension IngestStage {
  private static let timerPrefix = "token/"

  /// Sets the timer of an owner row. A timer that is set stays: when it fires, it is set again if the token was registered since.
  func setTokenTimer(
    of tokenHash: String, _ row: inout OwnerRow, eventId: String, origin: Origin, source: RecordPosition,
    in step: Step<IngestStage>
  ) throws {
    let due = row.stamp.occurredAt + rules.tokenLifetime + 1
    row.timerAt = due
    try step.setTimer(
      Self.timerPrefix + tokenHash, due: due, key: tokenHash, eventId: eventId, origin: origin, source: source)
  }

  /// `timer.fired` on `nudge.device-claims`.
  public static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8] {
    try coder.encode(
      TimelineEvent(
        Envelope(eventId: timer.eventId, occurredAt: timer.due), origin: timer.origin, source: timer.source,
        .timerFired(TimerFired(timer: timer.name, dueAt: timer.due))))
  }

  func processTokenTimer(_ record: InputRecord, in step: Step<IngestStage>) throws {
    let event = try RecordReading.decode(from: record, maxBytes: rules.maxRecordBytes, coder: step.coder, codec: codec)
    {
      codec.read(TimelineEvent.self, from: $0)
    }
    guard case .timerFired(let fired) = event.body, fired.timer.utf8.starts(with: Self.timerPrefix.utf8) else { return }
    let tokenHash = String(fired.timer.dropFirst(Self.timerPrefix.count))
    let key = RowKey("o", tokenHash)
    guard case .owner(var row)? = try step.row(key), row.timerAt == fired.dueAt else { return }
    guard step.now - row.stamp.occurredAt > rules.tokenLifetime else {
      try setTokenTimer(
        of: tokenHash, &row, eventId: event.envelope.eventId, origin: Origin(record.position), source: event.source,
        in: step)
      return try step.set(.owner(row), for: key)
    }
    if let owner = row.owner {
      var timeline = TimelineWriter(
        step, codec, envelope: event.envelope, takenAt: nil, cause: step.origin(of: record), source: event.source)
      try timeline.lose(tokenHash, owner, version: row.version, cause: .expired)
    }
    try step.remove(key)
  }
}
