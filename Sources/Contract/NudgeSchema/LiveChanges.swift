// Changes inside an open app, beside banners and notices: records of `nudge.banners`.

/// `badge`.
public struct BadgeChange: Codable, Sendable, Equatable {
  /// A conversation whose unread messages have changed.
  public struct Conversation: Codable, Sendable, Equatable {
    /// The conversation.
    public var conversationId: String
    /// Its unread messages.
    public var unread: Int

    /// A conversation and its number.
    public init(conversationId: String, unread: Int) {
      self.conversationId = conversationId
      self.unread = unread
    }
  }

  /// The person.
  public var userId: String
  /// The number of the badge.
  public var badge: Int
  /// The conversations where it changed.
  public var conversations: [Conversation]

  /// The event's fields.
  public init(userId: String, badge: Int, conversations: [Conversation]) {
    self.userId = userId
    self.badge = badge
    self.conversations = conversations
  }
}

/// `read`.
public struct ConversationRead: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The conversation.
  public var conversationId: String
  /// The last message read; nil: all that had been written by `sentAt`.
  public var messageId: String?
  /// When that message was written. Later messages are not read.
  public var sentAt: Milliseconds

  /// The event's fields.
  public init(userId: String, conversationId: String, messageId: String?, sentAt: Milliseconds) {
    self.userId = userId
    self.conversationId = conversationId
    self.messageId = messageId
    self.sentAt = sentAt
  }
}

/// `message.updated`.
public struct MessageUpdate: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The conversation.
  public var conversationId: String
  /// The message.
  public var messageId: String
  /// The first characters of its text now.
  public var preview: String

  /// The event's fields.
  public init(userId: String, conversationId: String, messageId: String, preview: String) {
    self.userId = userId
    self.conversationId = conversationId
    self.messageId = messageId
    self.preview = preview
  }
}

/// `message.withdrawn`, on `nudge.banners`.
public struct MessageRemoval: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The conversation.
  public var conversationId: String
  /// The message.
  public var messageId: String

  /// The event's fields.
  public init(userId: String, conversationId: String, messageId: String) {
    self.userId = userId
    self.conversationId = conversationId
    self.messageId = messageId
  }
}
