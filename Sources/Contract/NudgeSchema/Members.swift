/// The kind of a conversation.
public enum ConversationKind: String, Codable, Sendable, CaseIterable {
  /// Two people; the title of a push is the sender's name.
  case direct
  /// Any number; the title is `Sender in Group Name`.
  case group
}

/// A participant of a conversation.
public struct Member: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The name shown to others.
  public var displayName: String
  /// Where their picture is.
  public var avatarUrl: String?

  /// A participant.
  public init(userId: String, displayName: String, avatarUrl: String? = nil) {
    self.userId = userId
    self.displayName = displayName
    self.avatarUrl = avatarUrl
  }
}

/// The sender's profile, as the event gives it.
public struct SenderProfile: Codable, Sendable, Equatable {
  /// The name shown to others.
  public var displayName: String
  /// Where their picture is.
  public var avatarUrl: String?

  /// A profile.
  public init(displayName: String, avatarUrl: String? = nil) {
    self.displayName = displayName
    self.avatarUrl = avatarUrl
  }
}

/// A whole conversation as known at one moment: it replaces what was known before.
public struct ConversationSnapshot: Codable, Sendable, Equatable {
  /// Direct or group.
  public var kind: ConversationKind
  /// A group's name.
  public var name: String?
  /// Everyone who takes part.
  public var members: [Member]

  /// A snapshot.
  public init(kind: ConversationKind, name: String? = nil, members: [Member]) {
    self.kind = kind
    self.name = name
    self.members = members
  }
}

/// Something sent with, or instead of, text.
public struct Attachment: Codable, Sendable, Equatable {
  /// The kind of the attachment.
  public enum Kind: String, Codable, Sendable, CaseIterable {
    /// A picture.
    case image
    /// A film.
    case video
    /// A recording.
    case audio
    /// Any file.
    case file
    /// A place.
    case location
  }
  /// The kind of the attachment.
  public var kind: Kind
  /// Where it is.
  public var url: String?

  /// An attachment.
  public init(kind: Kind, url: String? = nil) {
    self.kind = kind
    self.url = url
  }
}
