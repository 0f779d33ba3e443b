import Kafka
import NudgeSchema

/// The unprocessed records of a process's partitions, and their age. A value: offsets and timestamps in, numbers out.
struct LagTable: Sendable {
  private struct Partition {
    /// The group's committed offset.
    var next: Int64
    /// The last stable offset.
    var end: Int64
    /// The first record from `next` on; nil: unknown.
    var oldest: (offset: Int64, timestamp: Milliseconds)?
    /// From `next` up to here there are only transaction markers.
    var emptyUpTo: Int64 = 0
  }
  private var partitions: [TopicPartition: Partition] = [:]

  /// Drops all other partitions, which this process has given up.
  mutating func keep(only places: Set<TopicPartition>) {
    partitions = partitions.filter { places.contains($0.key) }
  }

  /// Updates the committed offset and the end of a partition.
  /// - Returns: where to look for the oldest unprocessed record; nil: it is known, or there is none.
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

  /// The first record after the offset that `update` returned.
  mutating func found(_ place: TopicPartition, offset: Int64, timestamp: Milliseconds) {
    partitions[place]?.oldest = (offset, timestamp)
  }

  /// There is no record from that offset to the end.
  mutating func foundNone(_ place: TopicPartition) {
    guard let end = partitions[place]?.end else { return }
    partitions[place]?.emptyUpTo = end
  }

  /// The number of unprocessed offsets of a topic. Partitions with only markers count 0.
  func records(of topic: String) -> Int64 {
    partitions.reduce(0) { sum, entry in
      guard entry.key.topic == topic, let oldest = entry.value.oldest else { return sum }
      return sum + entry.value.end - oldest.offset
    }
  }

  /// The age of the oldest unprocessed record, in milliseconds; 0: there is none.
  func age(at now: Milliseconds) -> Milliseconds {
    partitions.values.compactMap { $0.oldest?.timestamp }.min().map { max(0, now - $0) } ?? 0
  }
}
