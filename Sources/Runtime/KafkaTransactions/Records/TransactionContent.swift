/// What one transaction commits: records by partition, encoded, and the offsets of what they come from. It is not changed
/// by being sent, so the same content can be sent again.
public struct TransactionContent: Sendable {
  /// A header of a record.
  public typealias Header = (name: String, value: [UInt8]?)

  /// A partition's records, in batches that a broker takes.
  struct Partition {
    var index: Int32
    var batches: [RecordBatch] = []
    /// How many of them are filled; the others keep their memory for the next transaction.
    var used = 0

    var records: Int { batches[..<used].reduce(0) { $0 + $1.count } }
  }

  struct Topic {
    var name: String
    /// By number.
    var partitions: [Partition] = []
  }

  private(set) var topics: [Topic]
  /// The offsets to commit; nil: none.
  public var offsets: TransactionOffsets?
  private var timestamp: Int64
  private let maxBatchBytes: Int

  /// - Parameters:
  ///   - topics: the names of the topics that records go to.
  ///   - timestamp: of all records, in milliseconds since the epoch.
  ///   - maxBatchBytes: a batch that would become larger is closed, and another one begun; a larger record has a batch of
  ///     its own.
  public init(topics: [String], timestamp: Int64, maxBatchBytes: Int = 900_000) {
    self.topics = topics.map { Topic(name: $0) }
    self.timestamp = timestamp
    self.maxBatchBytes = maxBatchBytes
  }

  /// Batches larger than this are not kept for the next transaction.
  private static let keptBatchBytes = 256 << 10

  /// Forgets the records and offsets.
  public mutating func reset(timestamp: Int64) {
    self.timestamp = timestamp
    offsets = nil
    for topic in topics.indices {
      for partition in topics[topic].partitions.indices {
        topics[topic].partitions[partition].used = 0
        let kept = topics[topic].partitions[partition].batches.first.map { $0.size <= Self.keptBatchBytes } ?? false
        let count = topics[topic].partitions[partition].batches.count
        topics[topic].partitions[partition].batches.removeLast(kept ? count - 1 : count)
      }
    }
  }

  /// Adds a record.
  ///
  /// - Parameters:
  ///   - topic: the place of its name in the list that the content was made with.
  ///   - partition: 0 or more.
  public mutating func append(
    topic: Int, partition: Int32, key: [UInt8]?, value: [UInt8]?, headers: [Header] = []
  ) {
    let number = Int(partition)
    while topics[topic].partitions.count <= number {
      let index = Int32(topics[topic].partitions.count)
      topics[topic].partitions.append(Partition(index: index))
    }
    let size = RecordBatch.size(
      key: key?.count ?? 0, value: value?.count ?? 0,
      headers: headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 20 })
    topics[topic].partitions[number].append(key, value, headers, size, timestamp, maxBatchBytes)
  }

  /// Whether there is nothing to commit.
  public var isEmpty: Bool {
    (offsets?.offsets.isEmpty ?? true)
      && topics.allSatisfy { topic in topic.partitions.allSatisfy { $0.used == 0 } }
  }
}

extension TransactionContent.Partition {
  fileprivate mutating func append(
    _ key: [UInt8]?, _ value: [UInt8]?, _ headers: [TransactionContent.Header], _ size: Int, _ timestamp: Int64,
    _ maxBatchBytes: Int
  ) {
    if used == 0 || (batches[used - 1].size + size > maxBatchBytes && batches[used - 1].count > 0) {
      if used < batches.count {
        batches[used].reset(timestamp: timestamp)
      } else {
        batches.append(RecordBatch(timestamp: timestamp))
      }
      used += 1
    }
    batches[used - 1].append(key: key, value: value, headers: headers)
  }
}

/// Offsets of a consumer group, and the member of it that commits them. The coordinator refuses them where the group does
/// not count that member.
public struct TransactionOffsets: Sendable, Equatable {
  /// An input's next offset.
  public struct Offset: Sendable, Equatable {
    /// The topic's name.
    public var topic: String
    /// The partition.
    public var partition: Int32
    /// The next offset to read.
    public var offset: Int64
    /// A text that is kept with it.
    public var metadata: String

    /// An input's next offset.
    public init(topic: String, partition: Int32, offset: Int64, metadata: String) {
      self.topic = topic
      self.partition = partition
      self.offset = offset
      self.metadata = metadata
    }
  }

  /// The group's id.
  public var group: String
  /// The member's id. Never empty: offsets of nobody are not fenced.
  public var memberID: String
  /// The group's generation, 0 or more.
  public var generation: Int32
  /// `group.instance.id` of a static member.
  public var instanceID: String?
  /// What is committed.
  public var offsets: [Offset]

  /// Offsets of a member of a group.
  public init(group: String, memberID: String, generation: Int32, instanceID: String?, offsets: [Offset]) {
    self.group = group
    self.memberID = memberID
    self.generation = generation
    self.instanceID = instanceID
    self.offsets = offsets
  }
}
