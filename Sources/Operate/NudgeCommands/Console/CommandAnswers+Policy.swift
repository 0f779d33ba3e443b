import Analyzer
import NudgeConsole
import NudgeSchema
import ServiceKit

/// The page Policy: what `nudge policy` and `nudge simulate` say.
extension CommandAnswers {
  private struct Policy: Encodable {
    var version: String
    var policy: JSONValue
    /// From the default policy.
    var differences: [PolicyDifferences.Difference]
    /// From today's.
    var changes: [PolicyDifferences.Difference]
  }

  /// Today's policy, or a changed one that the question holds.
  func policy(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    let today = try options.rules().policy
    let policy = try question["policy"].map { try Self.policy($0) } ?? today
    let answer = Policy(
      version: PolicyCommand.version(policy), policy: try JSONValue(policy.json(pretty: false)),
      differences: try PolicyDifferences(of: policy).differences,
      changes: try PolicyDifferences(of: policy, from: today).differences)
    try job.write(AnswerRow("policy", answer))
  }

  func simulate(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    var rules = try options.rules()
    if let text = question["policy"] { rules.policy = try Self.policy(text) }
    let selection = try selection(question, nil, now: SystemClock.milliseconds())
    let examples = Self.number(question["examples"], 0...1_000, default: 10)
    try reading(for: job) { browser in
      let result = try Simulation(selection: selection, rules: rules, examples: examples, browser: browser).result()
      try job.write(AnswerRow("simulation", result))
    }
  }

  private static func policy(_ text: String) throws -> NotificationPolicy {
    do {
      return try NotificationPolicy(json: Array(text.utf8))
    } catch {
      throw CommandError("\(error)")
    }
  }
}
