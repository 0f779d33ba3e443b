import Kafka

/// Offsets of a partition, `from` inclusive, `to` exclusive.
struct PartitionRange: Sendable, Equatable {
  var place: TopicPartition
  var from: Int64
  var to: Int64

  /// Offsets, not records: transaction markers take offsets too.
  var count: Int64 { max(0, to - from) }

  /// The range in pieces, the last one first: small at first, so that a search for the latest records has some at once, then
  /// larger, so that it takes few requests.
  func backwards(first: Int64 = 20_000, most: Int64 = 320_000) -> [PartitionRange] {
    var pieces: [PartitionRange] = []
    var (end, size) = (to, first)
    while end > from {
      let start = max(from, end - size)
      pieces.append(PartitionRange(place: place, from: start, to: end))
      end = start
      size = min(most, 2 * size)
    }
    return pieces
  }
}
