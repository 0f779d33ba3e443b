import Analyzer
import Dispatcher
import Foundation
import Ingest
import NudgeSchema
import StreamRuntime

/// The output of a state command, as text or JSON.
protocol StateReporting: Encodable {
  var text: String { get }
}

/// The state of a stage's tasks.
struct StateReport: StateReporting {
  var stage: StageName
  var tasks: [TaskState]

  /// One line per task, and what to do about lost state.
  var text: String {
    var lines = tasks.map { state in
      switch state.condition {
      case .neverRan:
        "task \(state.task): has never run"
          + (state.committed.isEmpty ? "" : ": its first transaction is there in part")
      case .present:
        "task \(state.task): transaction \(state.sequence ?? 0), next \(Offsets.shown(state.next))"
      case .rebuilding:
        "task \(state.task): transaction \(state.sequence ?? 0), next \(Offsets.shown(state.next)), rebuilding up to "
          + Offsets.shown(state.rebuildTo)
      case .lost:
        "task \(state.task): LOST. Committed is \(Offsets.shown(state.committed)), "
          + (state.committedSequence.map { "transaction \($0)" } ?? "moved by somebody else or not complete")
      case .inputBehind:
        "task \(state.task): INPUT LOST. Next is \(Offsets.shown(state.next)), and inputs end at "
          + Offsets.shown(state.behind)
      case .inputReplaced:
        "task \(state.task): INPUT REPLACED. Next was \(Offsets.shown(state.next)), and created again since: "
          + state.replaced.joined(separator: ", ")
      }
    }
    let replaced = tasks.filter { !$0.replaced.isEmpty }
    if !replaced.isEmpty {
      lines.append(
        "\(Set(replaced.flatMap(\.replaced)).sorted().joined(separator: ", ")): deleted and created again since the positions of tasks "
          + "\(replaced.map { String($0.task) }.joined(separator: ",")).\n"
          + "They do not run. See what going on from the first offsets of the new topics would do\n"
          + "  nudge state accept-loss --stage \(stage.rawValue)\n"
          + "On a cluster that mirrors another with the same offsets go on at the positions instead\n"
          + "  nudge state adopt-topics --stage \(stage.rawValue)")
    }
    let behind = tasks.filter { $0.condition == .inputBehind }.map { String($0.task) }
    if !behind.isEmpty {
      lines.append(
        "Inputs of tasks \(behind.joined(separator: ",")) end before their positions: topics were made again, or leaders lost\n"
          + "records. The tasks do not run. See what going on from the inputs' first offsets, with the state as it is, would do\n"
          + "  nudge state accept-loss --stage \(stage.rawValue)\n"
          + "The next stage drops causes with offsets that are not later than those it knows: where a topic was made again, read\n"
          + "'Lost state' in docs/operations.md first.")
    }
    let lost = tasks.filter { $0.condition == .lost }.map { String($0.task) }
    if !lost.isEmpty {
      lines.append(
        "The state of tasks \(lost.joined(separator: ",")) is lost: they do not run. See what a repair would do with\n"
          + "  nudge state rebuild --stage \(stage.rawValue)       make it again from the inputs\n"
          + "  nudge state accept-loss --stage \(stage.rawValue)   go on without it")
    }
    return lines.joined(separator: "\n")
  }
}

/// Repairs that were written or would be.
struct StateRepairReport: StateReporting {
  var stage: StageName
  var method: StateRepair.Method
  var isWritten: Bool
  var repairs: [TaskRepair] = []

  private enum CodingKeys: String, CodingKey {
    case stage
    case method
    case isWritten = "written"
    case repairs
  }

  /// One line per task, the consequences, and the next step.
  var text: String {
    guard !repairs.isEmpty else { return "No task of \(stage.rawValue) has lost its state: there is nothing to do." }
    var lines = repairs.map { repair in
      let removed =
        repair.rowsRemoved == 0
        ? ""
        : "; \(repair.rowsRemoved.counted("row")) without a position \(repair.rowsRemoved == 1 ? "is" : "are") removed"
      let moved = repair.trustsMovedOffsets ? "; BY OFFSETS SOMEBODY ELSE HAS MOVED" : ""
      let place =
        repair.keepsState
        ? "goes on at \(Offsets.shown(repair.next)) with its state"
        : repair.rebuildTo.isEmpty
          ? "goes on at \(Offsets.shown(repair.next)) with empty state"
          : "is rebuilt from \(Offsets.shown(repair.next)) up to \(Offsets.shown(repair.rebuildTo))"
      return "task \(repair.task): \(place)\(removed)\(moved)"
    }
    if !repairs.allSatisfy(\.keepsState) { lines.append(meaning) }
    lines.append(
      isWritten
        ? "Written. A running service takes the tasks up within some seconds."
        : "Nothing was written. Add --yes to do it.")
    return lines.joined(separator: "\n")
  }

  /// What is permanently lost.
  private var meaning: String {
    switch (method, stage) {
    case (_, .dispatcher):
      "Pushes that waited in lanes when the state was lost are not sent and have no outcome: whether a push service took them is not "
        + "known, and nothing is sent twice."
        + (method == .acceptLoss ? " Repeats of pushes from before the loss are not recognised any more." : "")
    case (.rebuild, .ingest):
      "Conversations and devices of which the inputs hold nothing any more stay unknown until their producers send them "
        + "again."
    case (.rebuild, .analyzer):
      "Preferences, devices and unread messages that are older than what the timeline holds stay unknown."
    case (.adoptTopics, _): ""
    case (.acceptLoss, .ingest):
      "All conversations and devices are unknown until their producers send them again: messages to them become dead letters."
    case (.acceptLoss, .analyzer):
      "All preferences, devices and unread counts are unknown: nobody is notified before their apps register again."
    }
  }
}

/// Open transactions that were ended or would be.
struct HangingReport: StateReporting {
  var stage: StageName
  var isWritten: Bool
  var state: HangingState

  func encode(to encoder: any Encoder) throws {
    try encoder.encode(fields: [
      "stage": stage, "written": isWritten, "transactions": state.transactions, "unexplained": state.unexplained,
    ])
  }

  /// One line per transaction, and the next step.
  var text: String {
    let unexplained = state.unexplained.map {
      "\($0): open, and the coordinator's log does not say how it was decided. If it stays so for a minute, see "
        + "docs/operations.md, Hanging transactions"
    }
    return (decided + unexplained).joined(separator: "\n")
  }

  private var decided: [String] {
    let transactions = state.transactions
    guard !transactions.isEmpty else {
      return ["No decided transaction of \(stage.rawValue) is without a marker: there is nothing to write."]
    }
    let lines = transactions.map {
      "\($0.transactionalID): decided as \($0.isCommit ? "committed" : "aborted"), without a marker on "
        + $0.partitions.joined(separator: ", ")
    }
    let ending =
      isWritten
      ? "Ended as they were decided. Services go on by themselves."
      : "Nothing was written. Add --yes to end them as they were decided."
    return lines + [ending]
  }
}

/// Offsets as text.
private enum Offsets {
  static func shown(_ offsets: [String: Int64]) -> String {
    offsets.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }
}

extension StageName {
  /// Decodes a row of the stage to JSON. Throws if the bytes are not a row.
  func json(of row: StateLookup.Found, coder: RecordCoder) throws -> [UInt8] {
    try row.bytes.withUnsafeBytes { bytes in
      switch self {
      case .ingest: try IngestRow(key: row.key, bytes: bytes, coder: coder).json(coder: coder)
      case .analyzer: try AnalyzerRow(key: row.key, bytes: bytes, coder: coder).json(coder: coder)
      case .dispatcher:
        try DispatcherRow(key: row.key, bytes: bytes, coder: coder).json(coder: coder)
      }
    }
  }

  /// The key of the records that reach the row's task; nil if the row's key does not contain it.
  func owner(of key: RowKey) -> String? {
    let parts = key.parts
    guard parts.count > 1 else { return nil }
    switch (self, parts[0]) {
    // The key of an event id has its owner between kind and id.
    case (.ingest, "e"): return parts.count > 2 ? parts[2] : nil
    // A lane's key has person and device in one part.
    case (.dispatcher, "w"): return parts[1].split(separator: "\u{1}").first.map(String.init)
    default: return parts[1]
    }
  }
}

extension RowKey {
  /// Parses a key in its printed form: parts separated by `/`. `%2F` is a slash in an id, `%25` a percent sign, and `%01` the separator of
  /// person and device in a lane's key.
  init(written text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map {
      String($0).removingPercentEncoding ?? String($0)
    }
    self.init(bytes: Array(parts.map { Array($0.utf8) }.joined(separator: [0])))
  }

  /// The key in its printed form.
  var written: String {
    parts.map { part in
      part.replacing("%", with: "%25").replacing("/", with: "%2F").replacing("\u{1}", with: "%01")
    }.joined(separator: "/")
  }
}

/// Rows of a stage's state.
struct StateRowReport: StateReporting {
  /// A row as JSON, without tokens and texts (T4).
  struct Row: Encodable {
    var task: Int32
    var key: String
    /// The size of the encoded row.
    var bytes: Int
    var row: JSONValue
  }
  var stage: String
  var rows: [Row]

  init(stage: StageName, _ found: [StateLookup.Found], redaction: Redaction) throws {
    self.stage = stage.rawValue
    let coder = RecordCoder()
    rows = try found.map { row in
      let json = try JSONValue(stage.json(of: row, coder: coder))
      return Row(
        task: row.task, key: row.key.written, bytes: row.bytes.count,
        row: redaction.apply(to: json, of: stage.definition.changelog))
    }
  }

  /// One line per row, followed by the row.
  var text: String {
    guard !rows.isEmpty else { return "\(stage) has no such row." }
    return rows.map { row in
      let json = (try? CommandOutput.prettyEncoder.encode(row.row)).map { String(decoding: $0, as: UTF8.self) } ?? ""
      return "\(row.key)  (task \(row.task), \(row.bytes.counted("byte")))\n\(json)"
    }.joined(separator: "\n")
  }
}
