import Kafka

/// Records of a partition from an offset on and before another.
struct PartitionRange: Sendable, Equatable {
  var place: TopicPartition
  /// The first offset.
  var from: Int64
  /// Behind the last offset.
  var to: Int64

  /// Offsets it has; there may be fewer records, since markers of transactions take offsets.
  var count: Int64 { max(0, to - from) }
}
