/// A record of `nudge.pushes`.
public typealias PushEvent = DerivedEvent<PushEventBody>

/// A push, a cancellation, or an answer that another dispatcher hands over.
public enum PushEventBody: EventBody {
  /// A push to one or more devices of a person.
  case push(Push)
  /// Waiting pushes to cancel, or to change.
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
  /// FCM's registration token; absent for a device with a subscription. Never log it (T4).
  public var token: String?
  /// The device's subscription; absent for a device with a token.
  public var webPush: WebPushSubscription?
  /// Keys of a device with a token. Texts are encrypted for them.
  public var sealing: SealingKeys?
  /// The claim's version. A report that the device is gone returns it (T3).
  public var version: Int64
  /// The device's system.
  public var platform: Platform
  /// The FCM project of the token; absent for the dispatcher's own.
  public var projectId: String?
  /// The device's last sign of life, to some seconds (P12). Absent if the app does not report pushes or the device is
  /// not Android.
  public var seenAt: Milliseconds?
  /// true if the app draws notifications itself, from data messages. Only Android devices have it.
  public var renders: Bool?
  /// true if the app was in the foreground at the decision. Only browsers have it, because they show a notification of
  /// their own for a push that shows nothing.
  public var foreground: Bool?
  /// The earliest time to send to the device, by the wall clock, because the device's stream may show the message
  /// first. Absent to send at once.
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

/// The names of a message's sender and conversation, separate from the title that combines them.
public struct PushConversation: Codable, Sendable, Equatable {
  /// The sender's name.
  public var senderName: String
  /// Direct or group.
  public var kind: ConversationKind
  /// The group's name; absent for a direct conversation or a group without a name.
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
    /// A badge without a message.
    case badge
    /// A conversation was read on another device.
    case read
    /// A message was deleted, so the device removes its notification.
    case deleted
    // Add new cases at the end: rows of state store a kind as its index.
    /// A catch-up: held-back messages in one notification.
    case digest
    /// A message that neither arrived nor was read. It goes to a webhook, not to a device.
    case escalation
  }
  /// The push's id. It depends only on person, kind and cause, so deciding again gives the same id.
  public var pushId: String
  /// Its purpose.
  public var kind: Kind
  /// The person.
  public var userId: String
  /// The devices: at least one, but none for the kind `escalation`.
  public var targets: [PushTarget]
  /// The title; absent if nothing is shown.
  public var title: String?
  /// The text; absent if nothing is shown.
  public var body: String?
  /// The URL of a picture in the message.
  public var imageUrl: String?
  /// The URL of the sender's picture.
  public var avatarUrl: String?
  /// How much the message matters.
  public var priority: Priority
  /// How the notification appears.
  public var presentation: Presentation
  /// true if the message was edited. The push replaces what is shown of the message, without a sound. If the message's
  /// first push still waits, this push takes its place and its presentation.
  public var replaces: Bool?
  /// true if the message mentions the person.
  public var mentioned: Bool?
  /// true if the message replies to one of the person's.
  public var answered: Bool?
  /// true if the message's text says that it cannot wait. Quiet hours, also later ones, do not hold it back (D2).
  public var urgent: Bool?
  /// The person's quiet hours, in which the push is not sent (D11). Absent if it may be sent at any time.
  public var quietHours: QuietHours?
  /// When the message was written, if the event has another time: for an edit the message's first version, for `read`
  /// the last message read.
  public var sentAt: Milliseconds?
  /// Why the message notifies. Smart analysis gives the device the type `smart_notification`; a level or a fallback
  /// gives it `new_message`.
  public var reason: DecisionReason?
  /// The badge to show.
  public var badge: Int
  /// The conversation.
  public var conversationId: String?
  /// The message.
  public var messageId: String?
  /// The sender.
  public var senderId: String?
  /// Names of sender and conversation for the phone's conversation notifications. Absent if the push shows no message,
  /// or an edit.
  public var conversation: PushConversation?
  /// How many messages of the conversation the person has not read, including this one. Only silent pushes have it.
  public var unread: Int?
  /// The language of the texts, as the first part of a BCP 47 tag. Absent for English.
  public var language: String?
  /// The content of a catch-up; absent unless `kind` is `digest`.
  public var digest: Digest?
  /// The message's history if it is pushed again or escalated; absent for a first push.
  public var escalation: Escalation?
  /// How long FCM stores the push for a device that is off, in seconds, 0 to 2,419,200.
  public var ttlSeconds: Int
  /// The end of freshness: no first attempt is made later.
  public var expiresAt: Milliseconds
  /// When it was decided.
  public var decidedAt: Milliseconds

  /// A push.
  public init(
    pushId: String, kind: Kind, userId: String, targets: [PushTarget], title: String? = nil, body: String? = nil,
    imageUrl: String? = nil, avatarUrl: String? = nil, priority: Priority, presentation: Presentation,
    replaces: Bool? = nil, mentioned: Bool? = nil, answered: Bool? = nil, urgent: Bool? = nil,
    quietHours: QuietHours? = nil,
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
    self.urgent = urgent
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

extension Push {
  /// Whether its message mentions the person or answers them.
  package var isMeant: Bool { mentioned == true || answered == true }
}

/// `push.cancelled`: ends waiting pushes without sending them. It names what they belong to: a device, a message, a
/// conversation, a sender, a kind of conversation or a replay. If it names none, it only changes the person's waiting
/// pushes.
///
/// A message or conversation ends pushes of the kinds `message` and `badge`. Pushes of the kinds `read` and `deleted`
/// continue, because they remove something from the screen.
public struct PushCancelled: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// Cancels the device's waiting pushes. With `messageId` it cancels only those of the message, which the device has
  /// shown through its stream.
  public var deviceId: String?
  /// Cancels the message's waiting pushes.
  public var messageId: String?
  /// Cancels the conversation's waiting pushes.
  public var conversationId: String?
  /// With `conversationId`: cancels only messages written until this time, in milliseconds since the epoch. Of the
  /// messages of exactly that millisecond it cancels only `messageId`, if present. Absent to cancel all.
  public var sentUpTo: Milliseconds?
  /// Cancels only pushes of this kind.
  public var kind: Push.Kind?
  /// true to keep pushes of messages that mention the person or answer them.
  public var exceptMentions: Bool?
  /// With `deviceId`: the hash of a token that the person no longer has there. Nothing more is sent to the token,
  /// including later pushes, until it is registered again.
  public var tokenHash: String?
  /// With `tokenHash`: the claim's version that ended. A higher version is a new registration.
  public var version: Int64?
  /// The current badge. The person's waiting pushes show it.
  public var badge: Int?
  /// true if the person was deleted. All their waiting pushes are cancelled, and what is kept of their devices is
  /// erased (D16).
  public var erased: Bool?
  /// Cancels the person's waiting pushes of this replay, which was stopped.
  public var replayId: String?
  /// Cancels the sender's waiting messages.
  public var senderId: String?
  /// Limits the cancellation to messages of this kind of conversation. Without other criteria it cancels all of them.
  public var conversationKind: ConversationKind?
  /// With `conversationKind`: conversations to keep, as `Digest.key` of their ids.
  public var exceptConversations: [String]?
  /// true to keep messages that mention the person, answer them or have high priority.
  public var exceptAddressed: Bool?
  /// false to remove message texts from the person's waiting pushes.
  public var showPreviews: Bool?
  /// The person's current quiet hours. Waiting pushes of messages that are not urgent are not sent in them.
  public var quietHours: QuietHours?
  /// With `deviceId`: nothing is cancelled. The device's waiting pushes go to this registration of it.
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

/// The history of a message that is pushed again or escalated because it neither arrived nor was read.
public struct Escalation: Codable, Sendable, Equatable {
  /// When the message was first pushed, in milliseconds since the epoch.
  public var pushedAt: Milliseconds
  /// When it was pushed again. Absent if this push is the second one, or if no device could be reached.
  public var pushedAgainAt: Milliseconds?
  /// The sender's name. Only the kind `escalation` has it.
  public var senderName: String?
  /// The group's name; absent for a direct conversation or a group without a name. Only the kind `escalation` has it.
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
