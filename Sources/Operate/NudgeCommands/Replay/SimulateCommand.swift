import Analyzer
import NudgeSchema
import ServiceKit

/// `nudge simulate`, and under its former name `nudge replay simulate`.
enum SimulateCommand {
  /// The exit code if a decision differs and `--expect-same` is given.
  static let differs: Int32 = 3

  private static let expectSame = Setting<Bool>(
    "expect-same", environment: .none, default: false, help: "Exits with 3 where any decision differs.")
  private static let examples = Setting<Int>(
    "examples", environment: .none, default: 5, in: 0...1_000, help: "Decisions that differ to print.")

  static let command = command(path: "nudge simulate")
  /// The command under its former name.
  static let replayCommand = command(path: "nudge replay simulate")

  private static func command(path: String) -> Command {
    Command(
      "simulate",
      abstract: "Compares past decisions with this version's, by a policy.",
      discussion:
        "Decides again what the timeline holds. Shows how messages would appear, and how many alerts people would get. "
        + "Writes nothing.",
      settings: ClusterSettings.all + ReplayCommand.selecting + ReplayCommand.deciding
        + [examples, expectSame, CommandOutput.json],
      examples: [
        "\(path) --since 1d --policy policy.json --bootstrap-servers kafka:9092",
        "\(path) --since 2h --user ann --examples 20 --bootstrap-servers kafka:9092",
        "\(path) --since 1h --expect-same --bootstrap-servers kafka:9092",
      ]
    ) { input in
      let browser = try TopicBrowser(ClusterSettings(input), queueBytes: 16 << 20)
      let result = try Simulation(
        selection: ReplayCommand.selection(input), rules: try AnalyzerSettings.rules(from: input.values),
        examples: input[examples], browser: browser
      ).result()
      if input[CommandOutput.json] {
        try CommandOutput.print(json: result)
      } else {
        print(result.text)
      }
      return result.compared > result.same && input[expectSame] ? differs : ExitCode.success
    }
  }
}

/// The result of a simulation. Its size grows with the people and days of the time span, not with the decisions.
struct SimulationResult {
  /// Decisions that would differ in the same way.
  struct Change: Encodable, Equatable {
    /// The recorded decision.
    var was: String
    /// The simulated decision.
    var wouldBe: String
    var messages: Int
    var people: Int
  }
  /// A decision that would differ.
  struct Example: Encodable, Equatable {
    var userId: String
    var conversationId: String
    var messageId: String
    var was: String
    var wouldBe: String
  }
  /// The alerts per person and day.
  struct Alerts: Encodable, Equatable {
    var median: Int
    var p90: Int
    var total: Int
  }
  /// The alerts of a person over all days.
  struct Gain: Encodable, Equatable {
    var userId: String
    var before: Int
    var after: Int
  }

  private struct ChangeKey: Hashable {
    var was: SimulatedDecision.Result
    var wouldBe: SimulatedDecision.Result
  }
  private struct Day: Hashable {
    var person: Int32
    var day: Int32
  }

  /// The number of decisions that were compared.
  private(set) var compared = 0
  /// The number of compared decisions that would be the same.
  private(set) var same = 0
  /// The number of decisions that cannot be repeated from the records that are left.
  private(set) var insufficient = 0
  /// The number of decisions without a record, because they are not made yet or no longer kept.
  private(set) var unrecorded = 0
  private(set) var examples: [Example] = []
  private let exampleCount: Int
  /// The compared decisions by how they appeared and would appear: `alert`, `silent`, `badge` or `none`.
  private(set) var shapes: (before: [String: Int], after: [String: Int]) = ([:], [:])
  private var messages: [ChangeKey: Int] = [:]
  private var people: [ChangeKey: Set<Int32>] = [:]
  private var numbers: [String: Int32] = [:]
  private var names: [String] = []
  private var days: [Day: (before: Int32, after: Int32)] = [:]

  init(examples: Int) { exampleCount = examples }

  mutating func countUnrecorded() { unrecorded += 1 }

  mutating func countInsufficient() { insufficient += 1 }

  /// Compares a recorded decision with the simulated one.
  mutating func compare(_ recorded: SimulatedDecision, _ simulated: SimulatedDecision) {
    compared += 1
    let person = number(recorded.userId)
    let day = Day(person: person, day: Int32(truncatingIfNeeded: recorded.decidedAt / 86_400_000))
    var alerts = days[day] ?? (0, 0)
    if recorded.result.alerts { alerts.before += 1 }
    if simulated.result.alerts { alerts.after += 1 }
    days[day] = alerts
    shapes.before[recorded.result.shape, default: 0] += 1
    shapes.after[simulated.result.shape, default: 0] += 1
    guard recorded.result != simulated.result else {
      same += 1
      return
    }
    let key = ChangeKey(was: recorded.result, wouldBe: simulated.result)
    messages[key, default: 0] += 1
    people[key, default: []].insert(person)
    guard examples.count < exampleCount else { return }
    examples.append(
      Example(
        userId: recorded.userId, conversationId: recorded.conversationId, messageId: recorded.messageId,
        was: recorded.result.description, wouldBe: simulated.result.description))
  }

  private mutating func number(_ userId: String) -> Int32 {
    if let number = numbers[userId] { return number }
    let number = Int32(names.count)
    numbers[userId] = number
    names.append(userId)
    return number
  }

  // MARK: Sums

  /// All changes, the most frequent first.
  var changes: [Change] {
    messages.map { key, count in
      Change(
        was: key.was.description, wouldBe: key.wouldBe.description, messages: count, people: people[key]?.count ?? 0)
    }.sorted { ($1.messages, $0.was, $0.wouldBe) < ($0.messages, $1.was, $1.wouldBe) }
  }

  /// Alerts per person and day, over days on which the person received something.
  var alerts: (before: Alerts, after: Alerts) {
    (Self.alerts(days.values.map { Int($0.before) }), Self.alerts(days.values.map { Int($0.after) }))
  }

  private static func alerts(_ counts: [Int]) -> Alerts {
    let sorted = counts.sorted()
    return Alerts(
      median: sorted.quantile(0.5) ?? 0, p90: sorted.quantile(0.9) ?? 0, total: sorted.reduce(0, +))
  }

  /// The ten people who would get the most additional alerts.
  var gains: [Gain] {
    var sums: [Int32: (before: Int, after: Int)] = [:]
    for (day, alerts) in days {
      sums[day.person, default: (0, 0)].before += Int(alerts.before)
      sums[day.person, default: (0, 0)].after += Int(alerts.after)
    }
    return sums.filter { $0.value.after > $0.value.before }.map { person, alerts in
      Gain(userId: names[Int(person)], before: alerts.before, after: alerts.after)
    }.sorted {
      ($1.after - $1.before, $0.userId) < ($0.after - $0.before, $1.userId)
    }.prefix(10).map { $0 }
  }
}

extension SimulationResult: Encodable {
  func encode(to encoder: any Encoder) throws {
    let alerts = alerts
    try encoder.encode(fields: [
      "compared": compared, "same": same, "insufficient": insufficient, "unrecorded": unrecorded, "changes": changes,
      "alertsBefore": alerts.before, "alertsAfter": alerts.after, "shapesBefore": shapes.before,
      "shapesAfter": shapes.after, "gains": gains, "examples": examples,
    ])
  }

  /// The result as text.
  var text: String {
    var lines = [
      "\(compared.counted("decision was", "decisions were")) decided again; \(same) would be the same, \(compared - same) \(compared - same == 1 ? "differs" : "differ")."
    ]
    if insufficient > 0 {
      lines.append("\(insufficient) could not be: the person's preferences or devices are older than the timeline.")
    }
    if unrecorded > 0 { lines.append("\(unrecorded) more have no record to be compared with.") }
    let changes = changes
    if !changes.isEmpty {
      let rows =
        [["was", "would be", "messages", "people"]]
        + changes.map {
          [$0.was, $0.wouldBe, String($0.messages), String($0.people)]
        }
      lines.append("")
      lines += Self.table(rows)
    }
    let alerts = alerts
    lines.append("")
    lines.append(
      "alerts a person and day: median \(alerts.before.median) → \(alerts.after.median), 90 % have at most "
        + "\(alerts.before.p90) → \(alerts.after.p90), in all \(alerts.before.total) → \(alerts.after.total)")
    if !gains.isEmpty {
      lines.append("people who gain most alerts:")
      lines += gains.map { "    \($0.userId)  \($0.before) → \($0.after)" }
    }
    if !examples.isEmpty { lines.append("examples:") }
    lines += examples.map { "    \($0.messageId) in \($0.conversationId) for \($0.userId): \($0.was) → \($0.wouldBe)" }
    return lines.joined(separator: "\n")
  }

  /// Columns; the last two are right-aligned.
  private static func table(_ rows: [[String]]) -> [String] {
    let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      (0..<4).map { column in
        column < 2 ? row[column].padded(to: widths[column]) : row[column].alignedRight(in: widths[column])
      }.joined(separator: "  ")
    }
  }
}
