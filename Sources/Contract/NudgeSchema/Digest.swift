/// The content of a catch-up: the messages that were held back and are still unread.
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
    /// Which these are: `Digest.key` of their ids, oldest first. Fewer than `messages` where they were too many to be known one by one.
    public var keys: [String]

    /// A part.
    public init(conversationId: String, messages: Int, keys: [String]) {
      self.conversationId = conversationId
      self.messages = messages
      self.keys = keys
    }
  }

  /// How many messages it tells of, at least 1.
  public var messages: Int
  /// In how many conversations they are, at least 1.
  public var conversations: Int
  /// The most relevant ones, the first before all; at most `maxLines`. Empty where the person wants no previews.
  public var lines: [Line]
  /// Which messages these are; nil in a dispatcher's lane, which does not need them.
  public var parts: [Part]?

  /// A catch-up's content.
  public init(messages: Int, conversations: Int, lines: [Line], parts: [Part]? = nil) {
    self.messages = messages
    self.conversations = conversations
    self.lines = lines
    self.parts = parts
  }

  /// Stands for a message's id in `Part.keys`: FNV-1a of its UTF-8 bytes in 64 bits, in hexadecimal.
  public static func key(_ messageId: String) -> String { key(FNV1a.hash(messageId)) }

  /// The same of a hash.
  package static func key(_ hash: UInt64) -> String { String(hash, radix: 16) }
}
