public import Foundation

/// The user as the services know them: the answer to `GET /v1/me` and `PATCH /v1/me/preferences`.
public struct KnownPerson: Decodable, Sendable, Equatable {
  /// A device of the user.
  public struct Device: Decodable, Sendable, Equatable {
    /// The device.
    public let deviceId: String
    /// `ios`, `android`, `web`, `desktop`.
    public let platform: String
    /// False: it signed out, or its token is gone.
    public let isReachable: Bool
    /// `fcm`, or the host of its push service; nil: it cannot be reached.
    public let pushService: String?
    /// The app's version.
    public let appVersion: String?
    /// When it registered, in milliseconds since the epoch.
    public let registeredAt: Int64
    /// When it was last heard of, to the day, in milliseconds since the epoch.
    public let lastSeenAt: Int64
  }

  /// The unread messages.
  public struct Unread: Decodable, Sendable, Equatable {
    /// A conversation with something unread.
    public struct Conversation: Decodable, Sendable, Equatable {
      /// The conversation.
      public let conversationId: String
      /// Its unread messages.
      public let unread: Int
    }
    /// Unread messages.
    public let messages: Int
    /// Conversations that have some.
    public let conversations: Int
    /// The latest 500 of these.
    public let byConversation: [Conversation]
  }

  /// How much of a limit is used.
  public struct Use: Decodable, Sendable, Equatable {
    /// How many were used.
    public let used: Int
    /// How many there are.
    public let limit: Int
    /// When the hour ends, in milliseconds since the epoch; nil if none has begun, and for a limit of the day.
    public let windowEndsAt: Int64?
  }

  /// The next catch-up.
  public struct CatchUp: Decodable, Sendable, Equatable {
    /// When it is, in milliseconds since the epoch; nil: never.
    public let at: Int64?
    /// Whether something waits for it.
    public let isPlanned: Bool
  }

  /// The messages of the last 24 hours that did not alert.
  public struct HeldBack: Decodable, Sendable, Equatable {
    /// A message that did not alert.
    public struct Message: Decodable, Sendable, Equatable {
      /// Its conversation.
      public let conversationId: String
      /// Stands for its id (`IdKey`).
      public let messageKey: String
      /// When it arrived, in milliseconds since the epoch.
      public let arrivedAt: Int64
      /// `silent`: it was shown without a sound; `badge`: it was not shown.
      public let presentation: String
      /// Why, for the app.
      public let reason: String
      /// Why, for the user, in their language.
      public let text: String
      /// Whether the user has read it.
      public let isRead: Bool
    }
    /// How many there are.
    public let count: Int
    /// The latest 50 of these, the latest first.
    public let messages: [Message]
  }

  /// The user.
  public let userId: String
  /// When the services said so, in milliseconds since the epoch.
  public let answeredAt: Int64
  /// Their preferences.
  public let preferences: Preferences
  /// Their devices, those that can be reached first.
  public let devices: [Device]
  /// The number for the app's icon.
  public let badge: Int
  /// The unread messages.
  public let unread: Unread
  /// The smart analyses of the hour.
  public let analyses: Use
  /// The alerts of the day; nil: there is no bound.
  public let alerts: Use?
  /// The next catch-up.
  public let catchUp: CatchUp
  /// The messages that did not alert.
  public let heldBack: HeldBack

  /// Decodes an answer. Throws `DecodingError` for other JSON.
  public init(json: Data) throws { self = try JSONDecoder().decode(KnownPerson.self, from: json) }
}
