/// The kind of a conversation.
public enum ConversationKind: String, NamedValue {
  /// Two people. The title of a push is the sender's name.
  case direct
  /// Any number of people. The title of a push is `Sender in Group Name`.
  case group
}

/// A participant of a conversation.
public struct Member: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The name shown to others.
  public var displayName: String
  /// The URL of their picture.
  public var avatarUrl: String?

  /// A participant.
  public init(userId: String, displayName: String, avatarUrl: String? = nil) {
    self.userId = userId
    self.displayName = displayName
    self.avatarUrl = avatarUrl
  }
}

extension Member {
  private enum CodingKeys: String, CodingKey { case userId, displayName, avatarUrl }

  /// Reads the value. Without a name the user id stands for it. A name that is not a string becomes empty; see
  /// `Event.normalize()`.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let userId = try fields.decode(String.self, forKey: .userId)
    self.init(
      userId: userId,
      displayName: fields.contains(.displayName) ? try fields.cosmeticText(.displayName) ?? "" : userId,
      avatarUrl: try fields.cosmeticText(.avatarUrl))
  }
}

/// The sender's profile, as given in the event.
public struct SenderProfile: Codable, Sendable, Equatable {
  /// The name shown to others. If absent, the name known from the conversation is used.
  public var displayName: String?
  /// The URL of their picture.
  public var avatarUrl: String?

  /// A profile.
  public init(displayName: String?, avatarUrl: String? = nil) {
    self.displayName = displayName
    self.avatarUrl = avatarUrl
  }
}

extension SenderProfile {
  private enum CodingKeys: String, CodingKey { case displayName, avatarUrl }

  /// Reads the value. A value of another JSON type is read as a profile with an empty name: see `Event.normalize()`.
  public init(from decoder: any Decoder) throws {
    guard let fields = try? decoder.container(keyedBy: CodingKeys.self) else {
      self.init(displayName: "")
      return
    }
    self.init(
      displayName: try fields.cosmeticText(.displayName), avatarUrl: try fields.cosmeticText(.avatarUrl))
  }
}

/// A whole conversation at one moment. It replaces the former state.
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

extension ConversationSnapshot {
  private enum CodingKeys: String, CodingKey { case kind, name, members }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      kind: try fields.decode(ConversationKind.self, forKey: .kind), name: try fields.cosmeticText(.name),
      members: try fields.decode([Member].self, forKey: .members))
  }
}

/// An attachment, with or instead of text.
public struct Attachment: Codable, Sendable, Equatable {
  /// The kind of the attachment.
  public enum Kind: String, NamedValue {
    /// A picture.
    case image
    /// A film.
    case video
    /// A sound recording.
    case audio
    /// Any file.
    case file
    /// A location.
    case location
  }
  /// The kind of the attachment.
  public var kind: Kind
  /// The URL of the content.
  public var url: String?

  /// An attachment.
  public init(kind: Kind, url: String? = nil) {
    self.kind = kind
    self.url = url
  }
}

extension Attachment {
  private enum CodingKeys: String, CodingKey { case kind, url }

  /// Reads the value. An unknown or missing kind becomes `file`.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(kind: (try? fields.decode(Kind.self, forKey: .kind)) ?? .file, url: try fields.cosmeticText(.url))
  }
}

extension KeyedDecodingContainer {
  /// Reads a cosmetic text. A value of another JSON type is read as an empty text, which `Event.normalize()` ignores.
  func cosmeticText(_ key: Key) throws -> String? {
    guard contains(key), try !decodeNil(forKey: key) else { return nil }
    return (try? decode(String.self, forKey: key)) ?? ""
  }
}
