public import NudgeSchema
import Relevance
public import StreamRuntime
import Wording

/// Smart analysis outside of the pipeline, for a person without preferences and feedback. It is used to measure the
/// model on chat logs.
public struct RelevanceScoring: Sendable {
  let rules: AnalyzerRules

  /// Scoring by the rules of an analyzer.
  public init(_ rules: AnalyzerRules) { self.rules = rules }

  /// The score of a candidate for one of its recipients, from 0 to 1.
  public func score(_ candidate: MessageCandidate, for recipient: Recipient) -> Double {
    assessment(candidate, for: recipient).score
  }

  func assessment(_ candidate: MessageCandidate, for recipient: Recipient) -> Assessment {
    rules.assess(traits(candidate, recipient))
  }

  /// The model's input, for training it.
  public func features(_ candidate: MessageCandidate, for recipient: Recipient) -> [UInt8] {
    rules.modelInput(traits(candidate, recipient))
  }

  /// The signals of the score, the strongest first, and the sentence about it.
  public func explanation(_ candidate: MessageCandidate, for recipient: Recipient) -> (signals: [Signal], text: String)
  {
    let assessment = assessment(candidate, for: recipient)
    return (assessment.signals, Explanation(assessment, sender: candidate.sender.displayName).text(in: .english))
  }

  /// The lowest score of high priority. From here on a message counts as meant for the recipient.
  public var threshold: Double { rules.policy.highFrom }

  /// The lowest score of medium priority.
  public var shownFrom: Double { rules.policy.mediumFrom }

  private func traits(_ candidate: MessageCandidate, _ recipient: Recipient) -> MessageTraits {
    let text = MessageText(candidate.body)
    return MessageTraits(
      isDirect: candidate.conversation.kind == .direct, context: recipient.context,
      messageFeatures: candidate.conversation.features.flatMap(Base64Text.decode) ?? [], isStarredSender: false,
      hasKeyword: false, isUrgent: text.isUrgent(rules.policy.urgentWords), isQuestion: text.isQuestion)
  }
}

/// Simple rules outside of the pipeline, to try a file of rules before it is used.
public struct SimpleRulesTrial: Sendable {
  private let simpleRules: SimpleRules
  private let rules: AnalyzerRules
  private var preferences: [String: PreferencesRow] = [:]

  /// A trial of these rules, with the urgent words of a policy.
  public init(_ simpleRules: SimpleRules, policy: NotificationPolicy = NotificationPolicy()) {
    self.simpleRules = simpleRules
    var rules = AnalyzerRules(hash: { _ in Array(repeating: 0, count: 32) })
    rules.policy = policy
    self.rules = rules
  }

  public var version: String { simpleRules.version }

  /// Takes the next row of the analyzer's changelog. `bytes` is nil if the row was removed. Rows other than preferences
  /// are ignored. Throws if preferences cannot be decoded.
  public mutating func take(_ key: RowKey, _ bytes: UnsafeRawBufferPointer?, coder: RecordCoder) throws {
    guard key.parts.count == 2, key == AnalyzerRow.preferencesKey(key.parts[1]) else { return }
    let userId = key.parts[1]
    guard let bytes else {
      preferences[userId] = nil
      return
    }
    if case .preferences(let row) = try AnalyzerRow(key: key, bytes: bytes, coder: coder) { preferences[userId] = row }
  }

  /// The priority of a message for one of its recipients, by the person's current preferences, and the rule that
  /// decides. `rule` is nil if no rule applies.
  public func decide(
    _ candidate: MessageCandidate, for recipient: Recipient
  ) -> (priority: Priority, rule: String?) {
    let person = EffectivePreferences(preferences[recipient.userId] ?? PreferencesRow(), rules: rules)
    let traits = MessageTraits(
      CandidateMessage(candidate, sentAt: 0, policy: rules.policyVersion), context: recipient.context,
      preferences: person,
      readsText: true)
    let assessment = simpleRules.assess(traits)
    return (assessment.priority, assessment.signals.first?.name)
  }
}

/// Learning from one person's feedback outside of the pipeline. It is used to measure the effect on chat logs.
public struct LearningTrial: Sendable {
  private let scoring: RelevanceScoring
  private var learned = LearnedPreferences()

  /// A person who has given no feedback.
  public init(_ scoring: RelevanceScoring) { self.scoring = scoring }

  /// The score of a message for the person by the model alone, and shifted by their feedback.
  public func scores(
    _ candidate: MessageCandidate, for recipient: Recipient, at time: Milliseconds
  ) -> (model: Double, shifted: Double) {
    let (rules, model) = (scoring.rules, scoring.assessment(candidate, for: recipient))
    var shifted = model
    rules.shift(
      &shifted,
      by: learned.shifts(
        sender: MessageKey(candidate.sender.userId).value, conversation: MessageKey(candidate.conversationId).value,
        at: time))
    return (model.score, shifted.score)
  }

  /// Learns from the person's feedback on a message.
  ///
  /// - Parameter score: The message's score, 0 to 1.
  public mutating func teach(
    isHelpful: Bool, about candidate: MessageCandidate, score: Double, at time: Milliseconds
  ) {
    learned.learn(
      isHelpful ? .helpful : .notHelpful, score: Int((score * 1000).rounded()),
      sender: MessageKey(candidate.sender.userId).value, conversation: MessageKey(candidate.conversationId).value,
      at: time)
  }
}

/// A budget of alerts outside of the pipeline. It is used to measure budgets on chat logs. The person is in UTC and has
/// no quiet hours.
public struct BudgetTrial: Sendable {
  private let limit: Int
  private let rules: AnalyzerRules
  private var user = UserRow()

  /// A person with a budget who has spent nothing.
  public init(dailyAlerts limit: Int, _ scoring: RelevanceScoring) {
    self.limit = limit
    rules = scoring.rules
  }

  /// The value of an alert for a message with this score of smart analysis, in thousandths.
  public static func value(ofScore score: Double, _ scoring: RelevanceScoring) -> Int {
    AlertBudget.value(of: Assessment(score: score, priority: scoring.rules.priority(of: score), signals: []))
  }

  /// Whether the budget allows an alert of this value. If so, the alert is spent.
  public mutating func alerts(_ value: Int, at time: Milliseconds) -> Bool {
    var zones = TimeZones()
    let today = EffectivePreferences(PreferencesRow(), rules: rules).localDay(at: time, zones: &zones)
    return user.spendAlert(of: limit, today: today, value: value).allows
  }
}
