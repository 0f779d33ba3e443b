import Foundation
import Ingest
import Kafka
import ServiceKit
import Synchronization
import TestSupport
import Testing

@Suite("The ingest process")
struct IngestServiceTests {
  private func run(_ arguments: [String]) -> (exitCode: Int32, lines: [String]) {
    var lines: [String] = []
    let exitCode = IngestService.assembly.program(sink: LogCapture().sink, signals: false).main(
      arguments, environment: [:], output: { lines.append($0) }, errors: { lines.append($0) })
    return (exitCode, lines)
  }

  @Test("--check ends with 1 and names the missing topics and the command that makes them")
  func missingTopics() throws {
    let broker = try EmbeddedBroker()
    try broker.createTopic("chat.events", partitions: 2)
    let (exitCode, lines) = run(["--bootstrap-servers", broker.bootstrapServers, "--check"])
    #expect(exitCode == ExitCode.failure)
    let line = try #require(lines.first)
    #expect(line.hasPrefix("nudge-ingest: topics: missing topics: "))
    #expect(line.contains("user.events") && line.contains("nudge.ingest-state") && !line.contains("chat.events,"))
    #expect(line.contains("nudge topics create"))
  }

  @Test("--check ends with 1 within 10 s where no broker answers, and names the setting in one line")
  func noBrokerAnswers() throws {
    let start = ContinuousClock.now
    // Nobody listens on port 1.
    let (exitCode, lines) = run(["--bootstrap-servers", "127.0.0.1:1", "--check"])
    #expect(start.duration(to: .now) < .seconds(10))
    #expect(exitCode == ExitCode.failure)
    #expect(lines.count == 1)
    let line = try #require(lines.first)
    #expect(line.contains("127.0.0.1:1") && line.contains("--bootstrap-servers") && !line.contains("\n"))
  }

  @Test("without brokers it ends with 64 and says which flag and variable are missing")
  func noBrokers() {
    let (exitCode, lines) = run([])
    #expect(exitCode == ExitCode.usage)
    #expect(lines.first?.contains("--bootstrap-servers or NUDGE_KAFKA_BOOTSTRAP_SERVERS") == true)
  }

  private static let brokers = ["--bootstrap-servers", "127.0.0.1:1"]

  @Test("an address for the HTTP API without keys ends with 64 and names the settings")
  func noKeys() {
    let (exitCode, lines) = run(Self.brokers + ["--http-address", "127.0.0.1:0"])
    #expect(exitCode == ExitCode.usage)
    #expect(lines.first?.contains("--api-keys-file") == true && lines.first?.contains("--jwt-keys-file") == true)
    #expect(run(Self.brokers + ["--jwt-audience", "nudge"]).exitCode == ExitCode.usage)
  }

  @Test("--http-only without keys ends with 64, and says that nothing is left to do")
  func aloneWithoutKeys() throws {
    let (exitCode, lines) = run(Self.brokers + ["--http-only"])
    #expect(exitCode == ExitCode.usage)
    let line = try #require(lines.first)
    #expect(line.contains("--http-only") && line.contains("--api-keys-file") && line.contains("--jwt-keys-file"))
  }

  @Test("--http-only takes events and is ready, and leaves all partitions to ingests without the flag")
  func alone() throws {
    let broker = try EmbeddedBroker()
    for topic in [
      "chat.events", "user.events", "nudge.device-claims", "nudge.timeline", "nudge.ingest-state", "nudge.dead-letters",
    ] { try broker.createTopic(topic, partitions: 2) }
    let directory = try TemporaryDirectory()
    let key = "a-key-of-thirty-two-characters-or-more"
    try Data("chat \(key)\n".utf8).write(to: URL(fileURLWithPath: directory.path + "/keys"))
    let common = ["--bootstrap-servers", broker.bootstrapServers, "--state-dir"]
    let door = RunningProgram(
      common + [directory.path + "/door", "--http-only", "--api-keys-file", directory.path + "/keys"])
    defer { door.stop() }
    wait(for: "readiness") { door.says("ready") != nil }
    let listens = try #require(door.says("HTTP API listens"))
    guard case .int(let port)? = listens.metadata["port"] else {
      Issue.record("no port: \(listens)")
      return
    }
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    let answer = try SocketClient(port: port).request(
      "POST", "/v1/events",
      headers: ["Content-Type: application/json", "Authorization: Bearer \(key)", "traceparent: \(trace)"],
      bytes: Array(APIUnderTest.message("e-1").utf8))
    #expect(answer.status == 202, "\(answer.body)")

    let ingest = RunningProgram(common + [directory.path + "/ingest"])
    defer { ingest.stop() }
    // The message is refused, because nobody made its conversation: it was processed.
    wait(for: "the event to be processed") { ingest.says("record dead-lettered") != nil }
    let refused = ingest.says("record dead-lettered")?.metadata
    #expect(refused?["trace_id"] == .string("4bf92f3577b34da6a3ce929d0e0e4736") && refused?["span_id"] != nil)
    #expect(ingest.says("partitions assigned")?.metadata["tasks"] == .string("0,1"))
    #expect(door.says("partitions assigned") == nil)
  }

  /// The program, on a thread of this process.
  private final class RunningProgram: Sendable {
    private let capture = LogCapture()
    private let group = Mutex<ServiceGroup?>(nil)
    private let status = Mutex<Int32?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(_ arguments: [String]) {
      Thread { [self] in
        let program = IngestService.assembly.program(
          sink: capture.sink, signals: false, started: { [self] it in group.withLock { $0 = it } })
        let code = program.main(arguments, environment: [:], output: { _ in }, errors: { _ in })
        status.withLock { $0 = code }
        ended.signal()
      }.start()
    }

    /// The first line with this message.
    func says(_ message: String) -> LogEntry? { capture.entries.first { $0.message == message } }

    /// Stops it as SIGTERM does.
    func stop() {
      group.withLock { $0 }?.stop(reason: "the test is over")
      #expect(ended.wait(timeout: .now() + 20) == .success)
      #expect(status.withLock { $0 } == 0)
    }
  }

  @Test(
    "M10: keys of tokens without issuer and audience end with 64 and the missing settings, unless --jwt-any-audience is given"
  )
  func tokenRules() throws {
    let directory = try TemporaryDirectory()
    let file = directory.path + "/jwks"
    try Data("{}".utf8).write(to: URL(fileURLWithPath: file))
    let keys = Self.brokers + ["--jwt-keys-file", file]
    for (given, missing) in [
      ([], ["--jwt-issuer", "--jwt-audience"]), (["--jwt-issuer", "https://a.example"], ["--jwt-audience"]),
      (["--jwt-audience", "nudge"], ["--jwt-issuer"]),
    ] {
      let (exitCode, lines) = run(keys + given)
      #expect(exitCode == ExitCode.usage)
      let line = try #require(lines.first)
      #expect(line.contains("needs \(missing[0]) (NUDGE_JWT_") && missing.allSatisfy { line.contains($0) })
      #expect(line.contains("--jwt-any-audience"))
    }
    // With the rules, or with the word that none are wanted, it gets as far as the file.
    for given in [["--jwt-any-audience"], ["--jwt-issuer", "https://a.example", "--jwt-audience", "nudge"]] {
      #expect(run(keys + given).lines.first?.contains("--jwt-keys-file \(file)") == true)
    }
    let contradiction = run(keys + ["--jwt-any-audience", "--jwt-audience", "nudge"])
    #expect(contradiction.exitCode == ExitCode.usage && contradiction.lines.first?.contains("contradict") == true)
    #expect(run(Self.brokers + ["--jwt-any-audience"]).exitCode == ExitCode.usage)
  }

  @Test("files of keys that cannot be used end with 64 and are named", arguments: ["", "short key", "a b c"])
  func badKeys(contents: String) throws {
    let directory = try TemporaryDirectory()
    let file = directory.path + "/keys"
    try Data(contents.utf8).write(to: URL(fileURLWithPath: file))
    for flag in ["--api-keys-file", "--jwt-keys-file"] {
      let tokens = flag == "--jwt-keys-file" ? ["--jwt-any-audience"] : []
      let (exitCode, lines) = run(Self.brokers + [flag, file] + tokens)
      #expect(exitCode == ExitCode.usage)
      #expect(lines.first?.contains("\(flag) \(file)") == true)
    }
    #expect(run(Self.brokers + ["--api-keys-file", directory.path + "/missing"]).exitCode == ExitCode.usage)
  }
}
