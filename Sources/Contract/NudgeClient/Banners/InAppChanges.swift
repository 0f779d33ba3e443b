import Foundation

/// The unread numbers have changed: a `badge` record of `nudge.banners`.
public struct InAppBadge: Sendable, Equatable, Decodable {
  /// A conversation and its unread messages.
  public struct Conversation: Sendable, Equatable, Decodable {
    /// The conversation.
    public let conversationId: String
    /// Its unread messages.
    public let unread: Int
  }

  /// The user.
  public let userId: String
  /// The number for the app's icon: `BadgeCounter.told(_:)`.
  public let badge: Int
  /// The conversations where it changed.
  public let conversations: [Conversation]
}

/// The user has read a conversation, perhaps on another device: a `read` record of `nudge.banners`.
public struct InAppRead: Sendable, Equatable, Decodable {
  /// The user.
  public let userId: String
  /// The conversation.
  public let conversationId: String
  /// The last message read; nil: all that had been written by `sentAt`.
  public let messageId: String?
  /// When that message was sent, in milliseconds since the epoch.
  public let sentAt: Int64

  /// How far the conversation was read.
  public var mark: ReadMark {
    ReadMark(
      conversationId: conversationId, messageId: messageId,
      time: Date(timeIntervalSince1970: TimeInterval(sentAt) / 1_000))
  }
}

/// A message was edited: a `message.updated` record of `nudge.banners`.
public struct InAppUpdate: Sendable, Equatable, Decodable {
  /// The user.
  public let userId: String
  /// The conversation.
  public let conversationId: String
  /// The message.
  public let messageId: String
  /// The first characters of its text now.
  public let preview: String
}

/// A message was taken back: a `message.withdrawn` record of `nudge.banners`.
public struct InAppRemoval: Sendable, Equatable, Decodable {
  /// The user.
  public let userId: String
  /// The conversation.
  public let conversationId: String
  /// The message.
  public let messageId: String
}
