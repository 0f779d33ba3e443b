import Analyzer
import NudgeSchema
import ServiceKit

enum RulesCommand {
  private static let since = Setting<PointInTime>(
    "since", environment: .none, default: .ago(.seconds(3_600)),
    help: "Decisions since then: a duration (1h) or a time (2026-11-22T10:30:00Z).")
  private static let until = TimeSpan.until("Decisions")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Print JSON.")
  private static let file = PositionalArgument(
    "file", help: "JSON file with simple rules, as nudge-analyzer --simple-rules takes it.", count: .one)

  static let command = Command(
    "rules", abstract: "Checks a file of simple rules, or tries it on past decisions.", subcommands: [check, attempt])

  private static let check = Command(
    "check", abstract: "Checks a file of simple rules.",
    settings: [json], arguments: [file], examples: ["nudge rules check rules.json"]
  ) { input in
    let rules = try read(input)
    if input[json] {
      try CommandOutput.print(json: Checked(version: rules.version, rules: rules.count))
    } else {
      print("version \(rules.version), \(rules.count.counted("rule")): it can be used")
    }
    return ExitCode.success
  }

  private struct Checked: Encodable {
    var version: String
    var rules: Int
  }

  private static let attempt = Command(
    "try",
    abstract: "Shows which past decisions a file of rules would change.",
    discussion:
      "Compares the priorities of decisions that rules judged: past the hourly limit, and at the levels all and mentions, where "
      + "the priority decides about quiet hours alone. Reads decisions, candidates and preferences; writes nothing. "
      + "--policy: the policy whose urgent words count.",
    settings: ClusterSettings.all + [AnalyzerSettings.policy, since, until, json], arguments: [file],
    examples: ["nudge rules try rules.json --since 1h --bootstrap-servers kafka:9092"]
  ) { input in
    let rules = try read(input)
    let policy = try policy(input)
    let span = try TimeSpan.of(since: input[since], until: input[until], now: SystemClock.milliseconds())
    let browser = try TopicBrowser(ClusterSettings(input))
    defer { browser.close() }
    let report = try RulesSearch(browser: browser).report(
      rules, policy: policy, since: span.from ?? 0, until: span.to)
    if input[json] {
      try CommandOutput.print(json: report)
    } else {
      print(report.text)
    }
    return ExitCode.success
  }

  private static func policy(_ input: CommandInput) throws -> NotificationPolicy {
    guard let path = input[AnalyzerSettings.policy] else { return NotificationPolicy() }
    do {
      return try NotificationPolicy(json: try FileContent.read(path))
    } catch let error as PolicyError {
      throw CommandError("--policy \(path): \(error)")
    }
  }

  private static func read(_ input: CommandInput) throws -> SimpleRules {
    let path = input.argument("file") ?? ""
    let bytes = try FileContent.read(path)
    do {
      return try SimpleRules(json: bytes)
    } catch {
      throw CommandError("\(path): \(error)")
    }
  }
}
