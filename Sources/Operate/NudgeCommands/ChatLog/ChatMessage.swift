import NudgeSchema

/// One line of a chat log: what somebody wrote.
struct ChatMessage: Sendable, Equatable {
  /// The log it belongs to: a conversation.
  var log: String
  /// Its number, by which answers name it; rises inside a log.
  var number: Int
  /// When it was written, milliseconds since the epoch; does not fall inside a log.
  var at: Milliseconds
  /// Who wrote it.
  var nick: String
  /// What it says; empty stands for a picture.
  var text: String
  /// The numbers of the messages it answers; nil where nobody has said, empty where it begins something new.
  var replyTo: [Int]?
  /// Whether the log is a direct conversation; nil: a group.
  var kind: ConversationKind?
}

extension ChatMessage: Decodable {
  private enum CodingKeys: String, CodingKey {
    case number = "n"
    case log, at, nick, text, replyTo, kind
  }
}

/// Messages one after the other, made or read as they are asked for.
protocol ChatMessages {
  /// The next message; nil at the end.
  mutating func next() throws(ChatLogError) -> ChatMessage?
}
