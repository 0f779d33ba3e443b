import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import NudgeCommands
@testable import ServiceKit

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
    let rules = "\(folder.path)/rules.json"
    try Data(#"{"version":"1","rules":[],"otherwise":"low"}"#.utf8).write(to: URL(fileURLWithPath: rules))
    let inputs = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let stage = ["--stage", "ingest"]
    let replay = "20261122-103000-k3f9x2"
    let commands: [(name: String, flags: [String])] = [
      ("topics create", []), ("topics list", []), ("topics check", ["--json"]),
      ("topics repartition", ["--partitions", "8"]),
      ("state list", stage), ("state show", stage + ["--key", "c/a"]), ("state accept-loss", stage + ["--yes"]),
      ("state rebuild", stage), ("state adopt-topics", stage), ("state end-transactions", stage),
      ("publish message", ["--from", "ann", "--to", "bob", "--text", "hi"]),
      ("publish message", ["--from", "ann", "--to", "bob", "--text", "hi", "--wait"]),
      ("publish device", ["--user", "bob", "--token", "token"]),
      ("publish preferences", ["--user", "bob", "--no-enabled"]),
      ("import", [file, "--kind", "devices"]),
      ("explain", ["--user", "bob"]), ("explain", ["--message", "m"]), ("explain", ["--token-hash", "9f86d081884c"]),
      ("funnel", []), ("tail", ["decisions"]), ("tail", ["decisions", "--follow"]), ("lag", []),
      ("lag", ["--watch", "1s"]),
      ("dead-letters list", []), ("dead-letters show", []), ("dead-letters replay", []), ("dead-letters discard", []),
      ("dead-letters edit", ["2@17", "--set", "a=1"]), ("rejections", ["--producer", "chat"]), ("replay list", []),
      ("replay simulate", []), ("replay resend-missing", []), ("replay resend-failed", []), ("replay rederive", []),
      ("replay force", ["--message", "m"]), ("replay resume", [replay]), ("replay stop", [replay]), ("simulate", []),
      ("erase", ["--user", "bob"]), ("rules try", [rules]), ("upgrade status", []), ("upgrade finalize", []),
    ]
    // The doctor says what it finds, the console begins without a broker, and a bundle has what can be collected.
    #expect(
      Set(commands.map(\.name)) == Self.names(NudgeCLI().commands).subtracting(["doctor", "console", "support-bundle"]))
    // All at once: each waits some seconds.
    let ends = Mutex<[Int: End]>([:])
    let running = DispatchGroup()
    for (index, command) in commands.enumerated() {
      running.enter()
      Thread {
        let end = Self.run(command.name.split(separator: " ").map(String.init) + command.flags)
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
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == inputs)
  }

  @Test("the doctor has the same exit code, as all of its codes for probes")
  func doctor() { #expect(Self.run(["doctor"]).exitCode == ExitCode.noBroker) }

  /// Of the commands that need a broker.
  private static func names(_ commands: [Command], _ path: [String] = []) -> Set<String> {
    commands.reduce(into: []) { names, command in
      let own = path + [command.name]
      if command.settings.contains(where: { $0.name == ServiceSettings.bootstrapServers.name }) {
        names.insert(own.joined(separator: " "))
      }
      names.formUnion(self.names(command.subcommands, own))
    }
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
