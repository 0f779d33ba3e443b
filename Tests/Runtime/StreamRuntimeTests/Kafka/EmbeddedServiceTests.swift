import Foundation
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit

import TestSupport
import Testing

@testable import StreamRuntime

@Suite("A service on the embedded broker")
struct EmbeddedServiceTests {
  private func topics(_ broker: EmbeddedBroker, partitions: Int = 4) throws {
    for topic in ["nudge.timeline", "nudge.decisions", "nudge.analyzer-state", "nudge.dead-letters"] {
      try broker.createTopic(topic, partitions: partitions)
    }
  }

  @Test("levels are not asked of it: librdkafka may abort a process whose broker refuses to describe groups")
  func levels() throws {
    let broker = try EmbeddedBroker()
    try topics(broker)
    let survey = try LevelSurvey(
      of: CountingStage.definition, topics: TopicNames(prefix: ""), bootstrapServers: broker.bootstrapServers)
    let error = #expect(throws: TransactionalProducerError.self) { try survey.read() }
    #expect(error?.kind == .refused)
  }

  @Test(
    "every record is processed once, in its key's order; a poison record is dead-lettered and the partition goes on")
  func processes() throws {
    let broker = try EmbeddedBroker()
    try topics(broker)
    let directory = try TemporaryDirectory()
    let service = try ServiceUnderTest(brokers: broker.bootstrapServers, stateDirectory: directory.path)
    try service.start()
    var records: [(key: String?, value: String)] = []
    for index in 0..<300 { records.append((key: "key-\(index % 10)", value: index == 57 ? "poison" : "value")) }
    try Records.produce(records, brokers: broker.bootstrapServers, topic: "nudge.timeline", partitions: 4)
    var read: [Records.Read] = []
    try wait(for: "299 outputs") {
      read = try Records.all(brokers: broker.bootstrapServers, topic: "nudge.decisions", partitions: 4)
      return read.count >= 299
    }
    service.service.stop()
    #expect(read.count == 299)
    for key in Set(read.compactMap(\.key)) {
      let counts = read.filter { $0.key == key }.compactMap {
        $0.value?.split(separator: " ").first.flatMap { Int($0) }
      }
      #expect(counts == Array(1...(key == "key-7" ? 29 : 30)), "counts of \(key)")
    }
    let dead = try Records.all(brokers: broker.bootstrapServers, topic: "nudge.dead-letters", partitions: 4)
    #expect(dead.count == 1)
    #expect(dead.first?.value == "poison")
    #expect(dead.first?.headers["nudge-error-code"] == "schema_violation")
    #expect(dead.first?.headers["nudge-error-stage"] == "counting")
    #expect(dead.first?.headers["nudge-origin-topic"] == "nudge.timeline")
    #expect(service.ends.isEmpty)
  }

  @Test(
    "a broker that refuses offsets that are in the logs, as one that leads no more and does not know it, ends no service"
  )
  func refusedOffsets() throws {
    let broker = try EmbeddedBroker()
    try topics(broker, partitions: 1)
    let offsetOutOfRange: Int32 = 1
    let (first, second) = (try TemporaryDirectory(), try TemporaryDirectory())
    func produce(_ service: ServiceUnderTest, until number: Int) throws {
      try Records.produce(
        (0..<20).map { _ in (key: "key", value: "value") }, brokers: broker.bootstrapServers,
        topic: "nudge.timeline", partitions: 1)
      var read: [Records.Read] = []
      wait(for: "\(number) outputs") {
        // An error that is left refuses this reader, too.
        if let all = try? Records.all(brokers: broker.bootstrapServers, topic: "nudge.decisions", partitions: 1) {
          read = all
        }
        return read.count >= number || !service.ends.isEmpty
      }
      let counts = read.compactMap { $0.value?.split(separator: " ").first.flatMap { Int($0) } }
      #expect(counts == Array(1...number) && service.ends.isEmpty, "\(service.ends) \(service.lastLines)")
    }

    /// Another consumer's last request may take the error in place of the service's. Then there is one more.
    func refuse(_ what: String, by service: ServiceUnderTest, _ start: () throws -> Void = {}) throws {
      try broker.pushRequestErrors(.fetch, [offsetOutOfRange])
      try start()
      var next = ContinuousClock.now + .seconds(20)
      try wait(for: what) {
        if ContinuousClock.now >= next {
          try broker.pushRequestErrors(.fetch, [offsetOutOfRange])
          next += .seconds(20)
        }
        return service.logged("refused an offset") || !service.ends.isEmpty
      }
    }

    let running = try ServiceUnderTest(brokers: broker.bootstrapServers, stateDirectory: first.path)
    try running.start()
    try produce(running, until: 20)
    try refuse("the group's consumer to be refused", by: running)
    try produce(running, until: 40)
    running.service.stop()

    // Until its task runs, a service reads nothing but the changelog.
    let restoring = try ServiceUnderTest(brokers: broker.bootstrapServers, stateDirectory: second.path)
    try refuse("the changelog's consumer to be refused", by: restoring) { try restoring.start() }
    try produce(restoring, until: 60)
    restoring.service.stop()
  }

  @Test("refusals count as one run while they follow each other, and a later one begins another")
  func runsOfRefusals() {
    var refusals = OffsetRefusals()
    #expect(refusals.length(at: 1_000_000) == 0)
    #expect(refusals.length(at: 1_004_000) == 4000)
    #expect(refusals.length(at: 1_009_000) == 9000)
    #expect(refusals.length(at: 1_014_001) == 0)
    #expect(refusals.length(at: 1_014_500) == 499)
  }

  @Test("a missing topic is named, with the command that makes it")
  func missingTopic() throws {
    let broker = try EmbeddedBroker()
    try broker.createTopic("nudge.timeline", partitions: 4)
    let directory = try TemporaryDirectory()
    let service = try ServiceUnderTest(brokers: broker.bootstrapServers, stateDirectory: directory.path)
    try service.start()
    wait(for: "the service to end") { !service.ends.isEmpty }
    #expect(service.ends.first?.reason.contains("nudge.analyzer-state") == true)
    #expect(service.ends.first?.reason.contains("nudge topics create") == true)
    service.service.stop()
  }

  @Test("topics of a stage with different numbers of partitions are refused")
  func unequalPartitions() throws {
    let broker = try EmbeddedBroker()
    try topics(broker)
    let directory = try TemporaryDirectory()
    let other = try EmbeddedBroker()
    for topic in ["nudge.timeline", "nudge.decisions", "nudge.dead-letters"] {
      try other.createTopic(topic, partitions: 4)
    }
    try other.createTopic("nudge.analyzer-state", partitions: 3)
    let service = try ServiceUnderTest(brokers: other.bootstrapServers, stateDirectory: directory.path)
    try service.start()
    wait(for: "the service to end") { !service.ends.isEmpty }
    #expect(service.ends.first?.reason.contains("nudge.analyzer-state has 3 partitions") == true)
    service.service.stop()
  }

  @Test("without a broker the service waits, says so, and stops at once when asked")
  func noBroker() throws {
    let directory = try TemporaryDirectory()
    // Nobody listens on port 1.
    let service = try ServiceUnderTest(brokers: "127.0.0.1:1", stateDirectory: directory.path)
    try service.start()
    wait(for: "readiness to say so") { service.health.readiness.reasons.values.contains { $0.contains("no broker") } }
    let started = Date()
    service.service.stop()
    #expect(Date().timeIntervalSince(started) < 10)
    #expect(service.ends.isEmpty)
  }

  @Test("a service that follows another at once joins, though the broker holds its requests back for seconds")
  func followsAtOnce() throws {
    let broker = try EmbeddedBroker()
    try topics(broker)
    let directory = try TemporaryDirectory()
    func run(until count: Int) throws {
      let service = try ServiceUnderTest(brokers: broker.bootstrapServers, stateDirectory: directory.path)
      try service.start()
      let records = (0..<20).map { (key: String?.some("key-\($0)"), value: "value") }
      try Records.produce(records, brokers: broker.bootstrapServers, topic: "nudge.timeline", partitions: 4)
      try wait(for: "\(count) outputs") {
        try Records.all(brokers: broker.bootstrapServers, topic: "nudge.decisions", partitions: 4).count >= count
      }
      service.service.stop()
      #expect(service.ends.isEmpty)
    }
    // The broker waits 7 s for other members after one has left. The connection on which the next one waits is given up after 5 s.
    for round in 1...3 { try run(until: 20 * round) }
  }

  @Test("a second process on one state directory is refused")
  func lockedDirectory() throws {
    let broker = try EmbeddedBroker()
    try topics(broker)
    let directory = try TemporaryDirectory()
    let first = try ServiceUnderTest(brokers: broker.bootstrapServers, stateDirectory: directory.path)
    try first.start()
    defer { first.service.stop() }
    let second = try ServiceUnderTest(brokers: broker.bootstrapServers, stateDirectory: directory.path)
    let error = #expect(throws: StateDirectoryLock.Failure.self) { try second.start() }
    #expect(error?.description.contains("--state-dir") == true)
  }
}
