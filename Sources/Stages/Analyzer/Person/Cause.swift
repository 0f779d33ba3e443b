import NudgeCodec
import NudgeSchema
import StreamRuntime

/// The timeline record being processed, with the fields that all records written for it share.
final class Cause: Sendable {
  /// The record's position on the timeline.
  let position: RecordPosition
  let partition: Int32
  /// The origin of the records that it causes.
  let ownOrigin: Origin
  let envelope: Envelope
  /// When the event happened: its own time, or the time ingest accepted it if that is earlier (D11). People's actions are judged by it.
  let happenedAt: Milliseconds
  /// When the event reached Nudge, if that was well after it happened; otherwise the time it happened.
  let arrivedAt: Milliseconds
  /// The event's stamp in last-writer-wins order (D12).
  let stamp: EventStamp
  /// The record's own cause; for candidates the chat event.
  let origin: Origin
  /// The event that started the chain.
  let source: RecordPosition

  /// The prefix of the ids of all events caused by the record.
  private let eventIdPrefix: String

  /// - Parameter own: The origin of the records that it causes.
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

  /// An event caused by the record. Its id contains the record's position and, if a record concerns many people, the person's index.
  ///
  /// - Parameter source: The event that started the chain, if it is not the record's own.
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

/// The allowed times of events, in milliseconds since the epoch: 1970 to 9999. Sums with them never overflow.
private let allowedTimes: ClosedRange<Milliseconds> = 0...253_402_300_799_999

/// Reads a timeline record. Throws a `Rejection`, which names fields but never their values.
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
