/// The place of a record in Kafka.
public struct RecordPosition: Codable, Sendable, Hashable {
  /// The topic's name.
  public var topic: String
  /// The partition, 0 or more.
  public var partition: Int32
  /// The offset, 0 or more.
  public var offset: Int64

  /// A record's place.
  public init(topic: String, partition: Int32, offset: Int64) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
  }
}

/// The record that directly caused another, and which of its effects this one is.
public struct Origin: Codable, Sendable, Hashable {
  /// The cause's topic.
  public var topic: String
  /// The cause's partition.
  public var partition: Int32
  /// The cause's offset.
  public var offset: Int64
  /// Which of the cause's effects on this key: nil is the first, and counts as 0.
  public var index: Int32?

  /// An origin.
  public init(topic: String, partition: Int32, offset: Int64, index: Int32? = nil) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
    self.index = index
  }

  /// The `index`-th effect of a record; index 0 is not written.
  public init(_ position: RecordPosition, index: Int32 = 0) {
    self.init(
      topic: position.topic, partition: position.partition, offset: position.offset, index: index == 0 ? nil : index)
  }

  /// The cause's place.
  public var position: RecordPosition { RecordPosition(topic: topic, partition: partition, offset: offset) }

  /// The part of an origin that tells repeats, for one key whose causes all come from one partition.
  public var order: OriginOrder { OriginOrder(offset: offset, index: index ?? 0) }
}

/// An origin's place among the origins of one key.
public struct OriginOrder: Codable, Sendable, Hashable, Comparable {
  /// The cause's offset.
  public var offset: Int64
  /// Which of the cause's effects.
  public var index: Int32

  /// A place.
  public init(offset: Int64, index: Int32) {
    self.offset = offset
    self.index = index
  }

  /// Whether `a` comes first.
  public static func < (a: OriginOrder, b: OriginOrder) -> Bool { (a.offset, a.index) < (b.offset, b.index) }
}
