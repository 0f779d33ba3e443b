import Ingest
import Kafka
import ServiceKit
import Testing

@Suite("The ingest process")
struct IngestServiceTests {
  @Test("--check ends with 1 and names the missing topics and the command that makes them")
  func missingTopics() throws {
    let broker = try EmbeddedBroker()
    try broker.createTopic("chat.events", partitions: 2)
    var lines: [String] = []
    let exitCode = IngestService.program.run(
      ["--bootstrap-servers", broker.bootstrapServers, "--check"], environment: [:], sink: LogCapture().sink,
      output: { lines.append($0) })
    #expect(exitCode == ExitCode.failure)
    let line = try #require(lines.first)
    #expect(line.hasPrefix("FAILED  topics: missing topics: "))
    #expect(line.contains("user.events") && line.contains("nudge.ingest-state") && !line.contains("chat.events,"))
    #expect(line.contains("nudge topics create"))
  }

  @Test("without brokers it ends with 64 and says which flag and variable are missing")
  func noBrokers() {
    var lines: [String] = []
    let exitCode = IngestService.program.run(
      [], environment: [:], sink: LogCapture().sink, errors: { lines.append($0) })
    #expect(exitCode == ExitCode.usage)
    #expect(lines.first?.contains("--bootstrap-servers or NUDGE_KAFKA_BOOTSTRAP_SERVERS") == true)
  }
}
