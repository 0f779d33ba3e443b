/// A record of `nudge.decisions`: what was decided for one person and message, and why (D10).
public typealias Decision = DerivedEvent<DecisionBody>

/// How much a message matters to a person (D3).
public enum Priority: String, Codable, Sendable, CaseIterable {
  /// Alert and sound.
  case high
  /// Silent, in the notification centre.
  case medium
  /// Badge only.
  case low
}

/// How a notification appears.
public enum Presentation: String, Codable, Sendable, CaseIterable {
  /// With a sound.
  case alert
  /// In the list, without a sound.
  case silent
  /// On the badge alone.
  case badge
}

/// Why a person was, or was not, notified. The raw values are the catalogue's codes.
public enum DecisionReason: String, Codable, Sendable, CaseIterable {
  /// The message was decided for this person before.
  case duplicate
  /// The person wants no notifications.
  case notificationsDisabled = "notifications_disabled"
  /// The person muted the conversation.
  case conversationMuted = "conversation_muted"
  /// The person has read it already.
  case alreadyRead = "already_read"
  /// It is older than freshness allows.
  case expired
  /// The person has that very conversation open.
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
  /// The replay has notified the person, or by force the people of this partition, as often as one replay may; only when
  /// decided again.
  case replayLimit = "replay_limit"
  /// Smart analysis found it worth it.
  case relevant
  /// The fixed rule set found it worth it.
  case simpleRules = "simple_rules"
  /// The fallback notifies of everything.
  case notifyAll = "notify_all"

  /// Whether a decision with this reason sends a push.
  public var notifies: Bool {
    switch self {
    case .relevant, .simpleRules, .notifyAll: true
    default: false
    }
  }
}

/// Something that raised or lowered a message's score.
public struct Signal: Codable, Sendable, Equatable {
  /// The signal's name.
  public var name: String
  /// How much of it there was.
  public var value: Double
  /// What a unit of it counts.
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

/// Whether the pipeline kept up when it decided.
public enum DecisionMode: String, Codable, Sendable, CaseIterable {
  /// The message was new.
  case live
  /// A backlog was worked off.
  case catchingUp = "catching_up"
}

/// The fields of a decision.
public struct DecisionBody: EventBody, Codable {
  /// Notify or suppress.
  public enum Outcome: String, Codable, Sendable, CaseIterable {
    /// A push was made.
    case notify
    /// No push was made.
    case suppress
  }
  /// The person.
  public var userId: String
  /// The message.
  public var messageId: String
  /// The conversation.
  public var conversationId: String
  /// What was decided.
  public var outcome: Outcome
  /// Why.
  public var reason: DecisionReason
  /// Why, in one sentence for the person, in their language: up to three signals that mattered most.
  public var text: String
  /// How it appears; nil where suppressed.
  public var presentation: Presentation?
  /// How much it matters; nil where suppressed before that was asked.
  public var priority: Priority?
  /// Between 0 and 1; nil where suppressed before that was asked.
  public var score: Double?
  /// What made the score.
  public var signals: [Signal]
  /// What was checked, in order.
  public var checks: [Check]
  /// The person's badge after this message.
  public var badge: Int
  /// The hourly limit; nil where it was not asked.
  public var analysis: AnalysisUse?
  /// The version of the relevance model, where smart analysis was made.
  public var model: String?
  /// The version of the simple rules, where they decided.
  public var rules: String?
  /// The push, where there is one.
  public var pushId: String?
  /// Live, or catching up.
  public var mode: DecisionMode
  /// When it was decided.
  public var decidedAt: Milliseconds
  /// The replay that asked for it, where there was one.
  public var replayId: String?

  /// The fields of a decision.
  public init(
    userId: String, messageId: String, conversationId: String, outcome: Outcome, reason: DecisionReason, text: String,
    presentation: Presentation? = nil, priority: Priority? = nil, score: Double? = nil, signals: [Signal] = [],
    checks: [Check] = [], badge: Int, analysis: AnalysisUse? = nil, model: String? = nil, rules: String? = nil,
    pushId: String? = nil, mode: DecisionMode,
    decidedAt: Milliseconds, replayId: String? = nil
  ) {
    self.userId = userId
    self.messageId = messageId
    self.conversationId = conversationId
    self.outcome = outcome
    self.reason = reason
    self.text = text
    self.presentation = presentation
    self.priority = priority
    self.score = score
    self.signals = signals
    self.checks = checks
    self.badge = badge
    self.analysis = analysis
    self.model = model
    self.rules = rules
    self.pushId = pushId
    self.mode = mode
    self.decidedAt = decidedAt
    self.replayId = replayId
  }

  /// The types of this body, by their names on the wire.
  public static let types = ["decision"]

  /// The type's name on the wire.
  public var type: String { "decision" }
  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: String, from decoder: any Decoder) throws { try self.init(from: decoder) }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws { try encode(to: encoder) }
}
