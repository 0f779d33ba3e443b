import Foundation
import NudgeCommands
import ServiceKit

enum DemoCommand {
  static let command = Command(
    "demo",
    abstract: "Runs the whole pipeline on this machine, with a load.",
    discussion:
      "Plays a chat log, and checks that every message, decision, push and request is accounted for.",
    settings: DemoOptions.all,
    examples: [
      "nudge demo",
      "nudge demo --chat-log ubuntu-train.jsonl.gz --rate 100 --duration 1m",
      "nudge demo --kafka-home /opt/kafka --rate 200 --duration 60s --json",
      "nudge demo --kafka-home /opt/kafka --kill ingest@5s --kill analyzer@10s --kill dispatcher@15s",
    ]
  ) { try run(DemoOptions($0)) }

  private static func run(_ options: DemoOptions) throws -> Int32 {
    let environment = ProcessInfo.processInfo.environment
    let programs = try DemoProgram.find(in: DemoProgram.directoryOfThisProgram())
    let interrupts = Interrupts()
    let display = LiveDisplay(options.json ? .standardError : .standardOutput, environment: environment)
    let demo = try DemoRun(options, programs: programs, interrupts: interrupts, display: display)
    let summary: DemoSummary
    do {
      summary = try demo.run()
    } catch {
      CommandOutput.report("nudge demo: \(error)\nlogs and state are kept in \(demo.directory.path)")
      return interrupts.count > 0 ? ExitCode.interrupted : ExitCode.failure
    }
    let text =
      options.json ? try CommandOutput.encoder.encode(summary) : Data(summary.text(display.colours).utf8)
    try FileHandle.standardOutput.write(contentsOf: text + Data("\n".utf8))
    guard summary.own.account.isBalanced else {
      CommandOutput.report("nudge demo: not everything is accounted for")
      for complaint in summary.own.account.complaints { CommandOutput.report("  " + complaint) }
      CommandOutput.report("logs and state are kept in \(demo.directory.path)")
      return ExitCode.failure
    }
    if options.keep { CommandOutput.report("logs and state are kept in \(demo.directory.path)") }
    // A demo may end by Ctrl-C as well as by its duration. `interrupted` tells the two apart.
    return ExitCode.success
  }
}
