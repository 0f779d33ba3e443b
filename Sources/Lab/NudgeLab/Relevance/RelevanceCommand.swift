import Foundation
import NudgeCommands
import NudgeSchema
import Relevance
import ServiceKit

/// `nudge relevance FILE…`.
enum RelevanceCommand {
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Prints JSON, for machines.")

  private static let threshold = Setting<Double?>(
    "threshold", environment: .none, default: nil,
    help: "The score from which a message counts as meant for a person. Default: the score of high priority.")

  private static let names = Setting<NamesChoice>(
    "names", environment: .none, default: .kept,
    help:
      "kept; removed-from-message: names of members are taken out of each message that is judged; removed: out of all "
      + "messages.")

  private static let features = Setting<String?>(
    "features", environment: .none, default: nil,
    help:
      "A file the model's input is written to, for training: of each pair its bytes, the truth, and the log's number.")

  private static let explain = Setting<Int>(
    "explain", environment: .none, default: 0,
    help: "Print this many wrong and right judgements with their signals.",
    check: { $0 >= 0 ? nil : "0 or more" })

  static let command = Command(
    "relevance",
    abstract: "Measures smart analysis on annotated chat logs.",
    discussion:
      "The logs say which messages each message answers. For each of them, the command compares the model's answer for "
      + "the last 20 other speakers with the log's.",
    settings: [threshold, names, AnnotatedLogs.split, features, explain, json],
    arguments: [AnnotatedLogs.files],
    examples: [
      "nudge relevance chat.jsonl.gz --json", "nudge relevance chat.jsonl.gz --split held-out --names removed",
    ]
  ) { input in
    let measure = RelevanceMeasure(names: input[names].names, explains: input[explain] > 0)
    let limit = input[threshold] ?? measure.threshold
    var count = RelevanceCount()
    var logs: [String] = []
    var examples = input[explain]
    let output = try input[features].map { try FeatureFile(path: $0) }
    try AnnotatedLogs.forEach(input) { log in
      logs.append(log[0].log)
      try measure.judge(log) { pair in
        let isFound = pair.score >= limit
        count.add(isTrue: pair.isTrue, isFound: isFound)
        if examples > 0, pair.isTrue || isFound {
          examples -= 1
          print(describe(pair, isFound: isFound))
        }
        try output?.add(pair, log: logs.count - 1)
      }
    }
    try output?.close(logs: logs)
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

  private static func percent(_ part: Double) -> String { String(format: "%.1f %%", part * 100) }

  private static func describe(_ pair: RelevanceMeasure.Pair, isFound: Bool) -> String {
    let signals = pair.signals.map { "\($0.name) \(String(format: "%+.2f", $0.weight))" }.joined(separator: ", ")
    return
      "\(pair.log) \(pair.message): \(pair.isTrue ? "for the person" : "not for the person"), score \(pair.score), "
      + "\(isFound == pair.isTrue ? "right" : "wrong"): \(pair.text) [\(signals)]"
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
