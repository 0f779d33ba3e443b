import Foundation
import Kafka
import Synchronization
import TestSupport
import Testing

@testable import KafkaTransactions

/// The publisher against brokers that are broken on purpose.
@Suite("The publisher and brokers that misbehave", .ownThread)
struct PublisherTests {
  private final class Script: Sendable {
    let port = Mutex<Int32>(0)
    let produced = Mutex(0)
    let asked = Mutex<[Int16]>([])
  }

  /// Answers as a broker that behaves, but for requests to produce: the number of each goes to `change`.
  private func publisher(
    _ script: Script, _ change: @escaping @Sendable (Int, [UInt8]) -> [UInt8]?
  ) throws -> (RecordPublisher, FakeBroker) {
    let broker = FakeBroker { key, correlation in
      script.asked.withLock { $0.append(key) }
      let bytes = HostileBrokerTests.sample(key, correlation, port: script.port.withLock { $0 })
      guard key == ProduceRequest.key else { return bytes }
      let number = script.produced.withLock { count in
        count += 1
        return count
      }
      return change(number, bytes)
    }
    script.port.withLock { $0 = broker.port }
    var configuration = try TransactionalProducerConfiguration(bootstrapServers: "127.0.0.1:\(broker.port)")
    configuration.requestTimeout = .milliseconds(300)
    return (try RecordPublisher(configuration, topics: ["t"]), broker)
  }

  private let records = [PublishedRecord(topic: 0, partition: 0, key: [1], value: [2])]

  @Test("a request whose answer is lost is repeated by the same producer id")
  func lostAnswer() throws {
    let script = Script()
    let (publisher, broker) = try publisher(script) { number, bytes in number == 1 ? nil : bytes }
    defer { broker.close() }
    try publisher.open(timeout: .seconds(5))
    #expect(publisher.partitionCount(of: 0, timeout: .seconds(1)) == 1)
    #expect(publisher.publish(records, timestamp: 1, timeout: .seconds(5)) == [.written(offset: 41)])
    #expect(script.produced.withLock { $0 } == 2)
    #expect(script.asked.withLock { $0 }.count { $0 == InitProducerIDRequest.key } == 1)
  }

  @Test("without an answer in time nobody knows, and the next records have another producer id")
  func silence() throws {
    let script = Script()
    let (publisher, broker) = try publisher(script) { number, bytes in number <= 2 ? [] : bytes }
    defer { broker.close() }
    try publisher.open(timeout: .seconds(5))
    guard case .unknown = publisher.publish(records, timestamp: 1, timeout: .milliseconds(200)).first else {
      Issue.record("it has a result")
      return
    }
    #expect(publisher.publish(records, timestamp: 1, timeout: .seconds(5)) == [.written(offset: 41)])
    #expect(script.asked.withLock { $0 }.count { $0 == InitProducerIDRequest.key } == 2)
  }
}

/// The publisher and a real Kafka. Off unless there is one.
@Suite(
  "The publisher on a real broker", .ownThread, .serialized,
  .enabled(if: SecuredBroker.isAvailable, "KAFKA_HOME=/path/to/kafka enables it"))
struct PublisherOnBrokerTests {
  private let servers: String
  private let topics: [String]
  private let patience = Duration.seconds(30)
  private let now = Int64(Date().timeIntervalSince1970 * 1000)

  init() throws {
    servers = try SecuredBroker.shared.get().servers
    let admin = try Admin(ClientConfiguration(bootstrapServers: servers))
    let name = "p-\(UUID().uuidString.prefix(8))"
    topics = (0..<2).map { "\(name)-\($0)" }
    let made = try admin.createTopics(
      topics.map {
        .init(name: $0, partitions: 4, replicationFactor: 1, configuration: ["max.message.bytes": "100000"])
      }, timeout: patience)
    for topic in topics { try made[topic]?.get() }
    let topics = topics
    try wait(for: "the new topics") {
      try admin.partitionCounts(of: topics, timeout: .seconds(5)).values.filter { $0 == 4 }.count == topics.count
    }
  }

  private func publisher() throws -> RecordPublisher {
    let publisher = try RecordPublisher(
      TransactionalProducerConfiguration(bootstrapServers: servers), topics: topics)
    try publisher.open(timeout: patience)
    return publisher
  }

  /// The values of each topic and partition, in order.
  private func read() throws -> [TopicPartition: [String]] {
    let consumer = try Consumer(
      ClientConfiguration.consumer(bootstrapServers: servers, group: nil, reportsEndOfPartition: true), name: "reader")
    defer { consumer.close() }
    var open: Set<TopicPartition> = []
    for topic in topics { for partition in 0..<4 { open.insert(.init(topic: topic, partition: Int32(partition))) } }
    try consumer.assign(open.map { TopicPartitionOffset($0, offset: 0) })
    var found: [TopicPartition: [String]] = [:]
    try wait(for: "the ends") {
      switch consumer.poll(timeout: .milliseconds(100)) {
      case .record(let record):
        let place = TopicPartition(topic: record.topic, partition: record.partition)
        found[place, default: []].append(String(decoding: record.valueBytes() ?? [], as: UTF8.self))
      case .endOfPartition(let partition, _): open.remove(partition)
      case .error(let error): throw error
      default: break
      }
      return open.isEmpty
    }
    return found
  }

  @Test("records of all partitions by one call after the other: all written, in order, none twice")
  func inOrder() throws {
    let publisher = try publisher()
    #expect(publisher.partitionCount(of: 1, timeout: patience) == 4)
    var expected: [TopicPartition: [String]] = [:]
    for call in 0..<30 {
      let records = (0..<80).map { number in
        let record = PublishedRecord(
          topic: number % 2, partition: Int32(number / 2 % 4), key: Array("k".utf8),
          value: Array("\(call)/\(number)".utf8), headers: [("h", Array("x".utf8))])
        expected[TopicPartition(topic: topics[record.topic], partition: record.partition), default: []]
          .append("\(call)/\(number)")
        return record
      }
      let results = publisher.publish(records, timestamp: now, timeout: patience)
      #expect(results.first == .written(offset: Int64(call * 10)))
      #expect(results.allSatisfy { if case .written = $0 { true } else { false } })
    }
    #expect(try read() == expected)
  }

  @Test("a record that its topic does not take is refused, and those beside it are written")
  func tooLarge() throws {
    let publisher = try publisher()
    // Not to be compressed.
    var random = SeededGenerator(announcedFor: "a record that does not shrink")
    let large = (0..<150_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let results = publisher.publish(
      [Array("a".utf8), large, Array("b".utf8)].map {
        PublishedRecord(topic: 0, partition: 0, key: Array("k".utf8), value: $0)
      }, timestamp: now, timeout: patience)
    #expect(results[0] == .written(offset: 0))
    guard case .refused(.tooLarge, _) = results[1] else {
      Issue.record("\(results[1])")
      return
    }
    #expect(results[2] == .written(offset: 1))
    #expect(try read()[TopicPartition(topic: topics[0], partition: 0)] == ["a", "b"])
  }
}
