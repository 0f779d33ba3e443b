/// A record of `nudge.timeline`: all that concerns a person, in order.
public typealias TimelineEvent = DerivedEvent<TimelineEventBody>

/// An event on a person's timeline.
public enum TimelineEventBody: EventBody {
  /// Activity, reads, preferences, feedback and reports, as they came. (Devices come by way of the claims.)
  case user(UserEventBody)
  /// A message that up to 500 people may be told of.
  case candidate(MessageCandidate)
  /// The person's own message: they have read the conversation up to it (D1).
  case sent(MessageSent)
  /// A candidate to decide again; notifies only who was not notified before.
  case redecide(MessageCandidate)
  /// A replay was stopped and cannot be resumed: its candidates that are not decided yet notify nobody.
  case replayStopped(ReplayStopped)
  /// A timer of the analyzer is due.
  case timerFired(TimerFired)
  /// A message was edited or deleted, or the person left the conversation.
  case withdrawn(MessageWithdrawn)
  /// The person has this device (T2).
  case deviceGained(DeviceGained)
  /// The person has this device no longer.
  case deviceLost(DeviceLost)
  /// The push service does not know the device's token or subscription any more (T3).
  case deviceInvalidated(DeviceInvalidated)
  /// A message was not sent to a device in time (D18).
  case pushMissed(PushMissed)
  /// Somebody asks what is known of the person.
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
      // On this topic these types have other fields: written so, nobody could read it.
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

/// One recipient's part in the conversation, computed by ingest, which sees all of it.
public struct RecipientContext: Codable, Sendable, Equatable {
  /// The message's mentions name the person.
  public var mentioned: Bool
  /// The text contains the person's display name as a word.
  public var named: Bool
  /// The message is a reply to one of the person's.
  public var answered: Bool
  /// When the person last wrote in the conversation; nil: not among the last speakers.
  public var lastSpokeAt: Milliseconds?
  /// Messages of others since then.
  public var messagesSince: Int?
  /// Turns of the last speakers in which sender and recipient spoke one after the other.
  public var exchange: Int
  /// Features of the person in the last messages, for the relevance model: base64 of `TalkReading.personFeatures`. nil: the
  /// person is not in them, or the conversation is direct.
  public var features: String?

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

/// Somebody a message may be for.
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

/// The conversation of a candidate, as far as a notification needs it.
public struct CandidateConversation: Codable, Sendable, Equatable {
  /// Direct or group.
  public var kind: ConversationKind
  /// A group's name.
  public var name: String?
  /// Some members of a group without a name, not the sender.
  public var others: [Member]?
  /// How many take part.
  public var memberCount: Int
  /// How many different people wrote the last messages.
  public var activeSpeakers: Int
  /// Features of the message for the relevance model: base64 of `TalkReading.messageFeatures`. nil: the conversation is direct.
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

/// A push of a message that failed on devices of a recipient, and is to be made again.
public struct FailedPush: Codable, Sendable, Equatable {
  /// The recipient.
  public var userId: String
  /// The last push of the message. A push is made again once: what names it a second time is a duplicate.
  public var pushId: String
  /// The devices it failed on, where another one has the message. nil: no device has it, and all of the person's get it.
  public var devices: [String]?
  /// How that push appeared. The new one appears in no stronger way.
  public var presentation: Presentation?

  /// A failed push.
  public init(userId: String, pushId: String, devices: [String]? = nil, presentation: Presentation? = nil) {
    self.userId = userId
    self.pushId = pushId
    self.devices = devices
    self.presentation = presentation
  }
}

/// `message.candidate` and `candidate.redecide`: the message once, and the recipients of one timeline partition.
public struct MessageCandidate: Codable, Sendable, Equatable {
  /// Recipients one record holds at most.
  public static let maxRecipients = 500
  /// In `mentions`: all members. Whether it counts is for the policy to say.
  public static let everybody = "*"

  /// The conversation.
  public var conversationId: String
  /// The message.
  public var messageId: String
  /// The sender.
  public var sender: Member
  /// Where it was written.
  public var conversation: CandidateConversation
  /// Title of a notification (M3).
  public var title: String
  /// Body of a notification (M3), cut to what a candidate may carry but not yet to a push's limit.
  public var body: String
  /// The first attachment.
  public var attachment: Attachment?
  /// The people it names by their ids; `everybody` stands for all.
  public var mentions: [String]
  /// The message it answers.
  public var replyTo: String?
  /// How far back that message is, where it is not among the last 128. Whether it still counts is for the policy to say.
  public var answers: AnsweredMessage?
  /// Whether the body says that it cannot wait, by the words that every policy knows. Absent: nobody asked yet.
  public var urgent: Bool?
  /// The recipients, 1 to `maxRecipients`.
  public var recipients: [Recipient]
  /// Ingest's memory of event ids does not reach back to this event, so it may be a producer's retry of one processed
  /// before (M6): it notifies nobody and counts for nothing. Absent: no.
  public var possibleRepeat: Bool?
  /// The sender's app published it with the sender's own token: what it names is not the operator's word. Absent: no.
  public var byUser: Bool?
  /// The replay that asked for it, where there was one. `candidate.redecide` always has one.
  public var replayId: String?
  /// For `candidate.redecide`: true notifies again, by a new push, people who were notified before. Absent: no.
  public var forced: Bool?
  /// For `candidate.redecide`: the pushes to make again, at most one for each recipient. Absent: none.
  public var failedPushes: [FailedPush]?
  /// For `candidate.redecide`: how old the message may be, in seconds, where that is more than its freshness.
  public var maxAgeSeconds: Int?
  /// For `candidate.redecide`: true decides as if the message came now, for people who were not its recipients then. Absent: no.
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

/// How far back a message is that another answers.
public struct AnsweredMessage: Codable, Sendable, Equatable {
  /// How many messages of the conversation ago it came, about.
  public var messagesBack: Int
  /// When it was written at the latest.
  public var sentAt: Milliseconds

  /// A message so far back.
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

/// `replay.stopped`, one on each partition of the timeline. The analyzer takes back what waits in bounded steps, each a record.
public struct ReplayStopped: Codable, Sendable, Equatable {
  /// The replay.
  public var replayId: String
  /// In the analyzer's own next step: its pushes for people up to here have been taken back. Absent: none yet.
  public var after: String?

  /// The event's fields.
  public init(replayId: String, after: String? = nil) {
    self.replayId = replayId
    self.after = after
  }
}

/// `timer.fired`.
public struct TimerFired: Codable, Sendable, Equatable {
  /// The stage's name of the timer.
  public var timer: String
  /// When it was due.
  public var dueAt: Milliseconds

  /// The event's fields.
  public init(timer: String, dueAt: Milliseconds) {
    self.timer = timer
    self.dueAt = dueAt
  }
}

/// `message.withdrawn`: what still waits for a message, or what is shown of it, is to change (D13).
public struct MessageWithdrawn: Codable, Sendable, Equatable {
  /// Why.
  public enum Cause: String, NamedValue {
    /// Its text was changed.
    case edited
    /// It was taken back.
    case deleted
    /// The person is no longer in the conversation.
    case left
    /// The conversation was deleted: what is kept of it for the person is erased (D16).
    case conversationDeleted = "conversation_deleted"
  }
  /// The people concerned, 1 to `MessageCandidate.maxRecipients`.
  public var userIds: [String]
  /// The conversation.
  public var conversationId: String
  /// The message; absent: all of the conversation's.
  public var messageId: String?
  /// Why.
  public var cause: Cause
  /// The new body, where edited.
  public var body: String?
  /// The title of a notification (M3), where edited; of a group's message whose sender is not known any more the group's name.
  public var title: String?
  /// The sender, where edited. Absent: the message is older than the last ones of a group, whose senders are known.
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
