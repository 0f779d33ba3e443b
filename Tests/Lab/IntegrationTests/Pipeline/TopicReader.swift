import Foundation
import Kafka
import NudgeSchema

/// Reads all topics of a pipeline from the beginning, read_committed. One thread uses it.
final class TopicReader {
  private let consumer: Consumer
  private let names: TopicNames
  private let places: Int
  private let keepsValues: Bool
  private var batch: [ConsumerRecord] = []

  /// `partitions` is the number of every topic, or the highest. `readAll` needs `readsToTheEnd`. Without `keepsValues` it drops the values of inputs
  /// and dead letters, which may be large.
  init(
    brokers: String, names: TopicNames, partitions: Int32, readsToTheEnd: Bool = false,
    keepsValues: Bool = true
  ) throws {
    self.names = names
    self.keepsValues = keepsValues
    consumer = try Consumer(
      .consumer(bootstrapServers: brokers, group: nil, reportsEndOfPartition: readsToTheEnd), name: "test-reader")
    // No rule of the checker needs banners, whose topic chaos deletes.
    let topics = Topic.allCases.filter { $0 != .audit && $0 != .banners }
    let counts = try consumer.partitionCounts(of: topics.map { names($0) }, timeout: .seconds(30))
    let all = topics.flatMap { topic in
      (0..<min(partitions, Int32(counts[names(topic)] ?? 0))).map {
        TopicPartitionOffset(TopicPartition(topic: names(topic), partition: $0), offset: Offset.beginning)
      }
    }
    places = all.count
    try consumer.assign(all)
  }

  deinit { consumer.close() }

  /// Topics that other producers write to.
  private static let `public`: Set<Topic> = [.chatEvents, .userEvents, .deviceClaims, .deadLetters]

  /// Passes on the available records, and waits a limited time for the first.
  func read(timeout: Duration = .milliseconds(20), _ body: (KafkaRecord) -> Void) throws {
    _ = try poll(timeout, body)
    // Bounded, so that the caller checks its condition under any load.
    var rounds = 0
    while !batch.isEmpty, rounds < 20 {
      rounds += 1
      _ = try poll(.zero, body)
    }
    batch.removeAll(keepingCapacity: true)
  }

  /// Passes on everything up to the present end of every partition. A new reader passes on all records.
  func readAll(_ body: (KafkaRecord) -> Void) throws {
    var ended = Set<TopicPartition>()
    try waitUntil("all of \(places) partitions end", state: { "\(ended.count) were reached" }) {
      while let place = try poll(.milliseconds(50), body) { ended.insert(place) }
      return ended.count == places
    }
  }

  /// The partition whose end was reached, if any.
  private func poll(_ timeout: Duration, _ body: (KafkaRecord) -> Void) throws -> TopicPartition? {
    batch.removeAll(keepingCapacity: true)
    let event = consumer.poll(into: &batch, maxRecords: 1_000, maxBytes: 16 << 20, timeout: timeout)
    for record in batch {
      guard let topic = names.topic(named: record.topic) else { continue }
      let isDropped = !keepsValues && Self.public.contains(topic)
      let headers = record.headers()
      body(
        KafkaRecord(
          topic: topic.rawValue, partition: record.partition, offset: record.offset, timestamp: record.timestamp,
          key: record.keyBytes().map { String(decoding: $0, as: UTF8.self) },
          value: isDropped ? nil : record.valueBytes(),
          headers: Dictionary(headers.map { ($0.name, String(decoding: $0.value ?? [], as: UTF8.self)) }) { $1 },
          headerBytes: Dictionary(headers.map { ($0.name, $0.value ?? []) }) { $1 }))
    }
    switch event {
    case .endOfPartition(let place, _): return place
    case .error(let error) where error.isFatal || error.isOffsetOutOfRange: throw error
    case nil, .record, .assigned, .revoked, .error: return nil
    }
  }
}
