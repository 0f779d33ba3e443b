import Kafka
import NudgeSchema

/// What is unprocessed on the partitions of a process, and since when. A value: offsets and timestamps in, numbers out.
struct LagTable: Sendable {
  private struct Partition {
    /// The next offset by the group.
    var next: Int64
    /// Behind the last record that may be read.
    var end: Int64
    /// The first record at or behind `next`; nil: none is known.
    var oldest: (offset: Int64, timestamp: Milliseconds)?
    /// No record lies between `next` and here: only markers of transactions.
    var emptyUpTo: Int64 = 0
  }
  private var partitions: [TopicPartition: Partition] = [:]

  /// Forgets all other partitions: they belong to somebody else now.
  mutating func keep(only places: Set<TopicPartition>) {
    partitions = partitions.filter { places.contains($0.key) }
  }

  /// Takes what the group has committed and where the partition ends.
  /// - Returns: where to look for the oldest unprocessed record; nil: it is known, or there is none.
  mutating func update(_ place: TopicPartition, next: Int64, end: Int64) -> Int64? {
    var partition = partitions[place] ?? Partition(next: next, end: end)
    // A topic that was deleted and made anew ends before what was known of it.
    if end < partition.end { partition.emptyUpTo = 0 }
    partition.next = next
    partition.end = end
    if let oldest = partition.oldest, oldest.offset < next || oldest.offset >= end { partition.oldest = nil }
    partitions[place] = partition
    guard partition.oldest == nil else { return nil }
    let from = max(next, partition.emptyUpTo)
    return from < end ? from : nil
  }

  /// This is the first record from where `update` said.
  mutating func found(_ place: TopicPartition, offset: Int64, timestamp: Milliseconds) {
    partitions[place]?.oldest = (offset, timestamp)
  }

  /// There is no record up to the end.
  mutating func foundNone(_ place: TopicPartition) {
    guard let end = partitions[place]?.end else { return }
    partitions[place]?.emptyUpTo = end
  }

  /// Offsets that are not processed, of all partitions of a topic; 0 where only markers are left.
  func records(of topic: String) -> Int64 {
    partitions.reduce(0) { sum, entry in
      guard entry.key.topic == topic, let oldest = entry.value.oldest else { return sum }
      return sum + entry.value.end - oldest.offset
    }
  }

  /// The age of the oldest unprocessed record of all, in milliseconds; 0 where there is none.
  func age(at now: Milliseconds) -> Milliseconds {
    partitions.values.compactMap { $0.oldest?.timestamp }.min().map { max(0, now - $0) } ?? 0
  }
}
