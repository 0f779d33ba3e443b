/// A record of `nudge.pushes`.
public typealias PushEvent = DerivedEvent<PushEventBody>

/// A push, the cancellation of pushes, or an answer that is handed over.
public enum PushEventBody: EventBody {
  /// A push to one or more devices of a person.
  case push(Push)
  /// Pushes that wait end as `cancelled`.
  case cancelled(PushCancelled)
  /// A former owner of the task hands over the answer to a request.
  case answered(PushAnswered)

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [.push, .pushCancelled, .pushAnswered]

  /// The type's name on the wire.
  public var type: EventType {
    switch self {
    case .push: .push
    case .cancelled: .pushCancelled
    case .answered: .pushAnswered
    }
  }

  /// The person, the record's key.
  public var userId: String {
    switch self {
    case .push(let fields): fields.userId
    case .cancelled(let fields): fields.userId
    case .answered(let fields): fields.userId
    }
  }

  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: EventType, from decoder: any Decoder) throws {
    switch type {
    case .push:
      let push = try Push(from: decoder)
      for (index, target) in push.targets.enumerated() { try target.requireAddress(in: "targets[\(index)].") }
      self = .push(push)
    case .pushCancelled:
      let cancelled = try PushCancelled(from: decoder)
      try cancelled.target?.requireAddress(in: "target.")
      self = .cancelled(cancelled)
    case .pushAnswered: self = .answered(try PushAnswered(from: decoder))
    default: throw EventFormatError.unknownType(type.rawValue, of: Self.types)
    }
  }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws {
    switch self {
    case .push(let fields): try fields.encode(to: encoder)
    case .cancelled(let fields): try fields.encode(to: encoder)
    case .answered(let fields): try fields.encode(to: encoder)
    }
  }
}

/// A device a push goes to.
public struct PushTarget: Codable, Sendable, Equatable, PushAddressed {
  /// The device.
  public var deviceId: String
  /// FCM's registration token; nil: the device has a subscription. Never logged (T4).
  public var token: String?
  /// The subscription in place of a token.
  public var webPush: WebPushSubscription?
  /// Keys beside a token: texts go sealed.
  public var sealing: SealingKeys?
  /// The claim's version, echoed when the push service says that the device is gone (T3).
  public var version: Int64
  /// The system it runs.
  public var platform: Platform
  /// The FCM project of the token; nil: the dispatcher's own.
  public var projectId: String?
  /// When the device last gave a sign of life, to some seconds; nil: its app does not report what arrives, or it is of another
  /// system (P12).
  public var seenAt: Milliseconds?
  /// true: the app draws notifications itself, from data alone; only of Android devices.
  public var renders: Bool?
  /// true: the app was in the foreground when the push was decided; only of browsers, which show something themselves for a push that
  /// shows nothing.
  public var foreground: Bool?
  /// The push is not sent to the device before this time, by the wall clock: its stream may show the message first; nil: at once.
  public var notBefore: Milliseconds?

  /// A target.
  public init(
    deviceId: String, token: String? = nil, webPush: WebPushSubscription? = nil, sealing: SealingKeys? = nil,
    version: Int64, platform: Platform, projectId: String? = nil,
    seenAt: Milliseconds? = nil, renders: Bool? = nil, foreground: Bool? = nil, notBefore: Milliseconds? = nil
  ) {
    self.deviceId = deviceId
    self.token = token
    self.webPush = webPush
    self.sealing = sealing
    self.version = version
    self.platform = platform
    self.projectId = projectId
    self.seenAt = seenAt
    self.renders = renders
    self.foreground = foreground
    self.notBefore = notBefore
  }
}

/// The names that a phone shows of a message's sender and conversation, apart from the title that joins them.
public struct PushConversation: Codable, Sendable, Equatable {
  /// The sender's name.
  public var senderName: String
  /// Direct or group.
  public var kind: ConversationKind
  /// The group's name; nil: the conversation is direct, or the group has none.
  public var name: String?

  /// Names.
  public init(senderName: String, kind: ConversationKind, name: String? = nil) {
    self.senderName = senderName
    self.kind = kind
    self.name = name
  }
}

/// `push`.
public struct Push: Codable, Sendable, Equatable {
  /// The purpose of a push.
  public enum Kind: String, NamedValue {
    /// A message.
    case message
    /// The badge alone.
    case badge
    /// A conversation was read elsewhere.
    case read
    /// A message was taken back: the device removes its notification.
    case deleted
    // New cases go last: rows of state hold a kind by its place.
    /// A catch-up: what was held back, in one notification.
    case digest
    /// A message that neither arrived nor was read: a webhook is told, and no device.
    case escalation
  }
  /// A function of person, kind and cause alone: deciding again gives the same.
  public var pushId: String
  /// Its purpose.
  public var kind: Kind
  /// The person.
  public var userId: String
  /// The devices: at least one, and none of the kind `escalation`.
  public var targets: [PushTarget]
  /// Title; nil: nothing is shown.
  public var title: String?
  /// Body; nil: nothing is shown.
  public var body: String?
  /// A picture that came with the message.
  public var imageUrl: String?
  /// The sender's picture.
  public var avatarUrl: String?
  /// How much it matters.
  public var priority: Priority
  /// How it appears.
  public var presentation: Presentation
  /// true: the message was edited. It replaces what is shown of it, without a sound; where the first push of the message
  /// still waits, in its place and as that one would have appeared.
  public var replaces: Bool?
  /// true: the message mentions the person.
  public var mentioned: Bool?
  /// true: the message answers one of the person's.
  public var answered: Bool?
  /// The person's quiet hours, where the push is not sent in them (D11); nil: it may be sent at any time.
  public var quietHours: QuietHours?
  /// When the message was written, where the event has another time: of an edit the first version, of `read` the last message
  /// read.
  public var sentAt: Milliseconds?
  /// Whether smart analysis judged it (device type `smart_notification`), or a level or a fallback let it through without
  /// (`new_message`).
  public var reason: DecisionReason?
  /// The badge to show.
  public var badge: Int
  /// The conversation.
  public var conversationId: String?
  /// The message.
  public var messageId: String?
  /// The sender.
  public var senderId: String?
  /// Names of sender and conversation, by which phones show a conversation; nil: the push shows no message, or an edit.
  public var conversation: PushConversation?
  /// How many messages of the conversation the person has not read, this one included; of a push that appears silently.
  public var unread: Int?
  /// The language of its texts, as the first part of a BCP 47 tag; nil: English.
  public var language: String?
  /// The content of a catch-up; nil unless `kind` is `digest`.
  public var digest: Digest?
  /// Why the message is said again; nil: it is said for the first time.
  public var escalation: Escalation?
  /// How long FCM keeps it for a device that is off, in seconds, 0 to 2,419,200.
  public var ttlSeconds: Int
  /// Freshness: not sent for the first time after this.
  public var expiresAt: Milliseconds
  /// When it was decided.
  public var decidedAt: Milliseconds

  /// A push.
  public init(
    pushId: String, kind: Kind, userId: String, targets: [PushTarget], title: String? = nil, body: String? = nil,
    imageUrl: String? = nil, avatarUrl: String? = nil, priority: Priority, presentation: Presentation,
    replaces: Bool? = nil, mentioned: Bool? = nil, answered: Bool? = nil, quietHours: QuietHours? = nil,
    sentAt: Milliseconds? = nil, reason: DecisionReason? = nil, badge: Int, conversationId: String? = nil,
    messageId: String? = nil, senderId: String? = nil, conversation: PushConversation? = nil, unread: Int? = nil,
    language: String? = nil, digest: Digest? = nil, escalation: Escalation? = nil, ttlSeconds: Int,
    expiresAt: Milliseconds, decidedAt: Milliseconds
  ) {
    self.pushId = pushId
    self.kind = kind
    self.userId = userId
    self.targets = targets
    self.title = title
    self.body = body
    self.imageUrl = imageUrl
    self.avatarUrl = avatarUrl
    self.priority = priority
    self.presentation = presentation
    self.replaces = replaces
    self.mentioned = mentioned
    self.answered = answered
    self.quietHours = quietHours
    self.sentAt = sentAt
    self.reason = reason
    self.badge = badge
    self.conversationId = conversationId
    self.messageId = messageId
    self.senderId = senderId
    self.conversation = conversation
    self.unread = unread
    self.language = language
    self.digest = digest
    self.escalation = escalation
    self.ttlSeconds = ttlSeconds
    self.expiresAt = expiresAt
    self.decidedAt = decidedAt
  }
}

/// `push.cancelled`: names a device, a message, a conversation, a sender, a kind of conversations or a replay. Its pushes that wait end
/// and are not sent. Or it names none of these, and only changes what waits for the person.
///
/// Named by message or conversation, pushes of the kinds `message` and `badge` end; `read` and `deleted` go on, because
/// they take something off the screen.
public struct PushCancelled: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// Cancels all pushes that wait for this device. With `messageId`: those of the message, which the device has shown by its stream.
  public var deviceId: String?
  /// Cancels all pushes that wait for this message.
  public var messageId: String?
  /// Cancels all pushes that wait for this conversation.
  public var conversationId: String?
  /// With `conversationId`: only messages written up to this time, in milliseconds since the epoch. If `messageId` is
  /// present, it is the only message of that millisecond. Absent: all.
  public var sentUpTo: Milliseconds?
  /// Only pushes of this kind.
  public var kind: Push.Kind?
  /// true: pushes of messages that mention the person go on.
  public var exceptMentions: Bool?
  /// With `deviceId`: the token the person no longer has there, by its hash. Nothing more is sent with it, also of what
  /// comes later, unless it is registered again.
  public var tokenHash: String?
  /// With `tokenHash`: the claim's version that ended; a later one is a new registration.
  public var version: Int64?
  /// The badge now. Pushes that still wait for the person show it.
  public var badge: Int?
  /// true: the person was deleted. All that waits for them is cancelled, and what is kept of their devices is erased (D16).
  public var erased: Bool?
  /// All that waits for the person by this replay, which was stopped.
  public var replayId: String?
  /// Cancels all messages of this sender that wait.
  public var senderId: String?
  /// Only, or else all, messages of conversations of this kind.
  public var conversationKind: ConversationKind?
  /// With `conversationKind`: conversations that are not meant, by `Digest.key` of their ids.
  public var exceptConversations: [String]?
  /// true: messages that mention the person, answer them or have high priority go on.
  public var exceptAddressed: Bool?
  /// false: pushes that still wait for the person show no text of a message.
  public var showPreviews: Bool?
  /// The person's quiet hours now. Pushes that still wait, but those of high priority, are not sent in them.
  public var quietHours: QuietHours?
  /// With `deviceId`: nothing is cancelled; what waits for the device goes to this registration of it.
  public var target: PushTarget?

  /// The event's fields.
  public init(
    userId: String, deviceId: String? = nil, messageId: String? = nil, conversationId: String? = nil,
    sentUpTo: Milliseconds? = nil, kind: Push.Kind? = nil, exceptMentions: Bool? = nil, tokenHash: String? = nil,
    version: Int64? = nil, badge: Int? = nil, erased: Bool? = nil, replayId: String? = nil, senderId: String? = nil,
    conversationKind: ConversationKind? = nil, exceptConversations: [String]? = nil, exceptAddressed: Bool? = nil,
    showPreviews: Bool? = nil, quietHours: QuietHours? = nil, target: PushTarget? = nil
  ) {
    self.userId = userId
    self.deviceId = deviceId
    self.messageId = messageId
    self.conversationId = conversationId
    self.sentUpTo = sentUpTo
    self.kind = kind
    self.exceptMentions = exceptMentions
    self.tokenHash = tokenHash
    self.version = version
    self.badge = badge
    self.erased = erased
    self.replayId = replayId
    self.senderId = senderId
    self.conversationKind = conversationKind
    self.exceptConversations = exceptConversations
    self.exceptAddressed = exceptAddressed
    self.showPreviews = showPreviews
    self.quietHours = quietHours
    self.target = target
  }
}

/// The history of a message that is said again because it neither arrived nor was read.
public struct Escalation: Codable, Sendable, Equatable {
  /// When the message was pushed first, in milliseconds since the epoch.
  public var pushedAt: Milliseconds
  /// When it was pushed once more; nil: this push is that one, or no device could be reached.
  public var pushedAgainAt: Milliseconds?
  /// The name shown for who wrote it. Only of the kind `escalation`.
  public var senderName: String?
  /// The group's name; nil: the conversation is direct, or the group has none. Only of the kind `escalation`.
  public var groupName: String?

  /// A history.
  public init(
    pushedAt: Milliseconds, pushedAgainAt: Milliseconds? = nil, senderName: String? = nil, groupName: String? = nil
  ) {
    self.pushedAt = pushedAt
    self.pushedAgainAt = pushedAgainAt
    self.senderName = senderName
    self.groupName = groupName
  }
}
