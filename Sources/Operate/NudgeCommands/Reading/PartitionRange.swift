import Kafka

/// Offsets of a partition, `from` inclusive, `to` exclusive.
struct PartitionRange: Sendable, Equatable {
  var place: TopicPartition
  var from: Int64
  var to: Int64

  /// Offsets, not records: transaction markers take offsets too.
  var count: Int64 { max(0, to - from) }
}
