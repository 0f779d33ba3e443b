package import NudgeSchema

/// A line of a chat log.
package struct ChatMessage: Sendable, Equatable {
  package var log: String
  /// Answers refer to it; rises within a log.
  package var number: Int
  /// When it was written, in milliseconds since the epoch; does not fall within a log.
  package var at: Milliseconds
  package var nick: String
  /// Empty: a picture.
  package var text: String
  /// The numbers of the messages it answers: empty for a new topic, nil if the log is not annotated.
  package var replyTo: [Int]?
  /// Whether the log is a direct conversation; nil: a group.
  package var kind: ConversationKind?
}

extension ChatMessage: Decodable {
  private enum CodingKeys: String, CodingKey {
    case number = "n"
    case log, at, nick, text, replyTo, kind
  }
}

/// A sequence of messages, read or generated on demand.
protocol ChatMessages {
  mutating func next() throws(ChatLogError) -> ChatMessage?
}
