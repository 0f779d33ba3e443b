import NudgeSchema

/// The timeline record being worked on: what everything written because of it has in common.
final class Cause: Sendable {
  /// Where the record is on the timeline.
  let position: RecordPosition
  let partition: Int32
  /// The record's envelope; `occurredAt` is the time all that people did is judged by (D11).
  let envelope: Envelope
  /// What caused the record itself: the chat event, for candidates.
  let origin: Origin
  /// The event it all began with.
  let source: RecordPosition

  /// What the ids of all events caused by the record begin with.
  private let eventIdPrefix: String

  init(
    position: RecordPosition, partition: Int32, envelope: Envelope, origin: Origin, source: RecordPosition
  ) {
    self.position = position
    self.partition = partition
    self.envelope = envelope
    self.origin = origin
    self.source = source
    eventIdPrefix = "timeline-\(partition)-\(position.offset)-"
  }

  var occurredAt: Milliseconds { envelope.occurredAt }

  /// An event caused by the record. Its id says where it comes from and, of one record's many people, whom it is for.
  func event<Body>(_ body: Body, named name: String, number: Int, index: Int32 = 0) -> DerivedEvent<Body> {
    var id = eventIdPrefix
    id += name
    id += "-"
    id += String(number)
    if index > 0 { id += "-\(index)" }
    return DerivedEvent(
      Envelope(eventId: id, occurredAt: envelope.occurredAt), origin: Origin(position, index: index), source: source,
      body)
  }
}
