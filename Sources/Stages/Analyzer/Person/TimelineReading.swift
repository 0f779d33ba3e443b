import NudgeCodec
import NudgeSchema
import StreamRuntime

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
