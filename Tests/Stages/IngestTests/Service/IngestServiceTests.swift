import Foundation
import Ingest
import Kafka
import ServiceKit
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
