/// The position of a record in Kafka.
public struct RecordPosition: Codable, Sendable, Hashable {
  /// The topic's name.
  public var topic: String
  /// The partition, 0 or more.
  public var partition: Int32
  /// The offset, 0 or more.
  public var offset: Int64

  /// Creates a position.
  public init(topic: String, partition: Int32, offset: Int64) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
  }
}

/// The record that directly caused another, and the index of this effect among the cause's effects.
public struct Origin: Codable, Sendable, Hashable {
  /// The cause's topic.
  public var topic: String
  /// The cause's partition.
  public var partition: Int32
  /// The cause's offset.
  public var offset: Int64
  /// The index among the cause's effects on this key. Absent for the first, which has index 0.
  public var index: Int32?
  /// The generation of the cause's partition. A topic that was deleted and created again has a higher one, because its
  /// offsets restart at 0. Absent means 0, for a topic that was created once.
  public var generation: Int32?

  /// Creates an origin.
  public init(topic: String, partition: Int32, offset: Int64, index: Int32? = nil, generation: Int32? = nil) {
    self.topic = topic
    self.partition = partition
    self.offset = offset
    self.index = index
    self.generation = generation
  }

  /// Creates the origin of a record's effect with this index. Index 0 is stored as nil.
  public init(_ position: RecordPosition, index: Int32 = 0, generation: Int32? = nil) {
    self.init(
      topic: position.topic, partition: position.partition, offset: position.offset, index: index == 0 ? nil : index,
      generation: generation)
  }

  /// The origin of the same cause's effect with another index.
  public func effect(_ index: Int32) -> Origin { Origin(position, index: index, generation: generation) }

  /// Whether both causes are in one partition. Only then can the two be ordered.
  public func isComparable(to other: Origin) -> Bool { partition == other.partition && sameId(topic, other.topic) }

  /// Whether this origin comes after `other`. They must be comparable (`isComparable(to:)`).
  public func isLater(than other: Origin) -> Bool {
    (generation ?? 0, order) > (other.generation ?? 0, other.order)
  }

  /// The cause's position.
  public var position: RecordPosition { RecordPosition(topic: topic, partition: partition, offset: offset) }

  /// The part of an origin that recognises repeats. It orders only causes of one generation of one partition.
  public var order: OriginOrder { OriginOrder(offset: offset, index: index ?? 0) }
}

/// An origin's order among the origins of one key.
public struct OriginOrder: Codable, Sendable, Hashable, Comparable {
  /// The cause's offset.
  public var offset: Int64
  /// The index among the cause's effects.
  public var index: Int32

  /// Creates an order.
  public init(offset: Int64, index: Int32) {
    self.offset = offset
    self.index = index
  }

  /// Whether `a` comes first.
  public static func < (a: OriginOrder, b: OriginOrder) -> Bool { (a.offset, a.index) < (b.offset, b.index) }
}
