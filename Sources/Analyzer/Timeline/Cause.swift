import NudgeSchema

/// The timeline record being worked on: what everything written because of it has in common.
struct Cause {
  /// Where the record is on the timeline.
  let position: RecordPosition
  let partition: Int32
  /// The record's envelope; `occurredAt` is the time all that people did is judged by (D11).
  let envelope: Envelope
  /// What caused the record itself: the chat event, for candidates.
  let origin: Origin
  /// The event it all began with.
  let source: RecordPosition

  var occurredAt: Milliseconds { envelope.occurredAt }

  /// An event caused by the record. Its id says where it comes from and, of one record's many people, whom it is for.
  func event<Body>(_ body: Body, named name: String, number: Int, index: Int32 = 0) -> DerivedEvent<Body> {
    var id = "timeline-\(partition)-\(position.offset)-\(name)-\(number)"
    if index > 0 { id += "-\(index)" }
    return DerivedEvent(
      Envelope(eventId: id, occurredAt: envelope.occurredAt), origin: Origin(position, index: index), source: source,
      body)
  }
}
