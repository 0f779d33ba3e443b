import CZlib
import Foundation
import NudgeCommands
import NudgeSchema
import Relevance
import ServiceKit

/// `nudge relevance FILE…`.
enum RelevanceCommand {
  static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Prints JSON, for machines.")

  private static let threshold = Setting<Double?>(
    "threshold", environment: .none, default: nil,
    help: "The score from which a message counts as meant for a person. Default: the score of high priority.")

  private static let names = Setting<NamesChoice>(
    "names", environment: .none, default: .kept,
    help:
      "kept; removed-from-message: names of members are taken out of each message that is judged; removed: out of all "
      + "messages.")

  private static let split = Setting<SplitChoice>(
    "split", environment: .none, default: .all,
    help:
      "all logs, or those of one part of the training script's split: held-out, validation or training. A log's part "
      + "follows from its name alone.")

  private static let features = Setting<String?>(
    "features", environment: .none, default: nil,
    help:
      "A file the model's input is written to, for training: of each pair its bytes, the truth, and the log's number.")

  private static let explain = Setting<Int>(
    "explain", environment: .none, default: 0,
    help: "Print this many wrong and right judgements with their signals.",
    check: { $0 >= 0 ? nil : "0 or more" })

  private static let taste = Setting<TasteChoice?>(
    "taste", environment: .none, default: nil,
    help:
      "Simulates people who say of messages whether they helped, and measures what that changes. average: they want what "
      + "the log says; different: also all messages of one in four senders, and none of another one in four.")

  private static let signals = Setting<Int>(
    "signals", environment: .none, default: 20, help: "Verdicts each of these people gives.",
    check: { (1...10_000).contains($0) ? nil : "from 1 to 10000" })

  private static let cost = Setting<Bool>(
    "cost", environment: .none, default: false,
    help:
      "Decides all messages by the policies all, smart, smart with visible small groups, and mentions: alerts a person and day, "
      + "and what of the messages meant for somebody is shown.")

  static let seed = Setting<Int>(
    "seed", environment: .none, default: 1,
    help: "Which senders people of a different taste like, when people of --attention look, and what intervals draw.")

  static let command = Command(
    "relevance",
    abstract: "Measures smart analysis on annotated chat logs.",
    discussion:
      "The logs say which messages each message answers. For each of them, the command compares the model's answer for "
      + "the last 20 other speakers with the log's.",
    settings: [
      threshold, names, split, taste, signals, cost, budgets, attention, plot, seed, features, explain, json,
    ],
    arguments: [PositionalArgument("file", help: "Chat logs, JSON lines, plain or gzip.", count: .many)],
    examples: [
      "nudge relevance chat.jsonl.gz --json", "nudge relevance chat.jsonl.gz --split held-out --names removed",
      "nudge relevance chat.jsonl.gz --split held-out --taste different --signals 20",
      "nudge relevance chat.jsonl.gz --split held-out --budget 3,5,10",
      "nudge relevance chat.jsonl.gz --split held-out --attention all --plot attention.svg",
    ]
  ) { input in
    if input[cost] { return try showCost(input) }
    if let level = input[attention] { return try showAttention(level, input) }
    if let limits = input[budgets] { return try showBudgets(limits.compactMap { Int($0) }, input) }
    let measure = RelevanceMeasure(names: input[names].names, explains: input[explain] > 0)
    let limit = input[threshold] ?? measure.threshold
    var count = RelevanceCount()
    var logs: [String] = []
    var examples = input[explain]
    var trial = input[taste].map {
      LearningMeasure($0.people(seed: input[seed]), signals: input[signals], scoring: measure.scoring)
    }
    let output = try input[features].map { try FeatureFile(path: $0) }
    for path in input.arguments("file") {
      try forEachLog(in: path) { log in
        guard input[split].contains(log[0].log) else { return }
        logs.append(log[0].log)
        try measure.judge(log) { pair in
          trial?.add(pair)
          let isFound = pair.score >= limit
          count.add(isTrue: pair.isTrue, isFound: isFound)
          if examples > 0, pair.isTrue || isFound {
            examples -= 1
            print(describe(pair, isFound: isFound))
          }
          try output?.add(pair, log: logs.count - 1)
        }
      }
    }
    try output?.close(logs: logs)
    if let trial {
      try show(trial.count, asJSON: input[json])
      return ExitCode.success
    }
    if input[json] {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      print(String(decoding: try encoder.encode(count), as: UTF8.self))
    } else {
      print(
        "\(logs.count) logs, \(count.pairs) pairs, \(count.positive) of them for the person. From a score of \(limit) "
          + "on, model \(RelevanceModel.current.version):")
      print(
        "precision \(percent(count.precision)), recall \(percent(count.recall)), F1 \(percent(count.f1))")
    }
    return ExitCode.success
  }

  private static func showBudgets(_ limits: [Int], _ input: CommandInput) throws -> Int32 {
    var measure = BudgetMeasure()
    try forEachChosenLog(input) { measure.add($0) }
    try show(measure, limits, seed: UInt64(bitPattern: Int64(input[seed])), asJSON: input[json])
    return ExitCode.success
  }

  private static func showCost(_ input: CommandInput) throws -> Int32 {
    var measure = CostMeasure()
    try forEachChosenLog(input) { try measure.add($0) }
    let summaries = CostMeasure.Policy.allCases.map {
      CostSummary(
        $0, measure.logs[$0] ?? [], measure.counts[$0] ?? [], seed: UInt64(bitPattern: Int64(input[seed])))
    }
    if input[json] {
      try CommandOutput.print(json: summaries)
      return ExitCode.success
    }
    func text(_ figure: ResampledFigure, _ unit: Double = 100) -> String {
      let digits = unit == 1 ? "%.1f (%.1f to %.1f)" : "%.0f %% (%.0f to %.0f)"
      return String(format: digits, figure.value * unit, figure.low * unit, figure.high * unit)
    }
    print("\(measure.logs[.all]?.count ?? 0) logs; intervals: 95 of 100 draws of whole logs")
    for summary in summaries {
      print(
        "\(summary.policy.rawValue): \(text(summary.alertsPerDay, 1)) alerts a person and active day, median "
          + "\(text(summary.medianAlerts, 1)), 90 in 100 at most \(text(summary.p90Alerts, 1)); "
          + "\(summary.personDays) people and days")
      print(
        "    of \(summary.meant) messages meant for somebody \(text(summary.meantAlerting)) alert, "
          + "\(text(summary.meantVisible)) are at least visible, \(text(summary.meantNothing)) show nothing; "
          + "\(text(summary.alertsNotMeant)) of alerts are for somebody else")
    }
    return ExitCode.success
  }

  private static func show(_ count: LearningCount, asJSON: Bool) throws {
    if asJSON {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      print(String(decoding: try encoder.encode(count), as: UTF8.self))
      return
    }
    print(
      "\(count.people) people gave all of their signals; after that \(count.with.pairs) messages, "
        + "\(count.with.positive) of them wanted:")
    for (name, part) in [("without what they taught", count.without), ("with it", count.with)] {
      print(
        "\(name): precision \(percent(part.precision)), recall \(percent(part.recall)), F1 \(percent(part.f1))")
    }
  }

  private static func percent(_ part: Double) -> String { String(format: "%.1f %%", part * 100) }

  private static func describe(_ pair: RelevanceMeasure.Pair, isFound: Bool) -> String {
    let signals = pair.signals.map { "\($0.name) \(String(format: "%+.2f", $0.weight))" }.joined(separator: ", ")
    return
      "\(pair.log) \(pair.message): \(pair.isTrue ? "for the person" : "not for the person"), score \(pair.score), "
      + "\(isFound == pair.isTrue ? "right" : "wrong"): \(pair.text) [\(signals)]"
  }

  /// Passes the messages of each log in the part that `--split` names to `body`, in order.
  static func forEachChosenLog(_ input: CommandInput, _ body: ([ChatMessage]) throws -> Void) throws {
    var isEmpty = true
    for path in input.arguments("file") {
      try forEachLog(in: path) { log in
        guard input[split].contains(log[0].log) else { return }
        isEmpty = false
        try body(log)
      }
    }
    if isEmpty { throw CommandError("none of the logs is in the part that --split names") }
  }

  /// Passes the messages of each log to `body`, in order; a file has each log's lines together.
  private static func forEachLog(in path: String, _ body: ([ChatMessage]) throws -> Void) throws {
    let file = try ChatLogFile(path: path)
    var log: [ChatMessage] = []
    while let message = try file.next() {
      if let first = log.first, first.log != message.log {
        try body(log)
        log.removeAll(keepingCapacity: true)
      }
      log.append(message)
    }
    if !log.isEmpty { try body(log) }
  }
}

/// The names to remove from texts, as a setting.
enum NamesChoice: String, CaseIterable, SettingValue {
  case kept
  case removedFromMessage = "removed-from-message"
  case removed

  var names: RelevanceMeasure.Names {
    switch self {
    case .kept: .kept
    case .removedFromMessage: .removedFromMessage
    case .removed: .removedFromLog
    }
  }
}

/// The wishes of simulated people, as a setting.
enum TasteChoice: String, CaseIterable, SettingValue {
  case average
  case different

  func people(seed: Int) -> LearningMeasure.People {
    switch self {
    case .average: .average
    case .different: .different(seed: UInt64(bitPattern: Int64(seed)))
    }
  }
}

/// The values of `--split`: a part of the training script's split, which follows from a log's name.
enum SplitChoice: String, CaseIterable, SettingValue {
  case all
  case heldOut = "held-out"
  case validation
  case training

  /// Whether the log is in this part: CRC-32 of its name modulo 5 is 0 for held-out logs, 1 for validation.
  func contains(_ log: String) -> Bool {
    var name = Array(log.utf8)
    let remainder = crc32(0, &name, UInt32(name.count)) % 5
    switch self {
    case .all: return true
    case .heldOut: return remainder == 0
    case .validation: return remainder == 1
    case .training: return remainder > 1
    }
  }
}

/// Writes training examples as fixed-size records, with the logs' names beside them.
private final class FeatureFile {
  private let path: String
  private let file: FileHandle
  private var bytes: [UInt8] = []

  init(path: String) throws {
    self.path = path
    guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
    else { throw ChatLogError("\(path) cannot be written") }
    self.file = file
  }

  func add(_ pair: RelevanceMeasure.Pair, log: Int) throws {
    bytes += pair.features
    bytes += [pair.isTrue ? 1 : 0, UInt8(log & 255), UInt8(log >> 8 & 255)]
    if bytes.count > 1 << 20 { try flush() }
  }

  func close(logs: [String]) throws {
    try flush()
    try file.close()
    let about = FeatureFileContent(features: FeatureLayout.names, layout: FeatureLayout.version, logs: logs)
    try JSONEncoder().encode(about).write(to: URL(fileURLWithPath: path + ".json"))
  }

  private func flush() throws {
    try file.write(contentsOf: Data(bytes))
    bytes.removeAll(keepingCapacity: true)
  }
}

/// The layout of a feature file.
private struct FeatureFileContent: Encodable {
  var features: [String]
  var layout: UInt8
  var logs: [String]
}
