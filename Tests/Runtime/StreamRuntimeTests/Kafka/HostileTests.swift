import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import StreamRuntime

/// Hostile producers, operators and permissions. Needs a real Kafka:
/// `KAFKA_HOME=/path/to/kafka make test`.
@Suite(
  "Hostile records and refusals on a real broker", .serialized,
  .enabled(if: LocalBroker.find() != nil, "set KAFKA_HOME=/path/to/kafka to run it"))
struct HostileTests {
  /// One broker for the suite, which knows rights: whoever is refused nothing may do everything.
  static let broker: Result<LocalBroker, any Error> = Result {
    guard let home = LocalBroker.find() else { throw StoreFailure(operation: "find Kafka", reason: "KAFKA_HOME") }
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-broker-\(UUID().uuidString)")
    let broker = try LocalBroker(
      home: home, directory: directory,
      overrides: [
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
      ])
    try broker.start()
    return broker
  }

  private let partitions: Int32 = 4

  private func prepare(_ prefix: String) throws -> String {
    let brokers = try Self.broker.get().bootstrapServers
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    let names = TopicNames(prefix: prefix)
    let topics = [Topic.timeline, .decisions, .analyzerState, .deadLetters].map {
      Admin.NewTopic(
        name: names($0), partitions: Int(partitions), replicationFactor: 1, configuration: TopicPlan($0).configuration)
    }
    for result in try admin.createTopics(topics, timeout: .seconds(30)).values { try result.get() }
    return brokers
  }

  /// Runs one of Kafka's own tools; fails the test where it fails.
  private func tool(_ name: String, _ arguments: [String]) throws {
    let home = try #require(LocalBroker.find())
    let process = Process()
    process.executableURL = home.appendingPathComponent("bin/\(name)")
    process.arguments = ["--bootstrap-server", try Self.broker.get().bootstrapServers] + arguments
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(name) \(arguments)")
  }

  /// Sets a topic's `max.message.bytes`, and waits until the broker goes by it.
  private func setLargest(_ bytes: Int, _ topic: String, _ brokers: String) throws {
    try tool("kafka-configs.sh", ["--alter", "--topic", topic, "--add-config", "max.message.bytes=\(bytes)"])
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    try wait(for: "max.message.bytes=\(bytes)") {
      try admin.describeTopicConfigurations([topic], timeout: .seconds(10))[topic]?.get()["max.message.bytes"]
        == String(bytes)
    }
  }

  private func outputs(_ brokers: String, _ prefix: String) throws -> Int {
    try Records.all(brokers: brokers, topic: "\(prefix)nudge.decisions", partitions: partitions).count
  }

  @Test("M5: a record at the topic's limit, or larger when decompressed, does not stop the partition")
  func largest() throws {
    let prefix = "largest."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let service = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try service.start()
    let topic = "\(prefix)nudge.timeline"
    func poison(_ count: Int) -> [UInt8] { Array("poison".utf8) + [UInt8](repeating: 120, count: count - 6) }
    let key = Array("key-1".utf8)
    let place = Murmur2.partition(of: key, count: partitions)
    let large = [UInt8](repeating: 121, count: 1_590_000)
    let records: [(codec: String, key: [UInt8], value: [UInt8], headers: [Header])] = [
      ("none", key, poison(4_194_100), []),
      ("gzip", key, poison(20_000_000), []),
      ("none", key, poison(2_600_000), [(name: "large", value: large), (name: "small", value: [1])]),
      ("none", Array("poison".utf8) + [UInt8](repeating: 122, count: 4_190_000), poison(7), []),
      // Trace context of any size goes along with what is written: with nothing, then.
      ("none", key, Array("value".utf8), [(name: "traceparent", value: large)]),
    ]
    for (codec, key, value, headers) in records {
      var configuration = ClientConfiguration.producer(bootstrapServers: brokers, transactionalID: nil)
      configuration.set("message.max.bytes", "100000000")
      configuration.set("compression.type", codec)
      let producer = try Producer(configuration, name: "hostile")
      try producer.produce(topic: producer.topic(topic), partition: place, key: key, value: value, headers: headers)
      try producer.flush(timeout: .seconds(30))
      producer.close()
    }
    try Records.produce([(key: "key-1", value: "value")], brokers: brokers, topic: topic, partitions: partitions)
    try wait(for: "what is behind them to be processed") { try outputs(brokers, prefix) >= 2 }
    #expect(try outputs(brokers, prefix) == 2)
    #expect(service.count(of: "a transaction failed") == 0)
    #expect(service.ends.isEmpty)
    service.service.stop()
    let dead = try Records.all(brokers: brokers, topic: "\(prefix)nudge.dead-letters", partitions: partitions)
    #expect(dead.count == 4)
    #expect(Set(dead.compactMap { $0.headers["nudge-origin-offset"] }) == ["0", "1", "2", "3"])
    #expect(dead.allSatisfy { $0.headers["nudge-origin-partition"] == String(place) })
    for letter in dead {
      let cut = letter.headers["nudge-truncated-value"]?.split(separator: "/").compactMap { Int($0) }
      switch letter.headers["nudge-origin-offset"] {
      case "0": #expect(cut == [letter.value?.utf8.count ?? 0, 4_194_100])
      case "1": #expect(cut == [letter.value?.utf8.count ?? 0, 20_000_000])
      case "2": #expect(letter.headers["nudge-truncated-headers"] == "1/2" && letter.headers["small"] == "\u{1}")
      default: #expect(letter.headers["nudge-truncated-key"]?.hasSuffix("/4190006") == true)
      }
    }
  }

  @Test("a topic with a too low limit ends the process with status 70 and names the setting")
  func topicTakesLess() throws {
    let prefix = "less."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let service = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try service.start()
    let topic = "\(prefix)nudge.timeline"
    try Records.produce([(key: "key-1", value: "value")], brokers: brokers, topic: topic, partitions: partitions)
    try wait(for: "the first output") { try outputs(brokers, prefix) == 1 }
    // More than the 78 bytes of a transaction's marker: a topic with a lower limit stops its coordinator.
    try setLargest(100, "\(prefix)nudge.decisions", brokers)
    let key = "key-" + String(repeating: "1", count: 100)
    try Records.produce([(key: key, value: "value")], brokers: brokers, topic: topic, partitions: partitions)
    wait(for: "the process to end", atMost: 20) { !service.ends.isEmpty }
    #expect(service.ends.first?.exitCode == ExitCode.software)
    #expect(service.ends.first?.reason.contains("max.message.bytes=4194304") == true, "\(service.ends)")
    service.service.stop()

    // Nothing was lost: after the topic is repaired, a restart continues.
    try setLargest(4_194_304, "\(prefix)nudge.decisions", brokers)
    let next = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try next.start()
    try wait(for: "the second output") { try outputs(brokers, prefix) == 2 }
    #expect(next.ends.isEmpty, "\(next.ends)")
    next.service.stop()
  }

  @Test(
    "while a broker is stalled for 8 s or down the service is not ready; nothing is lost or duplicated"
  )
  func brokerAway() throws {
    let prefix = "away."
    let brokers = try prepare(prefix)
    let broker = try Self.broker.get()
    let directory = try TemporaryDirectory()
    let service = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try service.start()
    wait(for: "the service to be ready") { service.isReady }
    let load = BackgroundLoad(to: "\(prefix)nudge.timeline", partitions: partitions, keys: 50, brokers: brokers)
    try wait(for: "the service to work") { try outputs(brokers, prefix) > 200 }
    // Longer than a transaction may take: what is open is aborted, and its producer refused as one whose name was taken.
    broker.pause()
    let start = ContinuousClock.now
    wait(for: "readiness to say so", atMost: 8) { !service.isReady }
    Thread.sleep(forTimeInterval: max(0, 8 - Double(start.duration(to: .now).milliseconds) / 1000))
    broker.resume()
    wait(for: "the service to be ready again", atMost: 30) { service.isReady }
    let all = load.end()
    try wait(for: "all \(all) outputs", atMost: 60) { try outputs(brokers, prefix) >= all }
    #expect(service.ends.isEmpty, "\(service.ends)")
    let read = try Records.all(brokers: brokers, topic: "\(prefix)nudge.decisions", partitions: partitions)
    #expect(read.count == all)
    for (key, records) in Dictionary(grouping: read, by: { $0.key ?? "" }) {
      let counts = records.compactMap { $0.value?.split(separator: " ").first.flatMap { Int($0) } }
      #expect(counts == Array(1...counts.count), "counts of \(key)")
    }

    // A thread with nothing to do notices nothing; readiness does.
    broker.stop()
    wait(for: "readiness to say that the broker is away", atMost: 30) {
      service.health.readiness.reasons["broker"]?.contains(brokers) == true
    }
    try broker.start()
    wait(for: "the service to be ready again", atMost: 60) { service.isReady }
    #expect(service.isReady, "\(service.health.readiness.reasons)")
    #expect(service.ends.isEmpty, "\(service.ends)")
    service.service.stop()
  }

  @Test("a revoked permission ends the process with status 70 and its name; after it is granted, a restart continues")
  func rightTaken() throws {
    let prefix = "rights."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let service = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try service.start()
    let topic = "\(prefix)nudge.timeline"
    try Records.produce([(key: "key-1", value: "value")], brokers: brokers, topic: topic, partitions: partitions)
    try wait(for: "the first output") { try outputs(brokers, prefix) == 1 }
    let rule = ["--deny-principal", "User:*", "--operation", "Write", "--topic", "\(prefix)nudge.decisions"]
    try tool("kafka-acls.sh", ["--add"] + rule)
    try Records.produce([(key: "key-1", value: "value")], brokers: brokers, topic: topic, partitions: partitions)
    wait(for: "the process to end", atMost: 20) { !service.ends.isEmpty }
    #expect(service.ends.first?.exitCode == ExitCode.software)
    #expect(service.ends.first?.reason.contains("TOPIC_AUTHORIZATION_FAILED") == true, "\(service.ends)")
    service.service.stop()

    try tool("kafka-acls.sh", ["--remove", "--force"] + rule)
    let next = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try next.start()
    try wait(for: "the second output") { try outputs(brokers, prefix) == 2 }
    next.service.stop()
  }

  @Test("waiting for a transaction that does not end is reported within 30 s by log, readiness and a metric")
  func pending() throws {
    let prefix = "pending."
    let brokers = try prepare(prefix)
    let changelog = "\(prefix)nudge.analyzer-state"
    // Open for longer than the test, in each changelog: nothing committed can be read behind it.
    var configuration = ClientConfiguration.producer(bootstrapServers: brokers, transactionalID: "\(prefix)somebody")
    configuration.set("transaction.timeout.ms", "120000")
    let somebody = try Producer(configuration, name: "somebody")
    defer { somebody.close() }
    try somebody.initTransactions(timeout: .seconds(30))
    try somebody.begin()
    for partition in 0..<partitions {
      try somebody.produce(
        topic: somebody.topic(changelog), partition: partition, key: Array("key".utf8), value: Array("1".utf8))
    }
    try somebody.flush(timeout: .seconds(30))

    let directory = try TemporaryDirectory()
    let service = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try service.start()
    func reason() -> String? {
      service.health.readiness.reasons.values.first { $0.contains("nudge state end-transactions --stage counting") }
    }
    wait(for: "readiness to say what waits, and the command", atMost: 30) { reason() != nil }
    #expect(service.logged("pending transactions have not ended"))
    #expect(
      service.metrics.exposition().split(separator: "\n").contains {
        $0.hasPrefix("nudge_pending_transactions_total ") && !$0.hasSuffix(" 0")
      })
    #expect(service.ends.isEmpty && !service.isReady)

    try somebody.abort(timeout: .seconds(30))
    wait(for: "the service to be ready", atMost: 30) { service.isReady }
    #expect(reason() == nil)
    try Records.produce(
      [(key: "key-1", value: "value")], brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try wait(for: "an output") { try outputs(brokers, prefix) == 1 }
    service.service.stop()
  }
}
