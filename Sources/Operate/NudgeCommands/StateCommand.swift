import Analyzer
import Dispatcher
import Foundation
import Ingest
import ServiceKit
import StreamRuntime

/// `nudge state list | show | accept-loss | rebuild | adopt-topics`.
enum StateCommand {
  private static let stage = Setting<StageName>(
    required: "stage", environment: .none, help: "The stage.")

  private static let tasks = Setting<[Int]>(
    "tasks", environment: .none, default: [],
    help: "Numbers of tasks (partitions) that have lost their state. Default: all of these.",
    check: { numbers in numbers.allSatisfy { (0...Int(Int32.max)).contains($0) } ? nil : "numbers of partitions" })

  private static let trustMovedOffsets = Setting<Bool>(
    "trust-moved-offsets", environment: .none, default: false,
    help:
      "Goes by the group's committed offsets also where somebody else than the stage has moved them: what lies behind "
      + "them is processed, and notifies, whether it was before or not.")

  private static let json = CommandOutput.json

  static let command = Command(
    "state", abstract: "Inspects and repairs the state of a stage's tasks.",
    subcommands: [list, show, acceptLoss, rebuild, adoptTopics, endTransactions])

  private static let list = Command(
    "list",
    abstract: "Lists the tasks of a stage with their positions.",
    discussion:
      "Exits with 1 if a task has lost its state: its group has committed offsets, but the changelog has "
      + "no position.",
    settings: ClusterSettings.all + [stage, Watching.every, json],
    examples: ["nudge state list --stage analyzer --bootstrap-servers kafka:9092"]
  ) { input in
    try Watching.run(input, asJSON: input[json]) {
      let states = try ClusterSettings(input).stateRepair(of: input[stage].definition).tasks()
      try output(StateReport(stage: input[stage], tasks: states), asJSON: input[json])
      return states.contains(where: \.isLost) ? ExitCode.failure : ExitCode.success
    }
  }

  private static let key = Setting<String>(
    required: "key", environment: .none,
    help:
      "A row's key: a letter for its kind and ids, with / between them (%2F is a slash in an id); rows whose keys go on "
      + "from there are shown as well. Analyzer: u/USER, p/USER, c/USER/CONVERSATION, d/USER/DEVICE. Ingest: c/CONVERSATION, "
      + "c/CONVERSATION/USER, e/c/CONVERSATION, e/u/USER, e/r/USER, d/USER/DEVICE, o/TOKENHASH. Dispatcher: d/USER/DEVICE, "
      + "w/USER%01DEVICE, o/USER/DEVICE.")

  private static let showsTexts = Setting<Bool>(
    "texts", environment: .none, default: false, help: "Show texts. Tokens are never shown.")

  private static let show = Command(
    "show",
    abstract: "Prints rows of a stage's state as JSON.",
    discussion:
      "Reads one task's changelog from its start. Exits with 1 if there is no such row.",
    settings: ClusterSettings.all + [stage, key, showsTexts, json],
    examples: [
      "nudge state show --stage analyzer --key u/ben --bootstrap-servers kafka:9092",
      "nudge state show --stage analyzer --key c/ben --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let name = input[stage]
    let row = RowKey(written: input[key])
    let found = try ClusterSettings(input).stateLookup(of: name.definition).rows(at: row, ownedBy: name.owner(of: row))
    try output(
      StateRowReport(stage: name, found, redaction: Redaction(showsTexts: input[showsTexts])), asJSON: input[json])
    return found.isEmpty ? ExitCode.failure : ExitCode.success
  }

  private static let acceptLoss = Command(
    StateRepair.Method.acceptLoss.rawValue,
    abstract: "Lets tasks that have lost their state continue without it.",
    discussion:
      "They continue after the last processed record; nobody is notified again. Without --yes, the command "
      + "only prints what it would do.",
    settings: ClusterSettings.all + [stage, tasks, trustMovedOffsets] + Writing.mending + [json],
    examples: [
      "nudge state accept-loss --stage dispatcher --bootstrap-servers kafka:9092",
      "nudge state accept-loss --stage dispatcher --tasks 1,4 --yes --bootstrap-servers kafka:9092",
    ]
  ) { try repair(.acceptLoss, $0) }

  private static let rebuild = Command(
    StateRepair.Method.rebuild.rawValue,
    abstract: "Rebuilds lost state from what the inputs still hold.",
    discussion:
      "Records processed before the loss are processed for the state only: nothing is written or sent "
      + "again. Without --yes, the command only prints what it would do.",
    settings: ClusterSettings.all + [stage, tasks, trustMovedOffsets] + Writing.mending + [json],
    examples: [
      "nudge state rebuild --stage analyzer --bootstrap-servers kafka:9092",
      "nudge state rebuild --stage analyzer --yes --bootstrap-servers kafka:9092",
    ]
  ) { try repair(.rebuild, $0) }

  private static let adoptTopics = Command(
    StateRepair.Method.adoptTopics.rawValue,
    abstract: "Lets tasks continue on a copy of their cluster.",
    discussion:
      "Only for a copy with the same records at the same offsets, such as a mirrored cluster. Where a topic was deleted and "
      + "created again, the tasks would skip its first records: use accept-loss there. Without --yes, the command only prints "
      + "what it would do.",
    settings: ClusterSettings.all + [stage, tasks] + Writing.mending + [json],
    examples: [
      "nudge state adopt-topics --stage dispatcher --bootstrap-servers kafka:9092",
      "nudge state adopt-topics --stage dispatcher --yes --bootstrap-servers kafka:9092",
    ]
  ) { try repair(.adoptTopics, $0) }

  private static let endTransactions = Command(
    "end-transactions",
    abstract: "Ends decided transactions that lack their markers.",
    discussion:
      "A lone broker can leave markers out when it stops. Services write them on their own; this command "
      + "is for clusters where they lack the right to (it takes ClusterAction or Alter on the cluster).",
    settings: ClusterSettings.all + [stage] + Writing.mending + [json],
    examples: [
      "nudge state end-transactions --stage ingest --bootstrap-servers kafka:9092",
      "nudge state end-transactions --stage ingest --yes --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let writes = try Writing.isMendingAsked(input)
    let work = try ClusterSettings(input).stateRepair(of: input[stage].definition)
    let found = try writes ? work.endHangingTransactions() : work.hangingTransactions()
    try output(HangingReport(stage: input[stage], isWritten: writes, state: found), asJSON: input[json])
    if writes { audit("state end-transactions", input) }
    return ExitCode.success
  }

  private static func repair(_ method: StateRepair.Method, _ input: CommandInput) throws -> Int32 {
    let writes = try Writing.isMendingAsked(input)
    let work = try ClusterSettings(input).stateRepair(of: input[stage].definition)
    let trustsMoved = method == .adoptTopics ? false : input[trustMovedOffsets]
    let wanted = input[tasks].isEmpty ? nil : input[tasks].map { Int32($0) }
    var report = StateRepairReport(stage: input[stage], method: method, isWritten: writes)
    if writes {
      do {
        try work.carryOut(method, tasks: wanted, trustingMovedOffsets: trustsMoved) {
          report.repairs.append($0)
        }
      } catch {
        // Repairs made before the error are valid, so they are reported first.
        if !report.repairs.isEmpty { try output(report, asJSON: input[json]) }
        throw error
      }
    } else {
      report.repairs = try work.plan(method, tasks: wanted, trustingMovedOffsets: trustsMoved)
    }
    try output(report, asJSON: input[json])
    if writes {
      audit("state \(method.rawValue)", input, ["tasks": report.repairs.map { "\($0.task)" }.joined(separator: ",")])
    }
    return ExitCode.success
  }

  private static func audit(_ command: String, _ input: CommandInput, _ details: [String: String] = [:]) {
    AuditedWriter.record(
      command, why: input[Writing.optionalWhy], details: details.merging(["stage": input[stage].rawValue]) { $1 },
      ClusterSettings(input))
  }

  private static func output(_ report: some StateReporting, asJSON: Bool) throws {
    try CommandOutput.print(report, asJSON: asJSON, text: report.text)
  }
}

/// A stage's name on the command line.
enum StageName: String, CaseIterable, SettingValue, Encodable {
  case ingest
  case analyzer
  case dispatcher

  /// The stage's topics and state.
  var definition: StageDefinition {
    switch self {
    case .ingest: IngestStage.definition
    case .analyzer: AnalyzerStage.definition
    case .dispatcher: DispatcherStage.definition
    }
  }

  /// How the stage's tasks are split when partitions are added.
  var splitRules: SplitRules {
    switch self {
    case .ingest: IngestStage.splitRules
    case .analyzer: AnalyzerStage.splitRules
    case .dispatcher: DispatcherStage.splitRules
    }
  }
}
