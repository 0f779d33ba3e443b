import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import StreamRuntime

/// A broker that is away for longer than the group's session. Needs a real Kafka: `KAFKA_HOME=/path/to/kafka make test`.
@Suite(
  "Sessions that expire while the broker is away", .serialized,
  .enabled(if: LocalBroker.find() != nil, "set KAFKA_HOME=/path/to/kafka to run it"))
struct LostSessionTests {
  private let partitions: Int32 = 2

  /// Accepts each request when the test says so.
  private final class Outside: EffectPerformer {
    private struct Request: Sendable {
      let effect: SendingRequest
      let reply: @Sendable (SendingReply) -> Void
    }
    private struct State {
      var open: [Request] = []
      var sent: [SendingRequest] = []
    }
    private let state = Mutex(State())

    func perform(_ effect: SendingRequest, reply: @escaping @Sendable (SendingReply) -> Void) {
      state.withLock {
        $0.open.append(Request(effect: effect, reply: reply))
        $0.sent.append(effect)
      }
    }
    func stop() {}
    var sent: [SendingRequest] { state.withLock { $0.sent } }
    /// Replies to the oldest open requests.
    func accept(_ count: Int) {
      let requests = state.withLock { state in
        defer { state.open.removeFirst(min(count, state.open.count)) }
        return Array(state.open.prefix(count))
      }
      for request in requests {
        request.reply(SendingReply(number: 0, request: request.effect, isAccepted: true))
      }
    }
  }

  private func makeTopics(_ brokers: String) throws {
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    let topics = [Topic.pushes, .outcomes, .dispatcherState, .deadLetters].map {
      Admin.NewTopic(
        name: $0.rawValue, partitions: Int(partitions), replicationFactor: 1, configuration: TopicPlan($0).configuration
      )
    }
    for result in try admin.createTopics(topics, timeout: .seconds(30)).values { try result.get() }
  }

  @Test(
    "replies that come while the partitions are lost are used when they return, and nothing is sent twice",
    arguments: [false, true])
  func repliesWhileLost(isStatic: Bool) throws {
    let home = try #require(LocalBroker.find())
    let folder = try TemporaryDirectory()
    let broker = try LocalBroker(home: home, directory: URL(fileURLWithPath: folder.path + "/kafka"))
    try broker.start()
    defer { broker.stop() }
    let brokers = broker.bootstrapServers
    try makeTopics(brokers)
    let schema = SettingsSchema(program: "test", abstract: "a test", version: "0", settings: ServiceSettings.all)
    let arguments =
      [
        "--bootstrap-servers", brokers, "--state-dir", folder.path + "/state", "--kafka-property",
        "session.timeout.ms=6000",
      ] + (isStatic ? ["--instance", "static"] : [])
    guard case .run(let values) = try schema.parse(arguments, environment: [:]) else { throw Failure() }
    let (capture, outside, ends, health) = (LogCapture(level: .debug), Outside(), Ends(), HealthState())
    let service = StreamService<SendingStage>(
      .init(settings: ServiceSettings(values)), logger: Logger(label: "test", sink: capture.sink), health: health,
      metrics: MetricsRegistry(), performer: outside, makeStage: { SendingStage() })
    try service.start { ends.add($0) }
    defer { service.stop() }
    wait(for: "the service to be ready") { health.readiness.isReady }

    let count = 20
    let keys = (0..<count).map { "key-\($0)" }
    try Records.produce(
      keys.map { ($0, "push") }, brokers: brokers, topic: Topic.pushes.rawValue, partitions: partitions)
    wait(for: "the requests") { outside.sent.count == count }
    // Some replies come in the second in which the broker dies, some while the partitions are lost, some after they returned.
    outside.accept(5)
    broker.kill()
    outside.accept(5)
    func logged(_ text: String) -> Bool { capture.entries.contains { $0.message.contains(text) } }
    wait(for: "the partitions to be lost") { logged("partitions lost") || !ends.all.isEmpty }
    outside.accept(5)
    try broker.start()
    wait(for: "the service to be ready again") { health.readiness.isReady || !ends.all.isEmpty }
    outside.accept(count)

    // A lane whose row was committed waits until its request would count as lost.
    let seconds = Double(SendingStage.unansweredAfter) / 1000 + 60
    var outcomes: [String?] = []
    try wait(for: "an outcome for each push", atMost: seconds) {
      outside.accept(count)
      outcomes = try Records.all(
        brokers: brokers, topic: Topic.outcomes.rawValue, partitions: partitions
      ).map(\.key)
      return outcomes.count >= count
    }
    #expect(Set(outcomes) == Set(keys) && outcomes.count == count)
    #expect(outside.sent.count == count, "sent twice: \(outside.sent.filter { $0.attempt > 1 })")
    #expect(ends.all.isEmpty)
  }
}

private struct Failure: Error {}
