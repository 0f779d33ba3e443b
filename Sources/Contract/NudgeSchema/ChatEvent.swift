/// A record of `chat.events`.
public typealias ChatEvent = Event<ChatEventBody>

/// A change of a conversation or a message.
public enum ChatEventBody: EventBody {
  /// The conversation's current state.
  case conversationUpdated(ConversationUpdated)
  /// Somebody joined.
  case memberAdded(MembershipChange)
  /// Somebody left.
  case memberRemoved(MembershipChange)
  /// A message was written.
  case messageCreated(MessageCreated)
  /// A message's text was edited.
  case messageEdited(MessageRevision)
  /// A message was deleted.
  case messageDeleted(MessageRevision)
  /// The conversation is gone, and what is kept of it is erased.
  case conversationDeleted(ConversationDeleted)

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [
    .conversationUpdated, .memberAdded, .memberRemoved, .messageCreated,
    .messageEdited, .messageDeleted, .conversationDeleted,
  ]

  /// The type's name on the wire.
  public var type: EventType {
    switch self {
    case .conversationUpdated: .conversationUpdated
    case .memberAdded: .memberAdded
    case .memberRemoved: .memberRemoved
    case .messageCreated: .messageCreated
    case .messageEdited: .messageEdited
    case .messageDeleted: .messageDeleted
    case .conversationDeleted: .conversationDeleted
    }
  }

  /// The record's key.
  public var conversationId: String {
    switch self {
    case .conversationUpdated(let fields): fields.conversationId
    case .memberAdded(let fields), .memberRemoved(let fields): fields.conversationId
    case .messageCreated(let fields): fields.conversationId
    case .messageEdited(let fields), .messageDeleted(let fields): fields.conversationId
    case .conversationDeleted(let fields): fields.conversationId
    }
  }

  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: EventType, from decoder: any Decoder) throws {
    switch type {
    case .conversationUpdated: self = .conversationUpdated(try ConversationUpdated(from: decoder))
    case .memberAdded: self = .memberAdded(try MembershipChange(from: decoder))
    case .memberRemoved: self = .memberRemoved(try MembershipChange(from: decoder))
    case .messageCreated: self = .messageCreated(try MessageCreated(from: decoder))
    case .messageEdited: self = .messageEdited(try MessageRevision(from: decoder))
    case .messageDeleted: self = .messageDeleted(try MessageRevision(from: decoder))
    case .conversationDeleted: self = .conversationDeleted(try ConversationDeleted(from: decoder))
    default: throw EventFormatError.unknownType(type.rawValue, of: Self.types)
    }
  }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws {
    switch self {
    case .conversationUpdated(let fields): try fields.encode(to: encoder)
    case .memberAdded(let fields), .memberRemoved(let fields): try fields.encode(to: encoder)
    case .messageCreated(let fields): try fields.encode(to: encoder)
    case .messageEdited(let fields), .messageDeleted(let fields): try fields.encode(to: encoder)
    case .conversationDeleted(let fields): try fields.encode(to: encoder)
    }
  }
}

/// `conversation.deleted`: erases what is kept of the conversation (D16). A later `conversation.updated`, or a
/// `message.created` with a snapshot, starts it again. Until then its other events are refused as
/// `unknown_conversation`.
public struct ConversationDeleted: Codable, Sendable, Equatable {
  /// The conversation.
  public var conversationId: String

  /// The event's fields.
  public init(conversationId: String) { self.conversationId = conversationId }
}

/// `conversation.updated`: replaces the conversation's former state. The last writer by (occurredAt, eventId) wins.
public struct ConversationUpdated: Codable, Sendable, Equatable {
  /// The conversation.
  public var conversationId: String
  /// Direct or group.
  public var kind: ConversationKind
  /// A group's name.
  public var name: String?
  /// Everyone who takes part.
  public var members: [Member]

  /// The event's fields.
  public init(conversationId: String, kind: ConversationKind, name: String? = nil, members: [Member]) {
    self.conversationId = conversationId
    self.kind = kind
    self.name = name
    self.members = members
  }

  /// The conversation's state without its id.
  public var snapshot: ConversationSnapshot { ConversationSnapshot(kind: kind, name: name, members: members) }
}

extension ConversationUpdated {
  private enum CodingKeys: String, CodingKey { case conversationId, kind, name, members }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      conversationId: try fields.decode(String.self, forKey: .conversationId),
      kind: try fields.decode(ConversationKind.self, forKey: .kind), name: try fields.cosmeticText(.name),
      members: try fields.decode([Member].self, forKey: .members))
  }
}

/// `conversation.member_added`, `conversation.member_removed`.
public struct MembershipChange: Codable, Sendable, Equatable {
  /// The conversation.
  public var conversationId: String
  /// The person who joined or left.
  public var userId: String
  /// Their name. If absent, the user id is shown.
  public var displayName: String?
  /// The URL of their picture.
  public var avatarUrl: String?

  /// The event's fields.
  public init(conversationId: String, userId: String, displayName: String? = nil, avatarUrl: String? = nil) {
    self.conversationId = conversationId
    self.userId = userId
    self.displayName = displayName
    self.avatarUrl = avatarUrl
  }
}

extension MembershipChange {
  private enum CodingKeys: String, CodingKey { case conversationId, userId, displayName, avatarUrl }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      conversationId: try fields.decode(String.self, forKey: .conversationId),
      userId: try fields.decode(String.self, forKey: .userId),
      displayName: try fields.cosmeticText(.displayName), avatarUrl: try fields.cosmeticText(.avatarUrl))
  }
}

/// `message.created`.
public struct MessageCreated: Codable, Sendable, Equatable {
  /// The conversation.
  public var conversationId: String
  /// The message.
  public var messageId: String
  /// The sender, who must take part in the conversation (M2).
  public var senderId: String
  /// The text; nil where the message has attachments alone.
  public var text: String?
  /// The attachments, in the sender's order.
  public var attachments: [Attachment]?
  /// The id of the message that this one replies to.
  public var replyTo: String?
  /// The user ids that it mentions.
  public var mentions: [String]?
  /// The sender's name and picture.
  public var sender: SenderProfile?
  /// The conversation's current state, as in `conversation.updated`.
  public var conversation: ConversationSnapshot?

  /// The event's fields.
  public init(
    conversationId: String, messageId: String, senderId: String, text: String? = nil,
    attachments: [Attachment]? = nil, replyTo: String? = nil, mentions: [String]? = nil,
    sender: SenderProfile? = nil, conversation: ConversationSnapshot? = nil
  ) {
    self.conversationId = conversationId
    self.messageId = messageId
    self.senderId = senderId
    self.text = text
    self.attachments = attachments
    self.replyTo = replyTo
    self.mentions = mentions
    self.sender = sender
    self.conversation = conversation
  }
}

/// `message.edited`, `message.deleted`.
public struct MessageRevision: Codable, Sendable, Equatable {
  /// The conversation.
  public var conversationId: String
  /// The message.
  public var messageId: String
  /// The new text; absent in `message.deleted`.
  public var text: String?

  /// The event's fields.
  public init(conversationId: String, messageId: String, text: String? = nil) {
    self.conversationId = conversationId
    self.messageId = messageId
    self.text = text
  }
}
