import NudgeSchema

/// The timeline record being processed: the fields that all records written for it share.
final class Cause: Sendable {
  /// Where the record is on the timeline.
  let position: RecordPosition
  let partition: Int32
  /// The origin of what the record causes.
  let ownOrigin: Origin
  let envelope: Envelope
  /// When the event happened, by which all that people did is judged: its own time, or the time ingest took it where that is
  /// earlier (D11).
  let happenedAt: Milliseconds
  /// When the event reached Nudge: well after it happened, or at the same time.
  let arrivedAt: Milliseconds
  /// The event's place in last-writer-wins order (D12).
  let stamp: EventStamp
  /// The cause of the record itself: the chat event, for candidates.
  let origin: Origin
  /// The event it all began with.
  let source: RecordPosition

  /// The prefix of the ids of all events caused by the record.
  private let eventIdPrefix: String

  /// - Parameter own: the origin of what the record causes.
  init(_ event: TimelineEvent, at own: Origin, partition: Int32) {
    ownOrigin = own
    position = own.position
    self.partition = partition
    envelope = event.envelope
    happenedAt = event.cappedAt
    arrivedAt = max(event.arrivedAt ?? event.cappedAt, event.cappedAt)
    stamp = event.stamp
    origin = event.origin
    source = event.source
    eventIdPrefix = "timeline-\(partition)-\(position.offset)-"
  }

  /// An event caused by the record. Its id says where it comes from and, of one record's many people, whom it is for.
  ///
  /// - Parameter source: The event it began with, where that is not the record's own.
  func event<Body>(
    _ body: Body, named type: EventType, number: Int, index: Int32 = 0, source: RecordPosition? = nil
  ) -> DerivedEvent<Body> {
    var id = eventIdPrefix
    id += type.rawValue
    id += "-"
    id += String(number)
    if index > 0 { id += "-\(index)" }
    return DerivedEvent(
      Envelope(eventId: id, occurredAt: envelope.occurredAt), origin: ownOrigin.effect(index),
      source: source ?? self.source, body)
  }
}
