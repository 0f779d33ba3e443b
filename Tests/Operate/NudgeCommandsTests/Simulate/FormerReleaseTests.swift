import Analyzer
import JSONCodec
import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("Upgrade: commands on decisions of the release before levels", .timeLimit(.minutes(2)))
struct FormerReleaseTests {
  @Test("explain has words for each of them, and simulate takes their presentation from the priority")
  func words() throws {
    for bytes in try FormerRelease().decisions {
      let decision = try JSONValue(bytes)
      let isShown = decision["outcome"]?.string == "notify"
      let words = DecisionWords.outcome(decision)
      #expect((words == "NOT SHOWN") != isShown && words != "NOTIFIED")
      #expect(!DecisionWords.reason(decision).contains("does not know"))
      let simulated = try #require(
        bytes.withUnsafeBytes { SimulatedDecision($0, parser: JSONParser(maximumDepth: 512)) })
      #expect((simulated.result.presentation != nil) == isShown)
      #expect(simulated.result.alerts == (words == "ALERT"))
    }
  }

  @Test("simulate compares all of them, and says that direct messages would alert now")
  func simulates() throws {
    let former = try FormerRelease()
    let broker = try EmbeddedBroker()
    try TopicCreation.create(on: broker, partitions: 1)
    let producer = try Producer(
      .producer(bootstrapServers: broker.bootstrapServers, transactionalID: nil), name: "test")
    func produce(_ value: [UInt8], to topic: Topic, at time: Milliseconds) throws {
      try producer.produce(
        topic: try producer.topic(topic.rawValue), partition: 0, key: Array("any".utf8), value: value, timestamp: time)
    }
    for record in former.timeline { try produce(record.value, to: .timeline, at: record.now) }
    for decision in former.decisions { try produce(decision, to: .decisions, at: former.timeline[0].now) }
    try producer.flush(timeout: .seconds(30))
    let browser = try TopicBrowser(
      ClusterSettings(bootstrapServers: broker.bootstrapServers),
      progress: ReadingProgress(isTerminal: false, write: { _ in }), queueBytes: 16 << 20)
    let result = try Simulation(
      selection: ReplaySelection(since: 0, until: .max / 2), rules: AnalyzerRules(hash: { SHA256Digest.of($0) }),
      examples: 0, browser: browser
    ).result()
    #expect(result.compared == former.decisions.count && result.unrecorded == 0 && result.insufficient == 0)
    #expect(result.changes.contains { $0.was.hasPrefix("silent, medium") && $0.wouldBe.hasPrefix("alert") })
    // Messages that levels do not touch are decided as they were.
    #expect(!result.changes.contains { $0.was == "conversation_muted" || $0.wouldBe == "conversation_muted" })
    #expect(result.same > 0 && result.alerts.after.total > result.alerts.before.total)
  }
}
