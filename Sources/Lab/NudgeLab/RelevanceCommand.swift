package import Analyzer
import CZlib
import Foundation
import Ingest
import NudgeCommands
package import NudgeSchema
import Relevance
package import ServiceKit
import StreamRuntime

/// `nudge relevance FILE…`.
enum RelevanceCommand {

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
    settings: [threshold, names, AnnotatedLogs.split, features, explain, CommandOutput.json],
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
    if input[CommandOutput.json] {
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

/// Writes training examples as fixed-size records, and the logs' names to a file beside them.
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
    let about: JSONObject = ["features": FeatureLayout.names, "layout": FeatureLayout.version, "logs": logs]
    try JSONEncoder().encode(about).write(to: URL(fileURLWithPath: path + ".json"))
  }

  private func flush() throws {
    try file.write(contentsOf: Data(bytes))
    bytes.removeAll(keepingCapacity: true)
  }
}

/// The layout of a feature file.
/// Measures on an annotated log how well smart analysis finds the people whom a message is for.
///
/// The candidates of an annotated message are the last 20 other speakers before it. The message is for the people whose messages it
/// answers. Contexts come from ingest's code, scores from the analyzer's.
package struct RelevanceMeasure {
  /// The most candidates of a message.
  package static let candidates = 20

  /// The names to remove from texts before they are read.
  package enum Names: Sendable {
    case kept
    /// Members' names are removed from the scored message only.
    case removedFromMessage
    /// The names of everybody in the log are removed from all messages.
    case removedFromLog
  }

  /// A message and a candidate.
  package struct Pair {
    package var log: String
    var message: Int
    package var at: Milliseconds
    package var candidate: MessageCandidate
    package var recipient: Recipient
    var score: Double
    package var isTrue: Bool
    var features: [UInt8]
    var signals: [Signal]
    var text: String
  }

  package let scoring = RelevanceScoring(AnalyzerRules(hash: { _ in [] }))
  private let names: Names
  private let explains: Bool

  package init(names: Names = .kept, explains: Bool = false) {
    self.names = names
    self.explains = explains
  }

  /// The score from which a message counts as meant for a person.
  var threshold: Double { scoring.threshold }

  /// Scores the annotated messages of one log, given in order.
  package func judge(_ log: [ChatMessage], _ note: (Pair) throws -> Void) throws {
    var conversation = OfflineConversation()
    var speakers = LogSpeakers()
    if names == .removedFromLog {
      for message in log { conversation.join(ChatNames.user(message.nick), displayName: message.nick) }
    }
    for message in log {
      let sender = ChatNames.user(message.nick)
      conversation.join(sender, displayName: message.nick)
      let recipients = speakers.recipients(of: sender)
      var judged = conversation
      let kept = names == .removedFromLog ? conversation.text(withoutNames: message.text) : message.text
      let candidate = conversation.candidate(
        of: created(message, sender, kept), at: message.at, for: message.replyTo == nil ? [] : recipients)
      if let truth = speakers.answered(by: message) {
        let judgedCandidate =
          names == .removedFromMessage
          ? judged.candidate(
            of: created(message, sender, conversation.text(withoutNames: message.text)), at: message.at,
            for: recipients) : candidate
        for recipient in judgedCandidate.recipients {
          let explanation = explains ? scoring.explanation(judgedCandidate, for: recipient) : (signals: [], text: "")
          try note(
            Pair(
              log: message.log, message: message.number, at: message.at, candidate: judgedCandidate,
              recipient: recipient,
              score: scoring.score(judgedCandidate, for: recipient), isTrue: truth.contains(recipient.userId),
              features: scoring.features(judgedCandidate, for: recipient), signals: explanation.signals,
              text: explanation.text))
        }
      }
      speakers.wrote(message, sender)
    }
  }

  private func created(_ message: ChatMessage, _ sender: String, _ text: String) -> MessageCreated {
    MessageCreated(
      conversationId: message.log, messageId: String(message.number), senderId: sender, text: text.isEmpty ? nil : text)
  }
}

package struct RelevanceCount: Encodable, Equatable {
  package var pairs = 0
  package var positive = 0
  private(set) var found = 0
  private(set) var right = 0

  package init() {}

  package mutating func add(isTrue: Bool, isFound: Bool) {
    pairs += 1
    if isTrue { positive += 1 }
    if isFound { found += 1 }
    if isTrue && isFound { right += 1 }
  }

  /// The share of found pairs that are true. 0 without found pairs.
  package var precision: Double { found == 0 ? 0 : Double(right) / Double(found) }
  /// The share of true pairs that were found. 0 without true pairs.
  package var recall: Double { positive == 0 ? 0 : Double(right) / Double(positive) }
  /// The harmonic mean of precision and recall. 0 if both are 0.
  package var f1: Double { precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall) }

  package func encode(to encoder: any Encoder) throws {
    func rounded(_ share: Double) -> Double { (share * 10_000).rounded() / 10_000 }
    try encoder.encode(fields: [
      "pairs": pairs, "positive": positive, "precision": rounded(precision), "recall": rounded(recall),
      "f1": rounded(f1),
    ])
  }
}

/// The annotated chat logs that a command line names: the files, and the part of their logs.
package enum AnnotatedLogs {
  package static let files = PositionalArgument("file", help: "Chat logs, JSON lines, plain or gzip.", count: .many)

  package static let split = Setting<SplitChoice>(
    "split", environment: .none, default: .all,
    help:
      "all logs, or those of one part of the training script's split: held-out, validation or training. A log's part "
      + "follows from its name alone.")

  /// Passes the messages of each of these logs to `body`, in order.
  /// - Throws: `CommandError` if there are none.
  package static func forEach(_ input: CommandInput, _ body: ([ChatMessage]) throws -> Void) throws {
    var hasMessages = false
    var isEmpty = true
    for path in input.arguments("file") {
      try forEachLog(in: path) { log in
        hasMessages = true
        guard input[split].contains(log[0].log) else { return }
        isEmpty = false
        try body(log)
      }
    }
    guard hasMessages else { throw CommandError("the files have no messages") }
    if isEmpty { throw CommandError("none of the logs is in the part that --split names") }
  }

  /// Passes the messages of each log to `body`, in order. The lines of a log must be consecutive.
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

/// The values of `--split`: a part of the training script's split, which depends on a log's name.
package enum SplitChoice: String, CaseIterable, SettingValue {
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

/// Finds the people for whom a message of an annotated log is judged, and the people whom it answers by the annotation.
package struct LogSpeakers {
  private var authors: [Int: String] = [:]
  /// The speakers, latest last.
  private var speakers: [String] = []

  package init() {}

  /// The last `RelevanceMeasure.candidates` other speakers, the latest first.
  package func recipients(of sender: String) -> [String] {
    Array(speakers.filter { $0 != sender }.suffix(RelevanceMeasure.candidates).reversed())
  }

  /// The people whose messages this one answers. Absent if it is not annotated.
  package func answered(by message: ChatMessage) -> Set<String>? {
    message.replyTo.map { Set($0.compactMap { authors[$0] }) }
  }

  /// Adds a message that was written.
  package mutating func wrote(_ message: ChatMessage, _ sender: String) {
    authors[message.number] = sender
    speakers.removeAll { $0 == sender }
    speakers.append(sender)
  }
}
