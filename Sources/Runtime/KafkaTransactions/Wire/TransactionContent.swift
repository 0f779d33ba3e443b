/// The content of one transaction: encoded records by partition, and the offsets of their inputs. Sending does not change it, so the same
/// content can be sent again.
public struct TransactionContent: Sendable {
  /// A header of a record.
  public typealias Header = (name: String, value: [UInt8]?)

  /// A partition's records, in batches that a broker accepts.
  struct Partition {
    var index: Int32
    var batches: [RecordBatch] = []
    /// The number of filled batches. The others keep their memory for the next transaction.
    var used = 0

    var records: Int { batches[..<used].reduce(0) { $0 + $1.count } }
  }

  struct Topic {
    var name: String
    /// The partitions, by number.
    var partitions: [Partition] = []
  }

  private(set) var topics: [Topic]
  /// The offsets to commit. Absent if there are none.
  public var offsets: TransactionOffsets?
  private var timestamp: Int64
  private let maxBatchBytes: Int

  /// - Parameters:
  ///   - topics: The names of the output topics.
  ///   - timestamp: The timestamp of all records, in milliseconds since the epoch.
  ///   - maxBatchBytes: The greatest size of a batch. A larger record gets its own batch.
  public init(topics: [String], timestamp: Int64, maxBatchBytes: Int = 900_000) {
    self.topics = topics.map { Topic(name: $0) }
    self.timestamp = timestamp
    self.maxBatchBytes = maxBatchBytes
  }

  /// The size in bytes up to which a batch's memory is kept for the next transaction.
  private static let keptBatchBytes = 256 << 10

  /// Removes records and offsets.
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
  ///   - topic: The index of the topic in the content's list.
  ///   - partition: The partition's number, from 0.
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

/// Offsets of a consumer group, and the member that commits them. The coordinator refuses them if the group does not have that
/// member.
public struct TransactionOffsets: Sendable, Equatable {
  /// The next offset of an input partition.
  public struct Offset: Sendable, Equatable {
    public var topic: String
    public var partition: Int32
    /// The next offset to read.
    public var offset: Int64
    /// The metadata committed with the offset.
    public var metadata: String

    /// The next offset of an input partition.
    public init(topic: String, partition: Int32, offset: Int64, metadata: String) {
      self.topic = topic
      self.partition = partition
      self.offset = offset
      self.metadata = metadata
    }
  }

  public var group: String
  /// The member id. It is never empty, because the coordinator would then not fence the offsets.
  public var memberID: String
  /// The group's generation, 0 or more.
  public var generation: Int32
  /// `group.instance.id` of a static member. Absent for a dynamic one.
  public var instanceID: String?
  public var offsets: [Offset]

  public init(group: String, memberID: String, generation: Int32, instanceID: String?, offsets: [Offset]) {
    self.group = group
    self.memberID = memberID
    self.generation = generation
    self.instanceID = instanceID
    self.offsets = offsets
  }
}

/// A producer's id and epoch, from the coordinator's last answer. The client never computes them: near its maximum, the epoch starts again
/// with another id.
struct ProducerIdentity: Equatable {
  var id: Int64
  var epoch: Int16

  /// The coordinator's answer without a producer.
  static let none = ProducerIdentity(id: -1, epoch: -1)
}
