/// A partition of a topic.
public struct TopicPartition: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The topic's name.
  public var topic: String
  /// The partition's number, from 0.
  public var partition: Int32

  /// Names a partition.
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

/// A place in a partition, with the note that was committed with it.
public struct TopicPartitionOffset: Hashable, Sendable, CustomStringConvertible {
  /// The partition.
  public var topicPartition: TopicPartition
  /// The offset of the next record to read, or ``Offset/beginning`` or ``Offset/end`` where one is assigned.
  /// `nil`: the group has committed none (from ``Consumer/committed(_:timeout:)``); or, in an assignment, what the
  /// group has committed, else what `auto.offset.reset` says.
  public var offset: Int64?
  /// The note committed with the offset; `nil` and empty are the same to Kafka. A broker takes 4,096 bytes by default
  /// (`offset.metadata.max.bytes`).
  public var metadata: String?

  /// Names a place.
  public init(_ topicPartition: TopicPartition, offset: Int64?, metadata: String? = nil) {
    self.topicPartition = topicPartition
    self.offset = offset
    self.metadata = metadata
  }

  /// Names a place.
  public init(topic: String, partition: Int32, offset: Int64?, metadata: String? = nil) {
    self.init(TopicPartition(topic: topic, partition: partition), offset: offset, metadata: metadata)
  }

  /// `topic-3@17`.
  public var description: String { "\(topicPartition)@\(offset.map(String.init) ?? "none")" }
}

/// Offsets that stand for a place rather than a number.
public enum Offset {
  /// The first record that the partition still keeps.
  public static let beginning: Int64 = -2
  /// Behind the last record (on a read_committed client: behind the last stable one).
  public static let end: Int64 = -1
}
