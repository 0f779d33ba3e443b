import Analyzer
import Kafka
import NudgeCodec
import NudgeSchema
import ServiceKit
import StreamRuntime

enum RulesCommand {
  private static let since = TimeSpan.since("Decisions", default: .seconds(3_600))
  private static let until = TimeSpan.until("Decisions")
  private static let json = CommandOutput.json
  private static let file = PositionalArgument(
    "file", help: "JSON file with simple rules, as nudge-analyzer --simple-rules takes it.", count: .one)

  static let command = Command(
    "rules", abstract: "Checks a file of simple rules, or tries it on past decisions.", subcommands: [check, attempt])

  private static let check = Command(
    "check", abstract: "Checks a file of simple rules.",
    settings: [json], arguments: [file], examples: ["nudge rules check rules.json"]
  ) { input in
    let rules = try read(input)
    try CommandOutput.print(
      ["version": rules.version, "rules": rules.count] as JSONObject, asJSON: input[json],
      text: "version \(rules.version), \(rules.count.counted("rule")): it can be used")
    return ExitCode.success
  }

  private static let attempt = Command(
    "try",
    abstract: "Shows which past decisions a file of rules would change.",
    discussion:
      "Compares the priorities of decisions that rules judged: past the hourly limit, and at the levels all and mentions. There "
      + "the priority does not decide whether a message notifies, but whether it sounds in a burst, how long it waits for a read, "
      + "and whether it is said again. Reads decisions, candidates and preferences; writes nothing. "
      + "--policy: the policy whose urgent words count.",
    settings: ClusterSettings.all + [AnalyzerSettings.policy, since, until, json], arguments: [file],
    examples: ["nudge rules try rules.json --since 1h --bootstrap-servers kafka:9092"]
  ) { input in
    let rules = try read(input)
    let policy = try policy(input)
    let span = try TimeSpan.of(since: input[since], until: input[until], now: SystemClock.milliseconds())
    let browser = try TopicBrowser(ClusterSettings(input))
    let report = try RulesSearch(browser: browser).report(
      rules, policy: policy, since: span.from ?? 0, until: span.to)
    try CommandOutput.print(report, asJSON: input[json], text: report.text)
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

/// Finds decisions made by simple rules, and what other rules would have decided.
struct RulesSearch {
  let browser: TopicBrowser

  /// How long before its decision a message may have been ingested, because of the analyzer's backlog.
  private static let backlog: Milliseconds = 3_600_000

  private struct Key: Hashable {
    var userId: String
    var conversationId: String
    var messageId: String
  }

  func report(_ rules: SimpleRules, policy: NotificationPolicy, since: Milliseconds, until: Milliseconds? = nil) throws
    -> RulesReport
  {
    try browser.find([.decisions, .timeline, .analyzerState])
    let decisions = try decisions(since: since, until: until)
    var report = RulesReport(version: rules.version, since: since, decisions: decisions.count)
    guard !decisions.isEmpty else { return report }
    var trial = SimpleRulesTrial(rules, policy: policy)
    let coder = browser.coder
    try browser.read(try browser.ranges(of: .analyzerState), "reading preferences") { record in
      if let key = record.key { try trial.take(RowKey(bytes: [UInt8](key)), record.value, coder: coder) }
      return true
    }
    var left = decisions
    try browser.read(try browser.ranges(of: .timeline, from: since - Self.backlog), "reading candidates") { record in
      guard record.valueContains(Self.needle), let value = record.valueBytes(),
        case .candidate(let candidate)? = try? browser.codec.decode(TimelineEvent.self, from: value).body
      else { return true }
      for recipient in candidate.recipients {
        let key = Key(
          userId: recipient.userId, conversationId: candidate.conversationId, messageId: candidate.messageId)
        guard let decided = left.removeValue(forKey: key) else { continue }
        report.add(decided, now: trial.decide(candidate, for: recipient))
      }
      return !left.isEmpty
    }
    report.notFound = left.count
    return report
  }

  private static let needle = Array(#""message.candidate""#.utf8)

  /// Decisions made by rules, which contain the rules' version.
  private func decisions(since: Milliseconds, until: Milliseconds?) throws -> [Key: RulesReport.Decided] {
    var found: [Key: RulesReport.Decided] = [:]
    try browser.read(try browser.ranges(of: .decisions, from: since, until: until), "reading decisions") { record in
      guard record.valueContains(Array(#""rules":"#.utf8)), let value = record.value,
        let json = try? JSONValue(value), json["rules"]?.string != nil,
        let userId = json["userId"]?.string, let conversationId = json["conversationId"]?.string,
        let messageId = json["messageId"]?.string,
        let priority = json["priority"]?.string.flatMap({ Priority(rawValue: $0) })
      else { return true }
      found[Key(userId: userId, conversationId: conversationId, messageId: messageId)] = RulesReport.Decided(
        reason: json["reason"]?.string ?? "?", level: json["level"]?.string, priority: priority,
        rule: json["signals"]?.elements.first?["name"]?.string)
      return true
    }
    return found
  }
}

/// Decisions that other rules would change.
struct RulesReport: Encodable, Equatable {
  struct Decided: Equatable {
    var reason: String
    /// The person's level for the conversation; nil if the decision comes from a release without levels.
    var level: String?
    var priority: Priority
    /// The rule; nil if none matched.
    var rule: String?
  }

  /// Decisions that would change in the same way.
  struct Change: Encodable, Equatable, Hashable {
    /// The decision's reason. Past the hourly limit, another priority may change it too.
    var reason: String
    /// The level. At `all` and `mentions` the priority does not decide whether the message notifies.
    var level: String?
    var from: Priority
    var to: Priority
    /// The former rule; nil if none matched.
    var fromRule: String?
    var toRule: String?

    fileprivate var order: [String] { [reason, level ?? "", fromRule ?? "", toRule ?? "", to.rawValue] }
  }

  private struct CountedChange: Encodable {
    var change: Change
    var count: Int

    func encode(to encoder: any Encoder) throws {
      try change.encode(to: encoder)
      try encoder.encode(fields: ["count": count])
    }
  }

  let version: String
  let since: Milliseconds
  /// The number of decisions made by rules.
  let decisions: Int
  /// The number of decisions whose candidate was deleted by retention.
  var notFound = 0
  private var changes: [Change: Int] = [:]

  init(version: String, since: Milliseconds, decisions: Int) {
    self.version = version
    self.since = since
    self.decisions = decisions
  }

  /// The number of decisions with another priority.
  var changed: Int { changes.values.reduce(0, +) }

  mutating func add(_ decided: Decided, now: (priority: Priority, rule: String?)) {
    guard now.priority != decided.priority else { return }
    let change = Change(
      reason: decided.reason, level: decided.level, from: decided.priority, to: now.priority, fromRule: decided.rule,
      toRule: now.rule)
    changes[change, default: 0] += 1
  }

  private var sorted: [CountedChange] {
    changes.map { CountedChange(change: $0.key, count: $0.value) }.sorted { a, b in
      a.count != b.count
        ? a.count > b.count
        : a.change.order.lexicographicallyPrecedes(b.change.order)
    }
  }

  func encode(to encoder: any Encoder) throws {
    try encoder.encode(fields: [
      "version": version, "since": since, "decisions": decisions, "notFound": notFound, "changed": changed,
      "changes": sorted,
    ])
  }

  var text: String {
    var lines = [
      "\(decisions.counted("decision")) by simple rules since \(RFC3339.text(since)); by version "
        + "\(version), \(changed) would have had another priority"
    ]
    lines += sorted.map { item in
      let rules = "\(item.change.fromRule ?? "no rule") → \(item.change.toRule ?? "no rule")"
      let level = item.change.level.map { ", level \($0)" } ?? ""
      return
        "  \(item.count)  \(item.change.reason)\(level): \(item.change.from.rawValue) → \(item.change.to.rawValue)  (\(rules))"
    }
    if notFound > 0 { lines.append("  \(notFound) could not be judged: their candidates are no longer kept") }
    return lines.joined(separator: "\n")
  }
}
