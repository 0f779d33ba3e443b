/// A record of `nudge.decisions`: the decision for one person and message, and its reasons (D10). One that is `deferred` is followed by a
/// final one.
public typealias Decision = DerivedEvent<DecisionBody>

/// How much a message matters to a person (D3). Quiet hours go by it; how the message appears says `Presentation`.
public enum Priority: String, NamedValue {
  /// Passes quiet hours.
  case high
  /// Worth showing.
  case medium
  /// Not worth showing by itself.
  case low
}

/// How a notification appears (D3). It follows from the person's level for the conversation and, at `smart`, from the priority.
public enum Presentation: String, NamedValue {
  /// Banner and sound.
  case alert
  /// In the notification list, without a sound.
  case silent
  /// The badge's number changes; nothing is shown.
  case badge
}

/// Why a person was, or was not, notified. The raw values are the catalogue's codes.
public enum DecisionReason: String, NamedValue {
  /// The message was decided for this person before.
  case duplicate
  /// The person wants no notifications.
  case notificationsDisabled = "notifications_disabled"
  /// The person muted the conversation.
  case conversationMuted = "conversation_muted"
  /// The person has read it already.
  case alreadyRead = "already_read"
  /// Its freshness has ended.
  case expired
  /// A device of the person has the conversation open.
  case activeConversation = "active_conversation"
  /// The hourly analyses are used up, and the fallback suppresses all.
  case analysisLimit = "analysis_limit"
  /// The person's quiet hours.
  case quietHours = "quiet_hours"
  /// The person has no device to send to.
  case noDevice = "no_device"
  /// The message was taken back, or the person left.
  case withdrawn
  /// The replay that asked for it was stopped; only when decided again.
  case replayStopped = "replay_stopped"
  /// The replay has reached its limit of notifications, for the person or, by force, for the partition; only when decided
  /// again.
  case replayLimit = "replay_limit"
  /// Smart analysis decided to notify.
  case relevant
  /// The simple rules decided to notify.
  case simpleRules = "simple_rules"
  /// Everything is notified: by the person's level `all`, or by the fallback past the hourly limit.
  case notifyAll = "notify_all"
  // New cases go last: rows of state hold a reason by its place.
  /// The person's level for the conversation shows no such message (D14).
  case level
  /// Another device of the person is active: the alert waits for some seconds. Only of a decision that is deferred.
  case activeElsewhere = "active_elsewhere"
  /// It was sent long before it arrived: an import, or an outbox of days.
  case history
  /// The person muted its sender.
  case mutedSender = "muted_sender"

  /// Whether a decision with this reason sends a push.
  public var notifies: Bool {
    switch self {
    case .relevant, .simpleRules, .notifyAll: true
    default: false
    }
  }
}

/// A feature of a message that raised or lowered its score.
public struct Signal: Codable, Sendable, Equatable {
  /// The signal's name.
  public var name: String
  /// Its strength; 1 where it holds.
  public var value: Double
  /// The share of the log-odds of the score that it added, in natural logarithms.
  public var weight: Double

  /// A signal.
  public init(name: String, value: Double, weight: Double) {
    self.name = name
    self.value = value
    self.weight = weight
  }
}

/// Where the person stands in the hourly limit (D4).
public struct AnalysisUse: Codable, Sendable, Equatable {
  /// Analyses in the current window, this one included.
  public var used: Int
  /// The person's limit.
  public var limit: Int
  /// When the window began; nil: none has.
  public var windowStartedAt: Milliseconds?
  /// The fallback, where it applied.
  public var fallback: AnalysisFallback?

  /// A state of the limit.
  public init(used: Int, limit: Int, windowStartedAt: Milliseconds?, fallback: AnalysisFallback? = nil) {
    self.used = used
    self.limit = limit
    self.windowStartedAt = windowStartedAt
    self.fallback = fallback
  }
}

/// Whether the decision was made shortly after the message was written.
public enum DecisionMode: String, NamedValue {
  /// The message was new.
  case live
  /// The message waited for more than a minute before it was decided.
  case catchingUp = "catching_up"
}

/// The fields of a decision.
public struct DecisionBody: EventBody, Codable {
  /// Notify, suppress, or neither yet.
  public enum Outcome: String, NamedValue {
    /// A push was made.
    case notify
    /// No push was made.
    case suppress
    /// The person may be about to read the message. A final decision follows.
    case deferred

    /// Whether no other decision follows, unless a replay asks for one.
    public var isFinal: Bool { self != .deferred }
  }
  /// The person.
  public var userId: String
  /// The message.
  public var messageId: String
  /// The conversation.
  public var conversationId: String
  /// Whether the person is notified, or when that is not known yet.
  public var outcome: Outcome
  /// Why.
  public var reason: DecisionReason
  /// Why, in one sentence for the person, in their language: up to three signals that mattered most.
  public var text: String
  /// How it appears; nil where suppressed.
  public var presentation: Presentation?
  /// The person's level for the conversation (D14); nil where suppressed before it was asked.
  public var level: NotificationLevel?
  /// How much it matters; nil where suppressed before that was asked.
  public var priority: Priority?
  /// Between 0 and 1; nil where suppressed before that was asked.
  public var score: Double?
  /// The signals that make up the score, the strongest first.
  public var signals: [Signal]
  /// The checks that suppressed or looked at something, in order; in records of earlier releases all that were made. See `allChecks`.
  public var checks: [Check]
  /// The person's badge after this message.
  public var badge: Int
  /// The hourly limit; nil where it was not asked.
  public var analysis: AnalysisUse?
  /// The version of the relevance model, where smart analysis was made.
  public var model: String?
  /// The version of the simple rules, where they judged the priority.
  public var rules: String?
  /// The version of the operator's policy (D15); nil in records of releases without one.
  public var policy: String?
  /// The push, where there is one.
  public var pushId: String?
  /// Live, or catching up.
  public var mode: DecisionMode
  /// When it was decided.
  public var decidedAt: Milliseconds
  /// When the final decision is made at the latest, by the wall clock; nil unless this one is deferred.
  public var heldUntil: Milliseconds?
  /// The replay that asked for it, where there was one.
  public var replayId: String?

  /// The fields of a decision.
  public init(
    userId: String, messageId: String, conversationId: String, outcome: Outcome, reason: DecisionReason, text: String,
    presentation: Presentation? = nil, level: NotificationLevel? = nil, priority: Priority? = nil,
    score: Double? = nil, signals: [Signal] = [], checks: [Check] = [], badge: Int, analysis: AnalysisUse? = nil,
    model: String? = nil, rules: String? = nil, policy: String? = nil, pushId: String? = nil, mode: DecisionMode,
    decidedAt: Milliseconds, heldUntil: Milliseconds? = nil, replayId: String? = nil
  ) {
    self.userId = userId
    self.messageId = messageId
    self.conversationId = conversationId
    self.outcome = outcome
    self.reason = reason
    self.text = text
    self.presentation = presentation
    self.level = level
    self.priority = priority
    self.score = score
    self.signals = signals
    self.checks = checks
    self.badge = badge
    self.analysis = analysis
    self.model = model
    self.rules = rules
    self.policy = policy
    self.pushId = pushId
    self.mode = mode
    self.decidedAt = decidedAt
    self.heldUntil = heldUntil
    self.replayId = replayId
  }

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [.decision]

  /// The type's name on the wire.
  public var type: EventType { .decision }
  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: EventType, from decoder: any Decoder) throws { try self.init(from: decoder) }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws { try encode(to: encoder) }
}
