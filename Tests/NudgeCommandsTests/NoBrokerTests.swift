import ServiceKit
import Testing

@testable import NudgeCommands

@Suite("Commands without a broker")
struct NoBrokerTests {
  @Test(
    "every command that needs a broker ends with 1 within 10 s where none answers, and names the setting in one line",
    arguments: [
      ["topics", "create"], ["topics", "list"], ["topics", "check", "--json"],
      ["state", "list", "--stage", "ingest"], ["state", "accept-loss", "--stage", "dispatcher", "--yes"],
      ["state", "rebuild", "--stage", "analyzer"], ["state", "end-transactions", "--stage", "ingest"],
    ])
  func ends(_ command: [String]) {
    // Nobody listens on port 1.
    let arguments = command + ["--bootstrap-servers", "127.0.0.1:1"]
    var lines: [String] = []
    let start = ContinuousClock.now
    let exitCode = NudgeCLI.run(arguments, environment: [:], output: { lines.append($0) }, errors: { lines.append($0) })
    #expect(start.duration(to: .now) < .seconds(10))
    #expect(exitCode == ExitCode.failure)
    #expect(lines.count == 1)
    let line = lines.first ?? ""
    #expect(line.contains("127.0.0.1:1") && line.contains("--bootstrap-servers") && !line.contains("\n"), "\(line)")
  }
}
