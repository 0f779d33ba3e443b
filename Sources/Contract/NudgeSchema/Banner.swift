/// A record of `nudge.banners`.
public typealias BannerEvent = DerivedEvent<BannerEventBody>

/// A record that a real-time gateway shows inside the app.
public enum BannerEventBody: EventBody {
  /// A message arrived in another conversation than the open one (D9).
  case banner(Banner)
  /// The service has something to say to the person (D4).
  case notice(Notice)
  /// The unread numbers have changed (D6).
  case badge(BadgeChange)
  /// The person has read a conversation (D7).
  case read(ConversationRead)
  /// A message has another text (D13).
  case updated(MessageUpdate)
  /// A message was taken back (D13).
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
  /// The push of the same message, by which a device answers that it has shown the banner; absent where no push goes out now.
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
