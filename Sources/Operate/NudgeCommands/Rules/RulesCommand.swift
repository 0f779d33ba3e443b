import Analyzer
import NudgeSchema
import ServiceKit

/// `nudge rules`.
enum RulesCommand {
  private static let since = Setting<PointInTime>(
    "since", environment: .none, default: .ago(.seconds(3_600)),
    help: "Decisions since then: so long ago (1h), or a time (2026-11-22T10:30:00Z).")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Prints JSON, for machines.")
  private static let file = PositionalArgument(
    "file", help: "JSON file with simple rules, as nudge-analyzer --simple-rules takes it.", count: .one)

  static let command = Command(
    "rules", abstract: "The simple rules, which decide past a person's hourly limit.", subcommands: [check, attempt])

  private static let check = Command(
    "check", abstract: "Says whether a file of simple rules can be used, and what is wrong with it.",
    arguments: [file], examples: ["nudge rules check rules.json"]
  ) { input in
    let rules = try read(input)
    print("version \(rules.version), \(rules.count) rule\(rules.count == 1 ? "" : "s"): it can be used")
    return ExitCode.success
  }

  private static let attempt = Command(
    "try",
    abstract:
      "Says what a file of simple rules would have changed: which decisions that rules made would have had another "
      + "priority. It reads decisions, candidates and preferences, and writes nothing.",
    settings: ClusterSettings.all + [since, json], arguments: [file],
    examples: ["nudge rules try rules.json --since 1h --bootstrap-servers kafka:9092"]
  ) { input in
    let rules = try read(input)
    let browser = try TopicBrowser(ClusterSettings(input))
    defer { browser.close() }
    let now = SystemClock.milliseconds()
    let report = try RulesSearch(browser: browser).report(rules, since: input[since].milliseconds(now: now))
    if input[json] {
      try CommandOutput.print(json: report)
    } else {
      print(report.text)
    }
    return ExitCode.success
  }

  private static func read(_ input: CommandInput) throws -> SimpleRules {
    let path = input.argument("file") ?? ""
    let bytes = try FileContent.read(path)
    do {
      return try SimpleRules(json: bytes)
    } catch {
      throw CommandFailure("\(path): \(error)")
    }
  }
}

/// Why a command did not do what it was asked to.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
