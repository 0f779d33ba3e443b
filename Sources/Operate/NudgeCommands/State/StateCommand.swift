import Foundation
import ServiceKit
import StreamRuntime

/// `nudge state list | show | accept-loss | rebuild`.
enum StateCommand {
  private static let stage = Setting<StageName>(
    required: "stage", environment: .none, help: "Whose state.")

  private static let tasks = Setting<[Int]>(
    "tasks", environment: .none, default: [],
    help: "Numbers of tasks, which are partitions; all of them must have lost their state. Default: all that have.",
    check: { numbers in numbers.allSatisfy { (0...Int(Int32.max)).contains($0) } ? nil : "numbers of partitions" })

  private static let yes = Setting<Bool>(
    "yes", environment: .none, default: false, help: "Writes it. Without, what would be written is printed.")

  private static let trustMovedOffsets = Setting<Bool>(
    "trust-moved-offsets", environment: .none, default: false,
    help:
      "Goes by the group's committed offsets also where somebody else than the stage has moved them: what lies behind "
      + "them is processed, and notifies, whether it was before or not.")

  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Prints JSON, for machines.")

  static let command = Command(
    "state", abstract: "The state of a stage's tasks: look into it, see whether it is lost, and repair it.",
    subcommands: [list, show, acceptLoss, rebuild, endTransactions])

  private static let list = Command(
    "list",
    abstract:
      "Lists the tasks of a stage with their positions. Exits with 1 where a task has lost its state: the group has "
      + "committed offsets, but the changelog has no position.",
    settings: ClusterSettings.all + [stage, json],
    examples: ["nudge state list --stage analyzer --bootstrap-servers kafka:9092"]
  ) { input in
    let states = try ClusterSettings(input).stateRepair(of: input[stage].definition).tasks()
    try output(StateReport(stage: input[stage], tasks: states), asJSON: input[json])
    return states.contains(where: \.isLost) ? ExitCode.failure : ExitCode.success
  }

  private static let key = Setting<String>(
    required: "key", environment: .none,
    help:
      "A row's key: a letter for its kind and ids, with / between them (%2F is a slash in an id); rows whose keys go on "
      + "from there are shown as well. Analyzer: u/USER, p/USER, c/USER/CONVERSATION, d/USER/DEVICE. Ingest: c/CONVERSATION, "
      + "c/CONVERSATION/USER, e/c/CONVERSATION, e/u/USER, e/r/USER, d/USER/DEVICE, o/TOKENHASH. Dispatcher: d/USER/DEVICE, "
      + "w/USER%01DEVICE, o/USER/DEVICE.")

  private static let showsTexts = Setting<Bool>(
    "texts", environment: .none, default: false, help: "Shows what people wrote, too. Tokens are never shown.")

  private static let show = Command(
    "show",
    abstract:
      "Prints rows of a stage's state as JSON, as the changelog has them. Reads one task's changelog from its start. Exits "
      + "with 1 where there is no such row.",
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
    abstract:
      "Lets tasks that have lost their state go on without it, behind all that was processed. Nobody is notified "
      + "again. Without --yes it only says what it would do.",
    settings: ClusterSettings.all + [stage, tasks, trustMovedOffsets, yes, json],
    examples: [
      "nudge state accept-loss --stage dispatcher --bootstrap-servers kafka:9092",
      "nudge state accept-loss --stage dispatcher --tasks 1,4 --yes --bootstrap-servers kafka:9092",
    ]
  ) { try repair(.acceptLoss, $0) }

  private static let rebuild = Command(
    StateRepair.Method.rebuild.rawValue,
    abstract:
      "Has tasks that have lost their state make it again from what their inputs still hold. What was processed "
      + "before is processed for the state only: nothing is written or sent again. Without --yes it only says what it would "
      + "do.",
    settings: ClusterSettings.all + [stage, tasks, trustMovedOffsets, yes, json],
    examples: [
      "nudge state rebuild --stage analyzer --bootstrap-servers kafka:9092",
      "nudge state rebuild --stage analyzer --yes --bootstrap-servers kafka:9092",
    ]
  ) { try repair(.rebuild, $0) }

  private static let endTransactions = Command(
    "end-transactions",
    abstract:
      "Ends transactions of a stage that were decided, but whose markers a lone broker left out when it stopped, as they "
      + "were decided. Services do so by themselves; this is for where they may not (it takes ClusterAction or Alter on the "
      + "cluster, and the right to read __transaction_state), or none waits. Services may run meanwhile. Without --yes it "
      + "only says what it would do.",
    settings: ClusterSettings.all + [stage, yes, json],
    examples: [
      "nudge state end-transactions --stage ingest --bootstrap-servers kafka:9092",
      "nudge state end-transactions --stage ingest --yes --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let work = try ClusterSettings(input).stateRepair(of: input[stage].definition)
    let found = try input[yes] ? work.endHangingTransactions() : work.hangingTransactions()
    try output(HangingReport(stage: input[stage], isWritten: input[yes], state: found), asJSON: input[json])
    return ExitCode.success
  }

  private static func repair(_ method: StateRepair.Method, _ input: CommandInput) throws -> Int32 {
    let work = try ClusterSettings(input).stateRepair(of: input[stage].definition)
    let wanted = input[tasks].isEmpty ? nil : input[tasks].map { Int32($0) }
    var report = StateRepairReport(stage: input[stage], method: method, isWritten: input[yes])
    if input[yes] {
      do {
        try work.carryOut(method, tasks: wanted, trustingMovedOffsets: input[trustMovedOffsets]) {
          report.repairs.append($0)
        }
      } catch {
        // What was written by then stands, and is told before the error is.
        if !report.repairs.isEmpty { try output(report, asJSON: input[json]) }
        throw error
      }
    } else {
      report.repairs = try work.plan(method, tasks: wanted, trustingMovedOffsets: input[trustMovedOffsets])
    }
    try output(report, asJSON: input[json])
    return ExitCode.success
  }

  private static func output(_ report: some StateReporting, asJSON: Bool) throws {
    guard asJSON else { return print(report.text) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(report), as: UTF8.self))
  }
}
