/// A record of `nudge.timeline`: everything that concerns a person, in order.
public typealias TimelineEvent = DerivedEvent<TimelineEventBody>

/// An event on a person's timeline.
public enum TimelineEventBody: EventBody {
  /// Activity, reads, preferences, feedback and reports, as they came. Changes of devices come through the claims.
  case user(UserEventBody)
  /// A message, with up to 500 people who may be notified of it.
  case candidate(MessageCandidate)
  /// The person's own message. It means that they have read the conversation up to it (D1).
  case sent(MessageSent)
  /// A candidate to decide again. It notifies only people who were not notified before.
  case redecide(MessageCandidate)
  /// A replay was stopped and cannot be resumed. Its candidates that are not decided yet notify nobody.
  case replayStopped(ReplayStopped)
  /// A timer of the analyzer is due.
  case timerFired(TimerFired)
  /// A message was edited or deleted, or the person left the conversation.
  case withdrawn(MessageWithdrawn)
  /// The person has this device (T2).
  case deviceGained(DeviceGained)
  /// The person no longer has this device.
  case deviceLost(DeviceLost)
  /// The push service no longer knows the device's token or subscription (T3).
  case deviceInvalidated(DeviceInvalidated)
  /// A message was not sent to a device in time (D18).
  case pushMissed(PushMissed)
  /// A question about what is known of the person.
  case asked(PersonAsked)

  /// User events that reach the timeline as they came.
  static let userTypes: [EventType] = [
    .userActivity, .messageRead, .preferencesUpdated, .feedbackSubmitted, .notificationReceived,
    .notificationOpened, .notificationDismissed, .userDeleted,
  ]

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] =
    userTypes + [
      .messageCandidate, .messageSent, .candidateRedecide, .replayStopped, .timerFired, .messageWithdrawn,
      .deviceRegistered, .deviceUnregistered, .deviceInvalidated, .pushMissed, .personAsked,
    ]

  /// The type's name on the wire.
  public var type: EventType {
    switch self {
    case .user(let body): body.type
    case .candidate: .messageCandidate
    case .sent: .messageSent
    case .redecide: .candidateRedecide
    case .replayStopped: .replayStopped
    case .timerFired: .timerFired
    case .withdrawn: .messageWithdrawn
    case .deviceGained: .deviceRegistered
    case .deviceLost: .deviceUnregistered
    case .deviceInvalidated: .deviceInvalidated
    case .pushMissed: .pushMissed
    case .asked: .personAsked
    }
  }

  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: EventType, from decoder: any Decoder) throws {
    switch type {
    case .messageCandidate: self = .candidate(try MessageCandidate(from: decoder))
    case .messageSent: self = .sent(try MessageSent(from: decoder))
    case .candidateRedecide: self = .redecide(try MessageCandidate(from: decoder))
    case .replayStopped: self = .replayStopped(try ReplayStopped(from: decoder))
    case .timerFired: self = .timerFired(try TimerFired(from: decoder))
    case .messageWithdrawn: self = .withdrawn(try MessageWithdrawn(from: decoder))
    case .deviceRegistered:
      let gained = try DeviceGained(from: decoder)
      try gained.requireAddress()
      self = .deviceGained(gained)
    case .deviceUnregistered: self = .deviceLost(try DeviceLost(from: decoder))
    case .deviceInvalidated: self = .deviceInvalidated(try DeviceInvalidated(from: decoder))
    case .pushMissed: self = .pushMissed(try PushMissed(from: decoder))
    case .personAsked: self = .asked(try PersonAsked(from: decoder))
    default:
      guard Self.userTypes.contains(type) else { throw EventFormatError.unknownType(type.rawValue, of: Self.types) }
      self = .user(try UserEventBody(type: type, from: decoder))
    }
  }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws {
    switch self {
    case .user(let body):
      // These types have other fields on this topic. Written with the wrong fields, they could not be read.
      guard Self.userTypes.contains(body.type) else {
        throw EncodingError.invalidValue(
          body.type,
          .init(codingPath: encoder.codingPath, debugDescription: "devices reach the timeline by way of the claims"))
      }
      try body.encodeFields(to: encoder)
    case .candidate(let fields), .redecide(let fields): try fields.encode(to: encoder)
    case .sent(let fields): try fields.encode(to: encoder)
    case .replayStopped(let fields): try fields.encode(to: encoder)
    case .timerFired(let fields): try fields.encode(to: encoder)
    case .withdrawn(let fields): try fields.encode(to: encoder)
    case .deviceGained(let fields): try fields.encode(to: encoder)
    case .deviceLost(let fields): try fields.encode(to: encoder)
    case .deviceInvalidated(let fields): try fields.encode(to: encoder)
    case .pushMissed(let fields): try fields.encode(to: encoder)
    case .asked(let fields): try fields.encode(to: encoder)
    }
  }
}

/// One recipient's part in the conversation. Ingest computes it, because it sees the whole conversation.
public struct RecipientContext: Codable, Sendable, Equatable {
  /// Whether the message mentions the person.
  public var mentioned: Bool
  /// Whether the text contains the person's display name as a word.
  public var named: Bool
  /// Whether the message replies to one of the person's.
  public var answered: Bool
  /// When the person last wrote in the conversation; absent if they are not among the last speakers.
  public var lastSpokeAt: Milliseconds?
  /// Messages of others since then; absent if the person is not among the last speakers.
  public var messagesSince: Int?
  /// How often sender and recipient took turns among the last speakers.
  public var exchange: Int
  /// Base64 of `TalkReading.personFeatures`: the person's features in the last messages, for the relevance model.
  /// Absent if the person is not in them, or if the conversation is direct.
  public var features: String?

  /// Whether the message itself addresses the person.
  package var isAddressed: Bool { isMeant || named }

  /// Whether the message mentions the person or answers them, which a mute that excepts mentions lets through.
  package var isMeant: Bool { mentioned || answered }

  /// A context.
  public init(
    mentioned: Bool = false, named: Bool = false, answered: Bool = false, lastSpokeAt: Milliseconds? = nil,
    messagesSince: Int? = nil, exchange: Int = 0, features: String? = nil
  ) {
    self.mentioned = mentioned
    self.named = named
    self.answered = answered
    self.lastSpokeAt = lastSpokeAt
    self.messagesSince = messagesSince
    self.exchange = exchange
    self.features = features
  }
}

/// A person who may be notified of a message.
public struct Recipient: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The person's part in the conversation.
  public var context: RecipientContext

  /// A recipient.
  public init(userId: String, context: RecipientContext) {
    self.userId = userId
    self.context = context
  }
}

/// The conversation of a candidate, with the fields that a notification needs.
public struct CandidateConversation: Codable, Sendable, Equatable {
  /// Direct or group.
  public var kind: ConversationKind
  /// A group's name.
  public var name: String?
  /// Some members of a group without a name, without the sender.
  public var others: [Member]?
  /// How many members the conversation has.
  public var memberCount: Int
  /// How many people wrote the last messages.
  public var activeSpeakers: Int
  /// Base64 of `TalkReading.messageFeatures`: the message's features for the relevance model. Absent if the
  /// conversation is direct.
  public var features: String?

  /// A conversation.
  public init(
    kind: ConversationKind, name: String? = nil, others: [Member]? = nil, memberCount: Int, activeSpeakers: Int,
    features: String? = nil
  ) {
    self.kind = kind
    self.name = name
    self.others = others
    self.memberCount = memberCount
    self.activeSpeakers = activeSpeakers
    self.features = features
  }
}

/// A push that failed on devices of a recipient and is to be made again.
public struct FailedPush: Codable, Sendable, Equatable {
  /// The recipient.
  public var userId: String
  /// The last push of the message. It is made again once; a second request for it is a duplicate.
  public var pushId: String
  /// The devices on which it failed, if another device has the message. Absent if none has it: then it goes to all of
  /// the person's devices.
  public var devices: [String]?
  /// How that push appeared. The new one is at most as prominent.
  public var presentation: Presentation?

  /// A failed push.
  public init(userId: String, pushId: String, devices: [String]? = nil, presentation: Presentation? = nil) {
    self.userId = userId
    self.pushId = pushId
    self.devices = devices
    self.presentation = presentation
  }
}

/// `message.candidate` and `candidate.redecide`: one message, and its recipients on one timeline partition.
public struct MessageCandidate: Codable, Sendable, Equatable {
  /// The most recipients of one record.
  public static let maxRecipients = 500
  /// In `mentions`: all members. The policy says whether that counts as a mention.
  public static let everybody = "*"

  /// The conversation.
  public var conversationId: String
  /// The message.
  public var messageId: String
  /// The sender.
  public var sender: Member
  /// The message's conversation.
  public var conversation: CandidateConversation
  /// The title of a notification (M3).
  public var title: String
  /// The body of a notification (M3). It is cut to a candidate's limit, but not yet to a push's.
  public var body: String
  /// The first attachment.
  public var attachment: Attachment?
  /// The user ids that it mentions; `everybody` stands for all members.
  public var mentions: [String]
  /// The id of the message that it replies to.
  public var replyTo: String?
  /// How far back that message is, if it is not among the last 128. The policy says whether the reply still counts.
  public var answers: AnsweredMessage?
  /// Whether the body contains urgent words that every policy knows; absent if ingest did not check.
  public var urgent: Bool?
  /// The recipients, 1 to `maxRecipients`.
  public var recipients: [Recipient]
  /// true if ingest's memory of event ids does not reach back to this event. It may be a retry of an event that was
  /// processed before (M6), so it notifies nobody and counts for nothing. Absent means false.
  public var possibleRepeat: Bool?
  /// true if the sender's app published the message with the sender's own token, so that the operator does not vouch
  /// for what it names. Absent means false.
  public var byUser: Bool?
  /// The replay that asked for the decision; absent for new messages. `candidate.redecide` always has it.
  public var replayId: String?
  /// For `candidate.redecide`: true to notify people again who were notified before, with a new push. Absent means
  /// false.
  public var forced: Bool?
  /// For `candidate.redecide`: the pushes to make again, at most one for each recipient. Absent if there are none.
  public var failedPushes: [FailedPush]?
  /// For `candidate.redecide`: how old the message may be, in seconds, if that is more than its freshness.
  public var maxAgeSeconds: Int?
  /// For `candidate.redecide`: true to decide as if the message had just arrived, for people who were not its
  /// recipients then. Absent means false.
  public var rederived: Bool?

  /// A candidate.
  public init(
    conversationId: String, messageId: String, sender: Member, conversation: CandidateConversation, title: String,
    body: String, attachment: Attachment? = nil, mentions: [String] = [], replyTo: String? = nil,
    answers: AnsweredMessage? = nil, urgent: Bool? = nil, recipients: [Recipient], possibleRepeat: Bool? = nil,
    byUser: Bool? = nil, replayId: String? = nil, forced: Bool? = nil, failedPushes: [FailedPush]? = nil,
    maxAgeSeconds: Int? = nil, rederived: Bool? = nil
  ) {
    self.conversationId = conversationId
    self.messageId = messageId
    self.sender = sender
    self.conversation = conversation
    self.title = title
    self.body = body
    self.attachment = attachment
    self.mentions = mentions
    self.replyTo = replyTo
    self.answers = answers
    self.urgent = urgent
    self.recipients = recipients
    self.possibleRepeat = possibleRepeat
    self.byUser = byUser
    self.replayId = replayId
    self.forced = forced
    self.failedPushes = failedPushes
    self.maxAgeSeconds = maxAgeSeconds
    self.rederived = rederived
  }
}

/// How far back a message is that another message answers.
public struct AnsweredMessage: Codable, Sendable, Equatable {
  /// About how many messages of the conversation came since.
  public var messagesBack: Int
  /// The latest time at which it may have been written.
  public var sentAt: Milliseconds

  /// A message that far back.
  public init(messagesBack: Int, sentAt: Milliseconds) {
    self.messagesBack = messagesBack
    self.sentAt = sentAt
  }
}

/// `message.sent`.
public struct MessageSent: Codable, Sendable, Equatable {
  /// The sender.
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

/// `replay.stopped`, one record on each timeline partition. The analyzer withdraws the replay's waiting pushes in
/// bounded steps, each a record.
public struct ReplayStopped: Codable, Sendable, Equatable {
  /// The replay.
  public var replayId: String
  /// The last person whose pushes were withdrawn; the analyzer's next step continues after them. Absent in the first
  /// step.
  public var after: String?

  /// The event's fields.
  public init(replayId: String, after: String? = nil) {
    self.replayId = replayId
    self.after = after
  }
}

/// `timer.fired`: a timer of a stage is due.
public struct TimerFired: Codable, Sendable, Equatable {
  /// The timer's name, which the stage chose.
  public var timer: String
  /// When it was due.
  public var dueAt: Milliseconds

  /// The event's fields.
  public init(timer: String, dueAt: Milliseconds) {
    self.timer = timer
    self.dueAt = dueAt
  }
}

/// `message.withdrawn`: pushes and notifications of a message must change or go (D13).
public struct MessageWithdrawn: Codable, Sendable, Equatable {
  /// Why.
  public enum Cause: String, NamedValue {
    /// The message's text was changed.
    case edited
    /// The message was deleted.
    case deleted
    /// The person left the conversation.
    case left
    /// The conversation was deleted, and what is kept of it for the person is erased (D16).
    case conversationDeleted = "conversation_deleted"
  }
  /// The people it affects, 1 to `MessageCandidate.maxRecipients`.
  public var userIds: [String]
  /// The conversation.
  public var conversationId: String
  /// The message; absent for all messages of the conversation.
  public var messageId: String?
  /// Why.
  public var cause: Cause
  /// The new body; only of an edit.
  public var body: String?
  /// The title of a notification (M3); only of an edit. The group's name if the sender of a group's message is not
  /// known any more.
  public var title: String?
  /// The sender; only of an edit. Absent if the message is older than the group's last messages, whose senders are
  /// known.
  public var sender: Member?

  /// The event's fields.
  public init(
    userIds: [String], conversationId: String, messageId: String?, cause: Cause, body: String? = nil,
    title: String? = nil, sender: Member? = nil
  ) {
    self.userIds = userIds
    self.conversationId = conversationId
    self.messageId = messageId
    self.cause = cause
    self.body = body
    self.title = title
    self.sender = sender
  }
}
