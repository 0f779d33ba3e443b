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
