import NudgeCodec
import NudgeSchema
import StreamRuntime

/// An event that would pass ingest's own reading, and what a record of it needs.
struct ReadEvent: Sendable {
  let topic: Topic
  /// The record's key.
  let key: String
  let envelope: Envelope
  /// The user who may say this with a token of their own; nil if no user may. A message that says who is in the conversation, or
  /// what its sender is called, is a backend's to send: a user could put themselves into any conversation, or pass for another.
  let speaker: String?
}

/// From the bytes of one event to what is published, by the same rules as the stage reads records with (`RecordReading`): what
/// is accepted here is not dead-lettered for its form there.
struct EventReading {
  let rules: IngestRules
  private let coder = RecordCoder()
  private let codec = RecordCodec()

  init(_ rules: IngestRules) { self.rules = rules }

  /// Reads an event.
  /// - Parameters:
  ///   - type: What the event says it is.
  ///   - now: Milliseconds since the epoch.
  func read(_ bytes: [UInt8], type: String?) throws -> ReadEvent {
    let isUserEvent = type.map { UserEventBody.types.contains($0) } ?? false
    // What is of neither topic is refused by the reading of either, for the same reason.
    let topic: Topic = isUserEvent ? .userEvents : .chatEvents
    let record = InputRecord(
      topic: topic, topicName: topic.rawValue, partition: 0, offset: 0, timestamp: 0, key: nil, value: bytes)
    if isUserEvent {
      let event = try RecordReading.decode(from: record, maxBytes: rules.maxRecordBytes, coder: coder, codec: codec) {
        codec.read(UserEvent.self, from: $0)
      }
      try RecordReading.hold { () throws(SchemaViolation) in try event.validate() }
      return ReadEvent(
        topic: topic, key: event.body.userId, envelope: event.envelope, speaker: event.body.userId)
    }
    let event = try RecordReading.decode(from: record, maxBytes: rules.maxRecordBytes, coder: coder, codec: codec) {
      codec.read(ChatEvent.self, from: $0)
    }
    try RecordReading.hold { () throws(SchemaViolation) in try event.validate() }
    var speaker: String?
    if case .messageCreated(let message) = event.body, message.conversation == nil, message.sender == nil {
      speaker = message.senderId
    }
    return ReadEvent(topic: topic, key: event.body.conversationId, envelope: event.envelope, speaker: speaker)
  }

  /// Fails for an event that is older, or further in the future, than ingest accepts of this caller.
  func requireTime(of event: ReadEvent, from caller: Caller, now: Milliseconds) throws(Rejection) {
    try RecordReading.requireTime(event.envelope, now: now, rules: rules, byUserToken: caller.isUser)
  }
}
