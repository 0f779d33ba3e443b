public import NudgeSchema

/// A budget outside of the pipeline, to measure it on chat logs: of a person in UTC, without quiet hours.
public struct BudgetTrial: Sendable {
  private let limit: Int
  private let rules: AnalyzerRules
  private var user = UserRow()

  /// A person with a budget who has spent nothing.
  public init(dailyAlerts limit: Int, _ scoring: RelevanceScoring) {
    self.limit = limit
    rules = scoring.rules
  }

  /// The worth of an alert, in thousandths, by the score of smart analysis.
  public static func value(ofScore score: Double, _ scoring: RelevanceScoring) -> Int {
    AlertBudget.value(of: Assessment(score: score, priority: scoring.rules.priority(of: score), signals: []))
  }

  /// Whether a message of a value that would alert may do so.
  public mutating func alerts(_ value: Int, at time: Milliseconds) -> Bool {
    var zones = TimeZones()
    let today = EffectivePreferences(PreferencesRow(), rules: rules).localDay(at: time, zones: &zones)
    return user.spendAlert(of: limit, today: today, value: value).allows
  }
}
