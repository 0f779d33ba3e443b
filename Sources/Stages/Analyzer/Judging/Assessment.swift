import NudgeSchema
import Relevance
import Wording

/// How much a message matters to a person, and why (D3).
struct Assessment: Equatable {
  /// The score, 0 to 1, with three decimals.
  var score: Double
  var priority: Priority
  /// The signals, the strongest first.
  var signals: [Signal]
  /// The reasons of the rule that decided; nil if the signals are the reasons.
  var reasons: [ReasonCode]?
}

/// The properties of a message for one recipient that rules and smart analysis use.
struct MessageTraits {
  var isDirect: Bool
  var context: RecipientContext
  /// `FeatureLayout`'s bytes of the message; empty if there are none.
  var messageFeatures: [UInt8] = []
  var isStarredSender: Bool
  var hasKeyword: Bool
  var isUrgent: Bool
  var isQuestion: Bool
}

extension MessageTraits {
  /// The properties of a message for one recipient with these preferences.
  ///
  /// - Parameter readsText: Whether urgent words and questions matter. If false, the text is not read.
  init(
    _ message: CandidateMessage, context: RecipientContext, preferences: EffectivePreferences, readsText: Bool
  ) {
    self.init(
      isDirect: message.candidate.conversation.kind == .direct, context: context, messageFeatures: message.features,
      isStarredSender: preferences.starredSenders.contains { sameId($0, message.candidate.sender.userId) },
      hasKeyword: !preferences.keywords.isEmpty && message.text.containsAny(of: preferences.keywords),
      isUrgent: readsText && message.isUrgent, isQuestion: readsText && message.text.isQuestion)
  }
}

extension AnalyzerRules {
  /// Smart analysis. In a group, the relevance model estimates how likely the message is for the person. In a direct
  /// conversation every message is, and the score begins at `weights.direct`. Each further signal adds its share of the
  /// distance to 1. Signals add up, and none cancels another.
  ///
  /// A signal's weight is what it added to the log-odds of the score, in natural logarithms. Apart from rounding, the
  /// weights and `start` sum up to the log-odds of the score.
  func assess(_ traits: MessageTraits) -> Assessment {
    let weights = policy.weights
    var signals: [Signal] = []
    signals.reserveCapacity(16)
    func add(_ name: String, _ weight: Double) {
      let weight = rounded(weight)
      if weight != 0 { signals.insert(byWeight: Signal(name: name, value: 1, weight: weight)) }
    }
    let context = traits.context
    var score: Double
    if traits.isDirect {
      score = weights.direct
      add("direct", logOdds(score))
    } else {
      let (odds, contributions) = model.explainBySignal(modelInput(traits))
      score = probability(ofLogOdds: odds)
      add("start", Double(model.start) / Double(RelevanceModel.unit))
      for signal in RelevanceSignal.allCases {
        add(signal.name, Double(contributions[signal.rawValue]) / Double(RelevanceModel.unit))
      }
    }
    func raise(_ name: String, _ holds: Bool, _ share: Double) {
      guard holds, share > 0 else { return }
      let before = score
      score = 1 - (1 - score) * (1 - share)
      add(name, logOdds(score) - logOdds(before))
    }
    raise("mentioned", context.mentioned, weights.mentioned)
    raise("answered", context.answered, weights.answered)
    // The model has learned nothing about people who wrote none of the last messages, so their name in the text counts
    // as meant, even if it was counted before.
    if !traits.isDirect, context.lastSpokeAt == nil { raise("named_newcomer", context.named, weights.namedNewcomer) }
    if traits.isDirect {
      raise("named", context.named, weights.named)
      raise("exchange", context.exchange > 0, weights.exchange * min(1, Double(context.exchange) / 4))
      raise("urgent_words", traits.isUrgent, weights.urgentWords)
      raise("question", traits.isQuestion, weights.question)
    }
    raise("starred_sender", traits.isStarredSender, weights.starredSender)
    raise("keyword", traits.hasKeyword, weights.keyword)
    score = rounded(score)
    return Assessment(score: score, priority: priority(of: score), signals: signals)
  }

  /// A message that a rule assigns to the person. Its signals add up from the initial score of its kind, to at least
  /// high priority.
  func assessAddressed(_ traits: MessageTraits) -> Assessment {
    let weights = policy.weights
    let start = max(0.01, traits.isDirect ? weights.direct : policy.mediumFrom)
    var score = start
    var signals = [Signal(name: traits.isDirect ? "direct" : "start", value: 1, weight: rounded(logOdds(start)))]
    var first: Int?
    func raise(_ name: String, _ holds: Bool, _ share: Double) {
      guard holds else { return }
      let before = score
      score = 1 - (1 - score) * (1 - share)
      first = first ?? signals.count
      signals.append(Signal(name: name, value: 1, weight: rounded(logOdds(score) - logOdds(before))))
    }
    raise("mentioned", traits.context.mentioned, weights.mentioned)
    raise("answered", traits.context.answered, weights.answered)
    raise("named", traits.context.named, weights.namedNewcomer)
    raise("keyword", traits.hasKeyword, weights.keyword)
    raise("starred_sender", traits.isStarredSender, weights.starredSender)
    raise("urgent_words", traits.isUrgent, weights.urgentWords)
    if score < policy.highFrom, let first {
      signals[first].weight = rounded(signals[first].weight + logOdds(policy.highFrom) - logOdds(score))
      score = policy.highFrom
    }
    score = rounded(score)
    var ordered: [Signal] = []
    for signal in signals { ordered.insert(byWeight: signal) }
    return Assessment(score: score, priority: priority(of: score), signals: ordered)
  }

  /// The assessment of the same message as an urgent one.
  func assessUrgent(_ assessment: Assessment) -> Assessment {
    let score = max(assessment.score, max(policy.highFrom, 0.9))
    return Assessment(
      score: score, priority: .high,
      signals: [Signal(name: "urgent_words", value: 1, weight: score)], reasons: [.urgentWords])
  }

  /// Shifts a score by what the person has taught, in thousandths of log-odds.
  ///
  /// - Parameter most: The highest priority after the shift.
  func shift(
    _ assessment: inout Assessment, by shifts: [(name: String, shift: Int)], toAtMost most: Priority = .high
  ) {
    guard !shifts.isEmpty else { return }
    var odds = logOdds(assessment.score)
    for (name, shift) in shifts {
      let weight = Double(shift) / 1000
      odds += weight
      assessment.signals.insert(byWeight: Signal(name: name, value: 1, weight: weight))
    }
    assessment.score = rounded(probability(ofLogOdds: Int32(odds * Double(RelevanceModel.unit))))
    assessment.priority = priority(of: assessment.score)
    if most != .high, assessment.priority == .high { assessment.priority = most }
  }

  func priority(of score: Double) -> Priority {
    score >= policy.highFrom ? .high : score >= policy.mediumFrom ? .medium : .low
  }

  /// The model's input for one recipient.
  func modelInput(_ traits: MessageTraits) -> [UInt8] {
    let message = traits.messageFeatures
    // The candidate comes from another version of ingest or was written by hand. Its explicit fields still count.
    guard message.count == FeatureLayout.messageCount, message[MessageFeature.layout.rawValue] == model.layout else {
      return TalkReading.featuresOfNothing(addressed: traits.context.isAddressed)
    }
    if let person = traits.context.features.flatMap(Base64Text.decode), person.count == FeatureLayout.personCount {
      return message + person
    }
    let others = message[MessageFeature.addressedCount.rawValue] > 0
    return message
      + TalkReading.absentFeatures(
        addressed: traits.context.isAddressed, isAtStart: traits.context.isAddressed, othersAddressed: others,
        othersAtStart: others)
  }

  /// Rounds to three decimals, as people read them, so that no sum misses a threshold by a rounding error.
  private func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}

extension [Signal] {
  /// Inserts a signal by weight, the strongest first. Of equal signals the earlier one comes first.
  fileprivate mutating func insert(byWeight signal: Signal) {
    insert(signal, at: firstIndex { abs($0.weight) < abs(signal.weight) } ?? endIndex)
  }
}

extension SimpleRules {
  /// The rule that decides; nil if none applies.
  func rule(for traits: MessageTraits) -> Rule? {
    rules.first { rule in rule.when.allSatisfy { traits.holds($0) } && !rule.unless.contains { traits.holds($0) } }
  }

  /// How much a message matters by these rules.
  func assess(_ traits: MessageTraits) -> Assessment {
    let rule = rule(for: traits)
    let priority = rule?.priority ?? otherwise
    let score = Self.score(of: priority)
    return Assessment(
      score: score, priority: priority, signals: rule.map { [Signal(name: $0.name, value: 1, weight: score)] } ?? [],
      reasons: rule?.when.map(\.reason))
  }

  /// The score in decisions made by rules.
  private static func score(of priority: Priority) -> Double {
    switch priority {
    case .high: 0.9
    case .medium: 0.5
    case .low: 0.1
    }
  }
}

extension MessageTraits {
  fileprivate func holds(_ condition: SimpleRules.Condition) -> Bool {
    switch condition {
    case .direct: isDirect
    case .mentioned: context.mentioned
    case .answered: context.answered
    case .named: context.named
    case .exchange: context.exchange > 0
    case .starredSender: isStarredSender
    case .keyword: hasKeyword
    case .urgentWords: isUrgent
    case .question: isQuestion
    }
  }
}

extension SimpleRules.Condition {
  /// The reason's code for the sentence of a decision.
  var reason: ReasonCode {
    switch self {
    case .direct: .direct
    case .mentioned: .mentioned
    case .answered: .answered
    case .named: .namedNewcomer
    case .exchange: .talking
    case .starredSender: .starredSender
    case .keyword: .keyword
    case .urgentWords: .urgentWords
    case .question: .question
    }
  }
}

extension AlertBudget {
  /// The value of a message's alert in thousandths: its score, shifted by the person's feedback. Without a model, the
  /// simple rules give 0.9 for high, 0.5 for medium and 0.1 for low priority. High priority adds `highBonus`.
  static func value(of assessment: Assessment) -> Int {
    let score = min(max(assessment.score, 0), most)
    let value = assessment.priority == .high ? score + (most - score) * highBonus : score
    return Int((value * 1_000).rounded())
  }
}
