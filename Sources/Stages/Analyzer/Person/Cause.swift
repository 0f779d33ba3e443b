import NudgeCodec
import NudgeSchema
import StreamRuntime

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

/// Times an event may have, in milliseconds since the epoch: 1970 to 9999. Sums with them never overflow.
private let allowedTimes: ClosedRange<Milliseconds> = 0...253_402_300_799_999

/// Reads a timeline record. Throws a `Rejection` whose text names fields, never their values.
func readTimelineEvent(_ record: InputRecord, codec: RecordCodec) throws -> TimelineEvent {
  guard let value = record.value else { throw Rejection(.schemaViolation, "the record has no value") }
  let event: TimelineEvent
  do {
    event = try codec.decode(TimelineEvent.self, from: value)
  } catch let error as EventFormatError {
    throw Rejection(error)
  } catch let error as DecodingError {
    throw Rejection(error)
  } catch let error as SchemaViolation {
    throw Rejection(.schemaViolation, error.description)
  }
  guard allowedTimes.contains(event.envelope.occurredAt) else {
    throw Rejection(.schemaViolation, "occurredAt is not between the years 1970 and 9999")
  }
  switch event.body {
  case .candidate(let fields), .redecide(let fields):
    try checkCount(fields.recipients.count, field: "recipients")
  case .withdrawn(let fields):
    try checkCount(fields.userIds.count, field: "userIds")
  default: break
  }
  return event
}

private func checkCount(_ count: Int, field: String) throws {
  guard (1...MessageCandidate.maxRecipients).contains(count) else {
    throw Rejection(
      .schemaViolation, "\(field) names \(count) people; 1 to \(MessageCandidate.maxRecipients) are allowed")
  }
}
