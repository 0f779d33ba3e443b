import NudgeSchema
import ServiceKit

/// The content of a file for `nudge import`, one object a line.
enum ImportKind: String, SettingValue, CaseIterable {
  /// The fields of `conversation.updated`.
  case conversations
  /// The fields of `preferences.updated`.
  case preferences
  /// The fields of `device.registered`.
  case devices

  /// An event with its topic and key.
  struct Imported {
    let topic: Topic
    let key: String
    let value: [UInt8]
  }

  /// The event of a line.
  /// - Parameter occurredAt: The time of the file's content.
  /// - Throws: `DecodingError` or `EventFormatError` for missing or wrong fields, `SchemaViolation` for a broken rule.
  func event(of line: [UInt8], occurredAt: Milliseconds, coder: RecordCoder) throws -> Imported {
    // Equal lines have equal event ids: importing a file again has no effect.
    let digest = Hexadecimal.encode(SHA256Digest.of(line).prefix(16))
    let envelope = Envelope(eventId: "import-\(digest)", occurredAt: occurredAt)
    switch self {
    case .conversations:
      let event = ChatEvent(envelope, .conversationUpdated(try coder.decode(ConversationUpdated.self, from: line)))
      try event.validate()
      return Imported(topic: .chatEvents, key: event.body.conversationId, value: try coder.encode(event))
    case .preferences:
      return try user(envelope, .preferences(try coder.decode(PreferencesUpdated.self, from: line)), coder)
    case .devices:
      return try user(envelope, .deviceRegistered(try coder.decode(DeviceRegistered.self, from: line)), coder)
    }
  }

  private func user(_ envelope: Envelope, _ body: UserEventBody, _ coder: RecordCoder) throws -> Imported {
    let event = UserEvent(envelope, body)
    try event.validate()
    return Imported(topic: .userEvents, key: event.body.userId, value: try coder.encode(event))
  }
}
