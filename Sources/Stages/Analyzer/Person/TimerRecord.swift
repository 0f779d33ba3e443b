public import NudgeSchema
public import StreamRuntime

extension AnalyzerStage {
  /// `timer.fired` on the timeline.
  public static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8] {
    try coder.encode(
      DerivedEvent(
        Envelope(eventId: timer.eventId, occurredAt: timer.due), origin: timer.origin, source: timer.source,
        TimelineEventBody.timerFired(TimerFired(timer: timer.name, dueAt: timer.due))))
  }
}
