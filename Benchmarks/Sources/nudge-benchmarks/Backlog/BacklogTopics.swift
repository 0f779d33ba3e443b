import Foundation
import Kafka
import NudgeSchema

/// Nudge's topics on the benchmark's broker: written as producers do, and counted.
final class BacklogTopics {
  /// The contents of a topic.
  struct Census {
    /// Committed records.
    var records = 0
    /// Bytes of the records' keys and values.
    var bytes = 0
    /// Bytes of the topic's files on the broker, with headers and batches, compressed or not.
    var fileBytes = 0
  }

  private let broker: BenchmarkBroker
  private let partitions: Int32
  private let producer: Producer

  /// Makes the topics.
  init(_ broker: BenchmarkBroker, partitions: Int32) throws {
    self.broker = broker
    self.partitions = partitions
    try broker.create(Topic.allCases.map { ($0.rawValue, TopicPlan($0)) }, partitions: partitions)
    producer = try Producer(
      ClientConfiguration.producer(bootstrapServers: broker.bootstrapServers, transactionalID: nil), name: "backlog")
  }

  func close() { producer.close() }

  func write(_ value: [UInt8], to topic: Topic, key: String) throws {
    let key = Array(key.utf8)
    try producer.produce(
      topic: try producer.topic(topic.rawValue), partition: Murmur2.partition(of: key, count: partitions), key: key,
      value: value)
  }

  func flush() throws { try producer.flush(timeout: .seconds(120)) }

  /// A consumer of a topic's committed records from its beginning. Close it after use.
  func follow(_ topic: Topic) throws -> Consumer { try follow(topic.rawValue) }

  /// As above, of any topic.
  func follow(_ topic: String) throws -> Consumer {
    var configuration = ClientConfiguration.consumer(bootstrapServers: broker.bootstrapServers, group: nil)
    configuration.set("fetch.wait.max.ms", "5")
    let consumer = try Consumer(configuration, name: topic)
    try consumer.assign(
      (0..<partitions).map { TopicPartitionOffset(TopicPartition(topic: topic, partition: $0), offset: 0) })
    return consumer
  }

  /// Reads a topic from its beginning to its end, committed records only.
  func census(of topic: Topic) throws -> Census {
    var census = Census()
    try read(topic) { record in
      census.records += 1
      census.bytes += record.size
    }
    census.fileBytes = try broker.logBytes(of: topic.rawValue)
    return census
  }

  /// The numbers of pushes and of cancellations, which have no outcome.
  func pushes() throws -> (pushes: Int, cancellations: Int) {
    var (pushes, cancellations) = (0, 0)
    try read(.pushes) { record in
      let beginning = record.value.map { String(decoding: $0.prefix(300), as: UTF8.self) } ?? ""
      if beginning.contains(#""type":"push.cancelled""#) { cancellations += 1 } else { pushes += 1 }
    }
    return (pushes, cancellations)
  }

  /// The committed records of any topic.
  func records(of topic: String) throws -> Int {
    var count = 0
    try read(topic) { _ in count += 1 }
    return count
  }

  /// Reads a topic of Nudge's from its beginning to its end, committed records only.
  func read(_ topic: Topic, _ body: (ConsumerRecord) -> Void) throws { try read(topic.rawValue, body) }

  private func read(_ topic: String, _ body: (ConsumerRecord) -> Void) throws {
    let consumer = try Consumer(
      ClientConfiguration.consumer(
        bootstrapServers: broker.bootstrapServers, group: nil, reportsEndOfPartition: true), name: "census")
    defer { consumer.close() }
    var uncommitted = ClientConfiguration.consumer(bootstrapServers: broker.bootstrapServers, group: nil)
    uncommitted.set("isolation.level", "read_uncommitted")
    let ends = try Consumer(uncommitted, name: "ends")
    defer { ends.close() }
    var open: [Int32: Int64] = [:]
    for partition in 0..<partitions {
      let place = TopicPartition(topic: topic, partition: partition)
      open[partition] = try ends.watermarks(place, timeout: .seconds(10)).high
    }
    try consumer.assign(
      (0..<partitions).map { TopicPartitionOffset(TopicPartition(topic: topic, partition: $0), offset: 0) })
    let deadline = Clocks.steady + 300
    while !open.isEmpty {
      let event = consumer.poll(maxRecords: 10_000, maxBytes: 16 << 20, timeout: .milliseconds(100), body)
      switch event {
      case .endOfPartition(let place, let offset):
        // The last transaction's marker may arrive shortly after its commit.
        if offset >= open[place.partition] ?? 0 { open[place.partition] = nil }
      case .error(let error): throw error
      case nil, .record, .assigned, .revoked: break
      }
      guard Clocks.steady < deadline else { throw BenchmarkFailure("\(topic) was not read within 300 s") }
    }
  }
}

extension BacklogTopics.Census {
  /// Records since the last call.
  static func - (now: Self, before: Self) -> Self {
    Self(
      records: now.records - before.records, bytes: now.bytes - before.bytes,
      fileBytes: now.fileBytes - before.fileBytes)
  }
}
