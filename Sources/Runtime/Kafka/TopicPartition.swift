public struct TopicPartition: Hashable, Sendable, Comparable, CustomStringConvertible {
  public var topic: String
  /// The partition's number, from 0.
  public var partition: Int32

  public init(topic: String, partition: Int32) {
    self.topic = topic
    self.partition = partition
  }

  /// By topic, then by number.
  public static func < (a: TopicPartition, b: TopicPartition) -> Bool {
    a.topic == b.topic ? a.partition < b.partition : a.topic < b.topic
  }

  /// `topic-3`.
  public var description: String { "\(topic)-\(partition)" }
}

/// An offset of a partition, with committed metadata.
public struct TopicPartitionOffset: Hashable, Sendable, CustomStringConvertible {
  public var topicPartition: TopicPartition
  /// The offset of the next record to read, or ``Offset/beginning`` or ``Offset/end`` in an assignment.
  /// `nil` from ``Consumer/committed(_:timeout:)``: the group has committed no offset. `nil` in an assignment: the committed offset,
  /// else as `auto.offset.reset` says.
  public var offset: Int64?
  /// The metadata committed with the offset; Kafka does not distinguish `nil` and empty. At most 4,096 bytes by default
  /// (`offset.metadata.max.bytes`).
  public var metadata: String?

  public init(_ topicPartition: TopicPartition, offset: Int64?, metadata: String? = nil) {
    self.topicPartition = topicPartition
    self.offset = offset
    self.metadata = metadata
  }

  public init(topic: String, partition: Int32, offset: Int64?, metadata: String? = nil) {
    self.init(TopicPartition(topic: topic, partition: partition), offset: offset, metadata: metadata)
  }

  /// `topic-3@17`.
  public var description: String { "\(topicPartition)@\(offset.map(String.init) ?? "none")" }
}

/// Logical offsets.
public enum Offset {
  /// The log start offset.
  public static let beginning: Int64 = -2
  /// The end of the log (on a read_committed client: the last stable offset).
  public static let end: Int64 = -1
}
