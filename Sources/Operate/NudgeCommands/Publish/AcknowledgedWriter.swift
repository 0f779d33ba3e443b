import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// Publishes producers' events, and returns the position of each. Not thread-safe.
final class AcknowledgedWriter {
  /// How long an acknowledgement may take.
  static let timeout: Duration = .seconds(15)

  private final class Deliveries: Sendable {
    let all = Mutex<[UInt64: Delivery]>([:])
  }

  private let producer: Producer
  private let names: TopicNames
  private let deliveries = Deliveries()
  private let complaint = LastComplaint()
  private var lastTag: UInt64 = 0

  /// Connects to a broker that answers.
  /// - Throws: `NoBroker` if none answers in time; `KafkaError` for an invalid property.
  init(_ cluster: ClusterSettings) throws {
    // A producer alone reports a missing broker only after its records' time-out.
    _ = try cluster.admin()
    names = cluster.topics
    let deliveries = deliveries
    let complaint = complaint
    var configuration = ClientConfiguration.producer(bootstrapServers: cluster.bootstrapServers, transactionalID: nil)
    configuration.set("message.timeout.ms", String(Self.timeout.milliseconds))
    configuration.set("message.max.bytes", String(TopicPlan(.chatEvents).maxMessageBytes))
    configuration = cluster.client(configuration)
    // With another partitioner ingest would have to re-key the records (M9).
    configuration.set("partitioner", "murmur2_random")
    producer = try Producer(
      configuration, name: "nudge-publish", log: { if $0.level <= 4 { complaint.note($0.message) } },
      onDelivery: { delivery in deliveries.all.withLock { $0[delivery.tag] = delivery } })
  }

  /// Queues an event; returns its number, a key of `flush`'s result.
  @discardableResult
  func add(_ value: [UInt8], to topic: Topic, key: String) throws(KafkaError) -> UInt64 {
    lastTag += 1
    try producer.produce(
      topic: try producer.topic(names(topic)), partition: Producer.anyPartition, key: Array(key.utf8), value: value,
      tag: lastTag)
    return lastTag
  }

  /// Waits until Kafka has acknowledged everything since the last call, and returns the positions.
  /// - Throws: `CommandError` if it did not.
  func flush() throws -> [UInt64: RecordPosition] {
    do throws(KafkaError) {
      // Longer than the records' own time-out, so that each has its report.
      try producer.flush(timeout: Self.timeout + .seconds(5))
    } catch {
      throw CommandError("Kafka did not acknowledge: \(error.name): \(error.reason)" + complaint.text)
    }
    let all = deliveries.all.withLock { all in
      defer { all.removeAll() }
      return all
    }
    return try all.mapValues { delivery in
      guard let offset = delivery.offset else {
        let reason = delivery.error.map { "\($0.name): \($0.reason)" } ?? "no reason given"
        throw CommandError(
          "Kafka did not take a record of \(delivery.topicPartition.topic): \(reason). Is the address right, and are the "
            + "topics made ('nudge topics create')?" + complaint.text)
      }
      return RecordPosition(
        topic: delivery.topicPartition.topic, partition: delivery.topicPartition.partition, offset: offset)
    }
  }

  func close() { producer.close() }
}
