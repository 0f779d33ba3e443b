import NudgeSchema
import Wording

extension SimpleRules {
  /// The rule that decides; nil: none holds.
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

  /// The score in decisions by rules.
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
  /// The same in the sentence of a decision.
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
