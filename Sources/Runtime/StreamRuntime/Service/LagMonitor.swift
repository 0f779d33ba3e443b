import Foundation
import Kafka
import NudgeSchema
import ServiceKit

/// Measures the lag of a process's tasks, independently of its stream threads, which may be stuck.
///
/// Every few seconds, on its own thread and with its own client, it compares the group's committed offsets with the ends of the inputs, and
/// reads the first unprocessed record for its timestamp. While no broker answers, the age keeps rising.
final class LagMonitor: Sendable {
  private static let answerTimeout: Duration = .seconds(5)

  private let configuration: ClientConfiguration
  /// The full names of the inputs, and their gauges.
  let inputs: [(topic: String, records: Gauge)]
  /// The gauge of the age.
  let seconds: Gauge
  private let interval: DispatchTimeInterval
  private let logger: Logger
  /// Returns the process's present tasks.
  private let tasks: @Sendable () -> Set<Int32>
  private let stopping = DispatchSemaphore(value: 0)

  init(
    _ stage: StageDefinition, topics: TopicNames, bootstrapServers: String, properties: [String: String],
    metrics: MetricsRegistry, interval: DispatchTimeInterval = .seconds(10), logger: Logger,
    tasks: @escaping @Sendable () -> Set<Int32>
  ) {
    self.interval = interval
    var configuration = ClientConfiguration.consumer(
      bootstrapServers: bootstrapServers, group: stage.group(topics), reportsEndOfPartition: true)
    // The monitor reads only the first record of a partition.
    configuration.set("queued.min.messages", "1")
    configuration.set("fetch.message.max.bytes", "16384")
    self.configuration = configuration.merging(overrides: ClientConfiguration.inOrder(properties))
    inputs = stage.inputs.map { input in
      (
        topics(input),
        metrics.gauge(
          "nudge_lag_records", help: "Offsets of an input that this process's tasks have not processed.",
          labels: ["topic": input.rawValue])
      )
    }
    seconds = metrics.gauge(
      "nudge_lag_seconds", help: "Age of the oldest record that this process's tasks have not processed, in seconds.")
    self.logger = logger
    self.tasks = tasks
  }

  /// Measures until `stop`, on its own thread.
  func start() {
    let thread = Thread { [self] in
      let consumer: Consumer
      do {
        consumer = try Consumer(configuration, name: "nudge-lag", log: { [logger] in logger.write($0) })
      } catch {
        return logger.warning("the lag is not measured", ["reason": "\(error)"])
      }
      defer { consumer.close() }
      var table = LagTable()
      while stopping.wait(timeout: .now() + interval) == .timedOut {
        do throws(KafkaError) {
          try measure(consumer, &table)
        } catch {
          logger.limited("lag", every: .seconds(60))?.notice(
            "the lag could not be measured; tried again every few seconds", ["reason": "\(error)"])
        }
        show(table)
      }
    }
    thread.name = "nudge-lag"
    thread.start()
  }

  func stop() { stopping.signal() }

  private func show(_ table: LagTable) {
    for input in inputs { input.records.set(Double(table.records(of: input.topic))) }
    seconds.set(Double(table.age(at: SystemClock.milliseconds())) / 1_000)
  }

  private func measure(_ consumer: Consumer, _ table: inout LagTable) throws(KafkaError) {
    let tasks = tasks().sorted()
    let places = inputs.flatMap { input in tasks.map { TopicPartition(topic: input.topic, partition: $0) } }
    table.keep(only: Set(places))
    guard !places.isEmpty else { return }
    // The group's offsets are read first, so that commits in between make the lag larger and never negative.
    var next: [TopicPartition: Int64] = [:]
    for found in try consumer.committed(places, timeout: Self.answerTimeout) {
      next[found.topicPartition] = found.offset
    }
    let ends = try offsets(consumer, places, Offset.end)
    // A task that has never run begins at its inputs' first offsets.
    let starts = try offsets(consumer, places.filter { next[$0] == nil }, Offset.beginning)
    var wanted: [TopicPartitionOffset] = []
    for place in places {
      guard let end = ends[place], let from = next[place] ?? starts[place] else { continue }
      if let offset = table.update(place, next: from, end: end) {
        wanted.append(TopicPartitionOffset(place, offset: offset))
      }
    }
    try find(wanted, consumer, &table)
  }

  private func offsets(_ consumer: Consumer, _ places: [TopicPartition], _ time: Int64) throws(KafkaError)
    -> [TopicPartition: Int64]
  {
    guard !places.isEmpty else { return [:] }
    let times = Dictionary(uniqueKeysWithValues: places.map { ($0, time) })
    return try consumer.offsets(forTimes: times, timeout: Self.answerTimeout).compactMapValues { $0 }
  }

  /// Reads the first record of each partition, from the offset where it may be.
  private func find(_ wanted: [TopicPartitionOffset], _ consumer: Consumer, _ table: inout LagTable)
    throws(KafkaError)
  {
    guard !wanted.isEmpty else { return }
    try consumer.assign(wanted)
    var open = Set(wanted.map(\.topicPartition))
    let deadline = ContinuousClock.now + Self.answerTimeout
    while !open.isEmpty, ContinuousClock.now < deadline {
      switch consumer.poll(timeout: .milliseconds(100)) {
      case .record(let record):
        guard open.remove(record.topicPartition) != nil else { continue }
        table.found(record.topicPartition, offset: record.offset, timestamp: record.timestamp)
      case .endOfPartition(let place, _):
        if open.remove(place) != nil { table.foundNone(place) }
      // Records removed by retention do not count. After a leader change the next round retries.
      case .error(let error): if let place = error.topicPartition { open.remove(place) }
      case nil, .assigned, .revoked: continue
      }
    }
    try consumer.assign([])
  }
}

/// The unprocessed records of a process's partitions, and their age. A value: offsets and timestamps in, numbers out.
struct LagTable: Sendable {
  private struct Partition {
    /// The group's committed offset.
    var next: Int64
    /// The last stable offset.
    var end: Int64
    /// The first record from `next` on. Absent until it was read.
    var oldest: (offset: Int64, timestamp: Milliseconds)?
    /// The offset up to which there are only transaction markers from `next` on.
    var emptyUpTo: Int64 = 0
  }
  private var partitions: [TopicPartition: Partition] = [:]

  /// Drops all other partitions, which this process has given up.
  mutating func keep(only places: Set<TopicPartition>) {
    partitions = partitions.filter { places.contains($0.key) }
  }

  /// Updates the committed offset and the end of a partition.
  /// - Returns: The offset from which to look for the oldest unprocessed record. Absent if the record is known or there is none.
  mutating func update(_ place: TopicPartition, next: Int64, end: Int64) -> Int64? {
    var partition = partitions[place] ?? Partition(next: next, end: end)
    // A topic that was deleted and created again ends earlier than before.
    if end < partition.end { partition.emptyUpTo = 0 }
    partition.next = next
    partition.end = end
    if let oldest = partition.oldest, oldest.offset < next || oldest.offset >= end { partition.oldest = nil }
    partitions[place] = partition
    guard partition.oldest == nil else { return nil }
    let from = max(next, partition.emptyUpTo)
    return from < end ? from : nil
  }

  /// Takes the first record after the offset that `update` returned.
  mutating func found(_ place: TopicPartition, offset: Int64, timestamp: Milliseconds) {
    partitions[place]?.oldest = (offset, timestamp)
  }

  /// Records that no record exists from that offset to the end.
  mutating func foundNone(_ place: TopicPartition) {
    guard let end = partitions[place]?.end else { return }
    partitions[place]?.emptyUpTo = end
  }

  /// The number of unprocessed offsets of a topic. A partition that has only markers counts as 0.
  func records(of topic: String) -> Int64 {
    partitions.reduce(0) { sum, entry in
      guard entry.key.topic == topic, let oldest = entry.value.oldest else { return sum }
      return sum + entry.value.end - oldest.offset
    }
  }

  /// The age of the oldest unprocessed record, in milliseconds. 0 if there is none.
  func age(at now: Milliseconds) -> Milliseconds {
    partitions.values.compactMap { $0.oldest?.timestamp }.min().map { max(0, now - $0) } ?? 0
  }
}
