import NudgeSchema

/// Compares an existing topic's settings with its plan.
enum TopicPlanComparison {
  private enum Rule {
    case equal
    /// The planned number or more; -1 is unlimited.
    case atLeast
    case atMost
  }

  private static let rules: [String: Rule] = [
    "cleanup.policy": .equal, "max.message.bytes": .atLeast, "retention.ms": .atLeast,
    "delete.retention.ms": .atLeast, "min.cleanable.dirty.ratio": .atMost,
    "segment.ms": .atMost, "max.compaction.lag.ms": .atMost,
  ]

  /// A sentence for each setting worse than planned; better ones, such as a longer retention, are accepted.
  static func differences(of found: [String: String], from plan: TopicPlan) -> [String] {
    plan.configuration.sorted { $0.key < $1.key }.compactMap { name, wanted in
      guard let value = found[name] else { return nil }
      let rule = rules[name] ?? .equal
      guard !holds(rule, value, wanted) else { return nil }
      let bound = rule == .atLeast ? "at least " : rule == .atMost ? "at most " : ""
      return "\(name) is \(value), should be \(bound)\(wanted)"
    }
  }

  private static func holds(_ rule: Rule, _ value: String, _ wanted: String) -> Bool {
    guard rule != .equal, let number = Double(value), let bound = Double(wanted) else { return value == wanted }
    return rule == .atLeast ? number >= bound || number == -1 : number <= bound
  }
}
