import ServiceKit
import Testing

@testable import NudgeCommands
@testable import StreamRuntime

@Suite("Reports of nudge state")
struct StateReportTests {
  private func run(_ arguments: String...) -> (status: Int32, output: String) {
    var output = ""
    let status = NudgeCLI().run(
      arguments, environment: [:], output: { output += $0 + "\n" }, errors: { output += $0 + "\n" })
    return (status, output)
  }

  @Test(
    "each command says in its help what it does, and shows whole command lines", arguments: ["accept-loss", "rebuild"])
  func help(_ name: String) {
    let answer = run("state", name, "--help")
    #expect(answer.status == ExitCode.success)
    #expect(answer.output.contains("nudge state \(name) --stage") && answer.output.contains("yes"))
    #expect(answer.output.contains("--tasks") && answer.output.contains("trust-moved-offsets"))
  }

  @Test("--stage is required and names one of three stages; --tasks takes numbers")
  func usage() {
    #expect(run("state", "list").status == ExitCode.usage)
    let stage = run("state", "list", "--stage", "sender")
    #expect(stage.status == ExitCode.usage && stage.output.contains("ingest, analyzer or dispatcher"))
    #expect(run("state", "rebuild", "--stage", "ingest", "--tasks", "-1").status == ExitCode.usage)
    #expect(run("state", "rebuild", "--stage", "ingest", "--tasks", "all").status == ExitCode.usage)
  }

  @Test("each task has a line with its state; below a lost one are the commands that repair it")
  func conditions() {
    func report(_ condition: TaskState.Condition, sequence: Int64? = nil, committed: Int64? = nil) -> String {
      StateReport(
        stage: .analyzer,
        tasks: [
          TaskState(
            task: 2, condition: condition, sequence: sequence, next: sequence == nil ? [:] : ["nudge.timeline": 9],
            rebuildTo: condition == .rebuilding ? ["nudge.timeline": 30] : [:],
            committed: committed.map { ["nudge.timeline": $0] } ?? [:], committedSequence: committed.map { _ in 1 })
        ]
      ).text
    }
    #expect(report(.neverRan) == "task 2: has never run")
    #expect(report(.neverRan, committed: 4) == "task 2: has never run: its first transaction is there in part")
    #expect(report(.present, sequence: 7, committed: 9) == "task 2: transaction 7, next nudge.timeline=9")
    #expect(
      report(.rebuilding, sequence: 7, committed: 31)
        == "task 2: transaction 7, next nudge.timeline=9, rebuilding up to nudge.timeline=30")
    let lost = report(.lost, committed: 4)
    #expect(lost.hasPrefix("task 2: LOST. Committed is nudge.timeline=4, transaction 1\n"))
    #expect(
      lost.contains("nudge state rebuild --stage analyzer") && lost.contains("nudge state accept-loss --stage analyzer")
    )
  }

  @Test("without a lost task the report has no next step", arguments: StageName.allCases)
  func nothing(_ stage: StageName) {
    let report = StateRepairReport(stage: stage, method: .rebuild, isWritten: true)
    #expect(report.text == "No task of \(stage.rawValue) has lost its state: there is nothing to do.")
  }

  @Test("a repair of the dispatcher warns that pushes waiting in lanes get no outcome")
  func lanes() throws {
    for method in [StateRepair.Method.acceptLoss, .rebuild] {
      var report = StateRepairReport(stage: .dispatcher, method: method, isWritten: false)
      report.repairs = [
        TaskRepair(
          task: 3, sequence: 9, next: ["nudge.pushes": 17], rebuildTo: [:], rowsRemoved: 2, trustsMovedOffsets: true)
      ]
      #expect(report.text.contains("task 3: goes on at nudge.pushes=17 with empty state; 2 rows without a position"))
      #expect(report.text.contains("BY OFFSETS SOMEBODY ELSE HAS MOVED"))
      #expect(report.text.contains("have no outcome"))
      #expect(report.text.contains("Nothing was written. Add --yes to do it."))
    }
  }
}
