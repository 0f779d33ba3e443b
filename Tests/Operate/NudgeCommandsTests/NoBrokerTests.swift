import Dispatch
import Foundation
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("Commands without a broker")
struct NoBrokerTests {
  /// A command's output and duration.
  private struct End {
    var exitCode: Int32
    var lines: [String]
    var time: Duration
  }

  @Test(
    "every command that needs a broker fails within 10 s if none answers, in one line that names the setting")
  func ends() throws {
    let folder = try TemporaryDirectory()
    let file = "\(folder.path)/devices.jsonl"
    let line = #"{"userId":"bob","deviceId":"d","token":"t","platform":"ios"}"#
    try Data(line.utf8).write(to: URL(fileURLWithPath: file))
    let commands = [
      ["topics", "create"], ["topics", "list"], ["topics", "check", "--json"],
      ["state", "list", "--stage", "ingest"], ["state", "accept-loss", "--stage", "dispatcher", "--yes"],
      ["state", "rebuild", "--stage", "analyzer"], ["state", "end-transactions", "--stage", "ingest"],
      ["publish", "message", "--from", "ann", "--to", "bob", "--text", "hi"],
      ["publish", "message", "--from", "ann", "--to", "bob", "--text", "hi", "--wait"],
      ["publish", "device", "--user", "bob", "--token", "token"],
      ["publish", "preferences", "--user", "bob", "--no-enabled"],
      ["import", file, "--kind", "devices"],
      ["explain", "--user", "bob"], ["tail", "decisions"], ["lag"], ["dead-letters", "list"], ["replay", "list"],
    ]
    // All at once: each waits some seconds.
    let ends = Mutex<[Int: End]>([:])
    let running = DispatchGroup()
    for (index, command) in commands.enumerated() {
      running.enter()
      Thread {
        let end = Self.run(command)
        ends.withLock { $0[index] = end }
        running.leave()
      }.start()
    }
    running.wait()
    for (index, command) in commands.enumerated() {
      let end = try #require(ends.withLock { $0[index] })
      #expect(end.time < .seconds(10), "\(command)")
      #expect(end.exitCode == ExitCode.noBroker, "\(command)")
      #expect(end.lines.count == 1, "\(command): \(end.lines)")
      let line = end.lines.first ?? ""
      #expect(
        line.contains("127.0.0.1:1") && line.contains("--bootstrap-servers") && !line.contains("\n"),
        "\(command): \(line)")
    }
    // Nothing a later import would go on from.
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["devices.jsonl"])
  }

  private static func run(_ command: [String]) -> End {
    // Nobody listens on port 1.
    let arguments = command + ["--bootstrap-servers", "127.0.0.1:1"]
    var lines: [String] = []
    let start = ContinuousClock.now
    let exitCode = NudgeCLI().run(
      arguments, environment: [:], output: { lines.append($0) }, errors: { lines.append($0) })
    return End(exitCode: exitCode, lines: lines, time: start.duration(to: .now))
  }
}
