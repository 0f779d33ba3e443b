import Dispatch
import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// Reads a topic without a group: one consumer reads all partitions, from the former position or some way back, to their ends and beyond.
struct TopicTail {
  /// How far back reading begins.
  struct Reach {
    var time: Milliseconds
    /// The most offsets per partition.
    var backlog: Int64
  }

  /// The records of a partition when reading begins.
  struct Span {
    let low: Int64
    let high: Int64
    /// The first record within reach.
    let recent: Int64
  }

  /// By partition; empty if there is no topic.
  let spans: [Int32: Span]
  private let topic: String
  private let consumer: Consumer
  /// The partitions whose former ends were not reached yet.
  private var behind: Set<Int32> = []

  private static let timeout: Duration = .seconds(5)

  /// Looks up the partitions. `begin` assigns them.
  /// - Parameter orFromStart: Whether a partition without a record within `reach.time` is read from its start instead of its end.
  init(_ topic: String, by consumer: Consumer, _ reach: Reach, orFromStart: Bool) throws(KafkaError) {
    (self.topic, self.consumer) = (topic, consumer)
    let count = try consumer.partitionCounts(of: [topic], timeout: Self.timeout)[topic] ?? 0
    let places = (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
    func offsets(at time: Int64) throws(KafkaError) -> [TopicPartition: Int64] {
      guard !places.isEmpty else { return [:] }
      return try consumer.offsets(
        forTimes: Dictionary(uniqueKeysWithValues: places.map { ($0, time) }), timeout: Self.timeout
      ).compactMapValues { $0 }
    }
    let low = try offsets(at: Offset.beginning)
    let high = try offsets(at: Offset.end)
    let recent = try offsets(at: SystemClock.milliseconds() - reach.time)
    spans = Dictionary(
      uniqueKeysWithValues: places.map { place in
        let (first, end) = (low[place] ?? 0, high[place] ?? 0)
        let since = recent[place] ?? (orFromStart ? first : end)
        return (place.partition, Span(low: first, high: end, recent: max(first, since, end - reach.backlog)))
      })
  }

  /// Whether all former ends were reached.
  var isAtEnd: Bool { behind.isEmpty }

  /// Reads each partition from an offset on.
  mutating func begin(_ start: (Int32, Span) -> Int64) throws(KafkaError) {
    var starts: [TopicPartitionOffset] = []
    for (partition, span) in spans.sorted(by: { $0.key < $1.key }) {
      let offset = start(partition, span)
      if offset < span.high { behind.insert(partition) }
      starts.append(TopicPartitionOffset(TopicPartition(topic: topic, partition: partition), offset: offset))
    }
    try consumer.assign(starts)
  }

  /// Passes the next records to `body`, and the end of a partition to `atEnd`.
  /// - Throws: An error if a new consumer is needed.
  mutating func poll(
    timeout: Duration, _ body: (ConsumerRecord) -> Void, atEnd: (Int32, Int64) -> Void
  ) throws(KafkaError) {
    switch consumer.poll(maxRecords: 1_000, maxBytes: 4 << 20, timeout: timeout, body) {
    case .endOfPartition(let place, let offset):
      atEnd(place.partition, offset)
      behind.remove(place.partition)
    case .error(let error) where error.endsReading: throw error
    case nil, .record, .assigned, .revoked, .error: break
    }
  }
}

extension KafkaError {
  /// Why a topic cannot be read, in words for callers of the API.
  func readFailure(of topic: String) -> String {
    isAuthorization ? "this service lacks the right Read on \(topic)" : "\(name): \(reason)"
  }
}

/// A thread of the HTTP API that reads a topic until it is closed.
final class ReaderThread: Sendable {
  private let name: String
  private let isClosed = Atomic<Bool>(false)
  private let isStopped = Atomic<Bool>(false)
  private let ended = DispatchSemaphore(value: 0)

  init(_ name: String) { self.name = name }

  /// Whether neither `close` nor `stop` was called yet. The body checks it repeatedly, and returns soon after it becomes false.
  var isOpen: Bool { !isClosed.load(ordering: .relaxed) && !isStopped.load(ordering: .relaxed) }

  /// Runs the body on the thread. Call it once.
  func start(_ body: @escaping @Sendable () -> Void) {
    let thread = Thread { [self] in
      body()
      ended.signal()
    }
    thread.name = name
    thread.start()
  }

  /// Lets the body end, without waiting for it.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Waits for the body's end. Later calls do nothing.
  func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    ended.wait()
  }
}

extension ClientConfiguration {
  /// A consumer without a group, for topics that the HTTP API reads. The operator's properties override these.
  /// - Parameter properties: Properties in addition to those of every consumer, such as the limit of prefetched bytes.
  static func reader(
    _ settings: ServiceSettings, reportsEndOfPartition: Bool = true, _ properties: KeyValuePairs<String, String>
  ) -> ClientConfiguration {
    var configuration = ClientConfiguration.consumer(
      bootstrapServers: settings.bootstrapServers, group: nil, reportsEndOfPartition: reportsEndOfPartition)
    for (name, value) in properties { configuration.set(name, value) }
    return configuration.merging(
      overrides: ClientConfiguration.inOrder(settings.kafkaProperties))
  }
}
