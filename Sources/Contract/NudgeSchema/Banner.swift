/// A record of `nudge.banners`.
public typealias BannerEvent = DerivedEvent<BannerEventBody>

/// A record for an open app, delivered by a real-time gateway.
public enum BannerEventBody: EventBody {
  /// A message arrived in another conversation than the open one (D9).
  case banner(Banner)
  /// A notice of the service to the person (D4).
  case notice(Notice)
  /// The unread numbers have changed (D6).
  case badge(BadgeChange)
  /// The person has read a conversation (D7).
  case read(ConversationRead)
  /// A message's text was edited (D13).
  case updated(MessageUpdate)
  /// A message was deleted (D13).
  case withdrawn(MessageRemoval)
  /// The answer to a question about the person, for the instance of the HTTP API that asked.
  case answered(PersonAnswered)

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [
    .banner, .notice, .badge, .read, .messageUpdated, .messageWithdrawn, .personAnswered,
  ]

  /// The type's name on the wire.
  public var type: EventType {
    switch self {
    case .banner: .banner
    case .notice: .notice
    case .badge: .badge
    case .read: .read
    case .updated: .messageUpdated
    case .withdrawn: .messageWithdrawn
    case .answered: .personAnswered
    }
  }

  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: EventType, from decoder: any Decoder) throws {
    switch type {
    case .banner: self = .banner(try Banner(from: decoder))
    case .notice: self = .notice(try Notice(from: decoder))
    case .badge: self = .badge(try BadgeChange(from: decoder))
    case .read: self = .read(try ConversationRead(from: decoder))
    case .messageUpdated: self = .updated(try MessageUpdate(from: decoder))
    case .messageWithdrawn: self = .withdrawn(try MessageRemoval(from: decoder))
    case .personAnswered: self = .answered(try PersonAnswered(from: decoder))
    default: throw EventFormatError.unknownType(type.rawValue, of: Self.types)
    }
  }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws {
    switch self {
    case .banner(let fields): try fields.encode(to: encoder)
    case .notice(let fields): try fields.encode(to: encoder)
    case .badge(let fields): try fields.encode(to: encoder)
    case .read(let fields): try fields.encode(to: encoder)
    case .updated(let fields): try fields.encode(to: encoder)
    case .withdrawn(let fields): try fields.encode(to: encoder)
    case .answered(let fields): try fields.encode(to: encoder)
    }
  }
}

/// `banner`.
public struct Banner: Codable, Sendable, Equatable {
  /// Grapheme clusters of the text a banner shows.
  public static let previewLength = 50

  /// The person.
  public var userId: String
  /// The conversation.
  public var conversationId: String
  /// The message.
  public var messageId: String
  /// The sender.
  public var senderId: String
  /// Their name.
  public var senderName: String
  /// Their picture.
  public var avatarUrl: String?
  /// The first `previewLength` characters.
  public var preview: String
  /// The group's name.
  public var groupName: String?
  /// The push of the same message, to which a device refers when it has shown the banner. Absent if no push goes out
  /// with it.
  public var pushId: String?

  /// The event's fields.
  public init(
    userId: String, conversationId: String, messageId: String, senderId: String, senderName: String,
    avatarUrl: String? = nil, preview: String, groupName: String? = nil, pushId: String? = nil
  ) {
    self.userId = userId
    self.conversationId = conversationId
    self.messageId = messageId
    self.senderId = senderId
    self.senderName = senderName
    self.avatarUrl = avatarUrl
    self.preview = preview
    self.groupName = groupName
    self.pushId = pushId
  }
}

/// `notice`.
public struct Notice: Codable, Sendable, Equatable {
  /// The subject of the notice.
  public enum Code: String, NamedValue {
    /// The hourly analyses are used up.
    case analysisLimit = "analysis_limit"
  }
  /// The person.
  public var userId: String
  /// The subject of the notice.
  public var code: Code
  /// The person's limit.
  public var limit: Int
  /// The fallback that applies now.
  public var fallback: AnalysisFallback
  /// The text to show, in the person's language.
  public var text: String

  /// The event's fields.
  public init(userId: String, code: Code, limit: Int, fallback: AnalysisFallback, text: String) {
    self.userId = userId
    self.code = code
    self.limit = limit
    self.fallback = fallback
    self.text = text
  }
}

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
  /// The last message read. Absent if the person read everything written until `sentAt`.
  public var messageId: String?
  /// When that message was written. Later messages stay unread.
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

// A question to the pipeline and its answer (decision 185): what GET /v1/me asks.

/// `person.asked`: somebody asks what is known of the person. It goes the way of the person's events, so the answer knows all that came before
/// it. On `user.events` it has the header `RecordHeader.question`.
public struct PersonAsked: EventBody, Codable {
  /// In milliseconds. An older question gets no answer, because its client has stopped waiting.
  public static let lifetime: Milliseconds = 60_000

  /// A device that has just registered or signed out. Its change reaches the timeline through the device claims,
  /// possibly after the question.
  public struct Device: Codable, Sendable, Equatable {
    /// The device.
    public var deviceId: String
    /// The stamp of its event, in last-writer-wins order.
    public var stamp: EventStamp
    /// true if the device registered, false if it signed out.
    public var isRegistered: Bool

    /// A device and its last event.
    public init(deviceId: String, stamp: EventStamp, isRegistered: Bool) {
      self.deviceId = deviceId
      self.stamp = stamp
      self.isRegistered = isRegistered
    }
  }

  /// The person.
  public var userId: String
  /// The device whose registration or sign-out is recent; absent if there is none.
  public var device: Device?

  /// The event's fields.
  public init(userId: String, device: Device? = nil) {
    self.userId = userId
    self.device = device
  }

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [.personAsked]
  /// The type's name on the wire.
  public var type: EventType { .personAsked }
}

/// `person.answered`: what is known of a person.
public struct PersonAnswered: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The id of the question.
  public var questionId: String
  /// The person as JSON, as `GET /v1/users/{id}` returns it. Absent if nothing is known of them or they were deleted.
  public var person: String?
  /// Whether the answer does not yet reflect the question's device.
  public var isBehind: Bool

  /// The event's fields.
  public init(userId: String, questionId: String, person: String?, isBehind: Bool) {
    self.userId = userId
    self.questionId = questionId
    self.person = person
    self.isBehind = isBehind
  }
}
