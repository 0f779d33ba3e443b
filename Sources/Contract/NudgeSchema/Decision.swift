/// A record of `nudge.decisions`: the decision for one person and message, with its reasons (D10). A `deferred` one is
/// followed by a final one.
public typealias Decision = DerivedEvent<DecisionBody>

/// How much a message matters to a person (D3). At level `smart`, how the message appears depends on it. It does not
/// decide about quiet hours, which only urgent messages pass (D2).
public enum Priority: String, NamedValue {
  /// Worth an alert.
  case high
  /// Worth showing.
  case medium
  /// Not worth a notification of its own.
  case low
}

/// How a notification appears (D3). It depends on the person's level for the conversation and, at level `smart`, on the
/// priority.
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
  /// The message was already decided for this person.
  case duplicate
  /// The person wants no notifications.
  case notificationsDisabled = "notifications_disabled"
  /// The person muted the conversation.
  case conversationMuted = "conversation_muted"
  /// The person has already read the message.
  case alreadyRead = "already_read"
  /// The message is older than its freshness.
  case expired
  /// A device of the person has the conversation open.
  case activeConversation = "active_conversation"
  /// The person's hourly limit of analyses is used up, and the fallback suppresses every message.
  case analysisLimit = "analysis_limit"
  /// The person has quiet hours.
  case quietHours = "quiet_hours"
  /// The person has no device to send to.
  case noDevice = "no_device"
  /// The message was deleted, or the person left the conversation.
  case withdrawn
  /// The replay that asked for the decision was stopped. Only replays have this reason.
  case replayStopped = "replay_stopped"
  /// The replay has reached its limit of notifications: for the person, or for the partition if it is forced. Only
  /// replays have this reason.
  case replayLimit = "replay_limit"
  /// Smart analysis decided to notify.
  case relevant
  /// The simple rules decided to notify.
  case simpleRules = "simple_rules"
  /// Every message notifies: the person's level is `all`, or the hourly limit is used up and the fallback notifies.
  case notifyAll = "notify_all"
  // Add new cases at the end: rows of state store a reason as its index.
  /// The person's level for the conversation does not show such a message (D14).
  case level
  /// The person is active on another device, so the alert waits for some seconds. Only deferred decisions have this
  /// reason.
  case activeElsewhere = "active_elsewhere"
  /// The message was written long before it arrived, as in an import or from an app that was offline for days.
  case history
  /// The person muted the sender.
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
  /// Its strength; 1 for a feature that is either present or absent.
  public var value: Double
  /// What it added to the log-odds of the score, in natural logarithms.
  public var weight: Double

  /// A signal.
  public init(name: String, value: Double, weight: Double) {
    self.name = name
    self.value = value
    self.weight = weight
  }
}

/// How much of the hourly limit the person has used (D4).
public struct AnalysisUse: Codable, Sendable, Equatable {
  /// Analyses in the current window, including this one unless the limit was used up.
  public var used: Int
  /// The person's limit.
  public var limit: Int
  /// When the window began; absent if no analysis has begun one.
  public var windowStartedAt: Milliseconds?
  /// The fallback that was applied; absent if none was.
  public var fallback: AnalysisFallback?

  /// A state of the limit.
  public init(used: Int, limit: Int, windowStartedAt: Milliseconds?, fallback: AnalysisFallback? = nil) {
    self.used = used
    self.limit = limit
    self.windowStartedAt = windowStartedAt
    self.fallback = fallback
  }
}

/// Whether the decision was made soon after the message was written.
public enum DecisionMode: String, NamedValue {
  /// The message was at most one minute old.
  case live
  /// The message was more than one minute old.
  case catchingUp = "catching_up"
}

/// The fields of a decision.
public struct DecisionBody: EventBody, Codable {
  /// Notify, suppress, or defer.
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
  /// Whether the person is notified, or `deferred` if a final decision follows.
  public var outcome: Outcome
  /// The reason.
  public var reason: DecisionReason
  /// The reason as one sentence in the person's language, with up to three of the strongest signals.
  public var text: String
  /// How the message appears; absent if suppressed.
  public var presentation: Presentation?
  /// The person's level for the conversation (D14); absent if an earlier check suppressed.
  public var level: NotificationLevel?
  /// How much the message matters; absent if an earlier check suppressed.
  public var priority: Priority?
  /// The score, 0 to 1; absent if an earlier check suppressed.
  public var score: Double?
  /// The signals that make up the score, the strongest first.
  public var signals: [Signal]
  /// The checks that suppressed or had inputs, in order. Earlier releases wrote all checks; `allChecks` has them for
  /// every release.
  public var checks: [Check]
  /// The person's badge after this message.
  public var badge: Int
  /// The hourly limit; absent if it was not checked.
  public var analysis: AnalysisUse?
  /// The version of the relevance model; absent if smart analysis did not judge the priority.
  public var model: String?
  /// The version of the simple rules; absent if they did not judge the priority.
  public var rules: String?
  /// The version of the operator's policy (D15); absent in records of releases without policies.
  public var policy: String?
  /// The push; absent if none was made.
  public var pushId: String?
  /// Whether the message was new when it was decided. For a final decision after a deferred one, the time of the
  /// deferred one counts.
  public var mode: DecisionMode
  /// When it was decided.
  public var decidedAt: Milliseconds
  /// The latest time of the final decision, by the wall clock. Only a deferred decision has it.
  public var heldUntil: Milliseconds?
  /// The replay that asked for the decision; absent if none did.
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
}
