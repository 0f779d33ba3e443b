import NudgeCodec
import NudgeSchema
import StreamRuntime

extension AnalyzerStage {
  /// People a step takes a stopped replay's pushes back from.
  static let stopsAStep = 500

  /// `replay.stopped`: nothing more of it is decided, and what waits of it in the dispatcher's lanes is taken back, for some
  /// people in each step.
  mutating func stop(_ stopped: ReplayStopped, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    try ReplayBudget.stop(stopped.replayId, because: cause, in: step)
    let rows = RowKey("r", stopped.replayId)
    let page = try step.keys(
      below: rows, after: stopped.after.map { RowKey("r", stopped.replayId, $0) }, limit: Self.stopsAStep)
    for (number, key) in page.keys.enumerated() {
      guard let userId = key.parts.last else { continue }
      if try isDropped(userId, because: cause, in: step) { continue }
      let event = cause.event(
        PushEventBody.cancelled(PushCancelled(userId: userId, replayId: stopped.replayId)), named: .pushCancelled,
        number: number, index: Int32(number))
      try step.emit(bytes: codec.encode(event), to: .pushes, key: userId)
    }
    guard let last = page.next?.parts.last else { return }
    let next = TimelineEvent(
      Envelope(eventId: "\(cause.envelope.eventId)-next", occurredAt: cause.envelope.occurredAt),
      origin: cause.ownOrigin, source: cause.source,
      .replayStopped(ReplayStopped(replayId: stopped.replayId, after: last)))
    try step.emit(bytes: codec.encode(next), to: .timeline, key: stopped.replayId, partition: step.partition)
  }
}
