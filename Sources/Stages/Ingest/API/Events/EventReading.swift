import NudgeCodec
import NudgeSchema
import StreamRuntime

/// An event that passed the stage's validation, with the fields of its record.
struct ReadEvent: Sendable {
  let topic: Topic
  let key: String
  let envelope: Envelope
  /// The record's value.
  let value: [UInt8]
  /// The user whose token may send this; nil if only backends may. A message with a snapshot or a sender's name is reserved for backends,
  /// because with it a user could join any conversation or pretend to be somebody else.
  let speaker: String?
  /// The fields that ingest will ignore.
  let ignored: IgnoredFields
}

/// Reads events by the stage's rules (`RecordReading`), so that the stage does not later refuse the form of an accepted event.
struct EventReading {
  let rules: IngestRules
  private let coder = RecordCoder()
  private let codec = RecordCodec()

  init(_ rules: IngestRules) { self.rules = rules }

  /// Reads an event.
  /// - Parameters:
  ///   - type: The event's field `type`.
  ///   - now: The time in milliseconds since the epoch.
  func read(_ bytes: [UInt8], type: String?, from caller: Caller, now: Milliseconds) throws -> ReadEvent {
    let isUserEvent = type.flatMap { EventType(rawValue: $0) }.map { UserEventBody.types.contains($0) } ?? false
    let topic: Topic = isUserEvent ? .userEvents : .chatEvents
    let record = InputRecord(
      topic: topic, topicName: topic.rawValue, partition: 0, offset: 0, timestamp: 0, key: nil, value: bytes)
    if isUserEvent {
      var event = try RecordReading.decode(from: record, maxBytes: rules.maxRecordBytes, coder: coder, codec: codec) {
        codec.read(UserEvent.self, from: $0)
      }
      let raw = event
      let ignored = event.normalize()
      try RecordReading.hold { () throws(SchemaViolation) in try event.validate(rules) }
      var speaker: String? = event.body.userId
      // Only backends may erase: an app that is signed in for a moment must not be able to.
      if case .deleted = event.body { speaker = nil }
      return try written(raw, bytes, topic, key: event.body.userId, speaker: speaker, ignored, from: caller, now: now)
    }
    var event: ChatEvent
    do {
      event = try RecordReading.decode(from: record, maxBytes: rules.maxRecordBytes, coder: coder, codec: codec) {
        codec.read(ChatEvent.self, from: $0)
      }
    } catch let error as Rejection where error.code == .unknownType {
      // The endpoint accepts events of both topics.
      throw Rejection(EventFormatError.unknownType(type ?? "", of: ChatEventBody.types + UserEventBody.types))
    }
    let raw = event
    let ignored = event.normalize()
    try RecordReading.hold { () throws(SchemaViolation) in try event.validate() }
    var speaker: String?
    if case .messageCreated(let message) = event.body, message.conversation == nil, message.sender == nil {
      speaker = message.senderId
    }
    return try written(
      raw, bytes, topic, key: event.body.conversationId, speaker: speaker, ignored, from: caller, now: now)
  }

  /// The event as it is published. A backend's event is unchanged. Of a user's event only known fields are written, and a time that is
  /// ahead is set back to the arrival, because a phone's wrong clock is no reason to refuse the event (M10).
  private func written<Body: EventBody>(
    _ event: Event<Body>, _ bytes: [UInt8], _ topic: Topic, key: String, speaker: String?,
    _ ignored: IgnoredFields, from caller: Caller, now: Milliseconds
  ) throws -> ReadEvent {
    guard caller.isUser else {
      return ReadEvent(
        topic: topic, key: key, envelope: event.envelope, value: bytes, speaker: speaker, ignored: ignored)
    }
    var event = event
    event.envelope.occurredAt = min(event.envelope.occurredAt, now)
    return ReadEvent(
      topic: topic, key: key, envelope: event.envelope, value: try coder.encode(event), speaker: speaker,
      ignored: ignored)
  }

  /// Throws for an event that is older, or further in the future, than ingest accepts.
  func requireTime(of event: ReadEvent, now: Milliseconds) throws(Rejection) {
    try RecordReading.requireTime(event.envelope, now: now, rules: rules)
  }
}
