/// The content of a catch-up: messages that were held back and are unread.
public struct Digest: Codable, Sendable, Equatable {
  /// The most lines a catch-up has.
  public static let maxLines = 3

  /// A message that the catch-up shows.
  public struct Line: Codable, Sendable, Equatable {
    /// The conversation to open.
    public var conversationId: String
    /// The message to scroll to.
    public var messageId: String
    /// The sender's name, and the group's if the conversation has one.
    public var title: String
    /// The message's text after its last edit, shortened.
    public var text: String

    /// A line.
    public init(conversationId: String, messageId: String, title: String, text: String) {
      self.conversationId = conversationId
      self.messageId = messageId
      self.title = title
      self.text = text
    }
  }

  /// A conversation's part of a catch-up.
  public struct Part: Codable, Sendable, Equatable {
    /// The conversation.
    public var conversationId: String
    /// How many of its messages are in the catch-up.
    public var messages: Int
    /// The messages, as `Digest.key` of their ids, oldest first. Fewer than `messages` if there were too many to keep
    /// each one.
    public var keys: [String]

    /// A part.
    public init(conversationId: String, messages: Int, keys: [String]) {
      self.conversationId = conversationId
      self.messages = messages
      self.keys = keys
    }
  }

  /// How many messages it covers, at least 1.
  public var messages: Int
  /// In how many conversations they are, at least 1.
  public var conversations: Int
  /// The most relevant messages, the most relevant first; at most `maxLines`. Empty if the person wants no previews.
  public var lines: [Line]
  /// The messages by conversation. Absent in a dispatcher's lane, which does not need them.
  public var parts: [Part]?

  /// A catch-up's content.
  public init(messages: Int, conversations: Int, lines: [Line], parts: [Part]? = nil) {
    self.messages = messages
    self.conversations = conversations
    self.lines = lines
    self.parts = parts
  }

  /// A hash of a message id for `Part.keys`: FNV-1a in 64 bits of its UTF-8 bytes, in hexadecimal.
  public static func key(_ messageId: String) -> String { key(FNV1a.hash(messageId)) }

  /// The key of a hash.
  package static func key(_ hash: UInt64) -> String { String(hash, radix: 16) }
}
