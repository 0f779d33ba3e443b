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

/// The outcome of a transaction, with a reason unless committed.
public enum TransactionOutcome: Sendable, Equatable {
  /// It is committed. Consumers see it once the broker has written the markers.
  case committed(CommittedRecords)
  /// Not committed, and it will not be. Get a new epoch with ``TransactionalProducer/open(timeout:)`` before sending the content again.
  case notCommitted(String)
  /// As `notCommitted`, because the consumer is not a member of the group's current generation.
  case notMember(String)
  /// Possibly committed, now or later. After ``TransactionalProducer/open(timeout:)`` it is decided, and the written records show the result.
  case unknown(String)
  /// Another process uses the transactional id or the consumer's instance id.
  case fenced(String)
  /// Not committed, and the same content will be refused again.
  case refused(TransactionRefusal, String)
}

/// Why a broker refuses a transaction's content.
public enum TransactionRefusal: Sendable, Equatable {
  /// The client is not authorized.
  case forbidden
  /// A record is larger than its topic allows.
  case tooLarge
  /// Any other invalid content.
  case invalid
}

extension BrokerError {
  /// The kind of refusal of an error with the meaning `refused`.
  var refusal: TransactionRefusal { isAuthorization ? .forbidden : code == 10 || code == 18 ? .tooLarge : .invalid }
}

/// The positions of a committed transaction's records.
public struct CommittedRecords: Sendable, Equatable {
  /// A partition of a topic.
  struct Place: Hashable {
    var topic: String
    var partition: Int32
  }

  /// The offset of each partition's last record, except where a repeated request did not return it.
  var lastOffsets: [Place: Int64] = [:]

  /// The offset of the last record in a partition. Absent if there was no record or the broker did not return the offset.
  public func lastOffset(topic: String, partition: Int32) -> Int64? {
    lastOffsets[Place(topic: topic, partition: partition)]
  }
}

/// The protocol of a transaction.
public enum TransactionVersion: Int, Sendable {
  /// Before KIP-890, part 2: the client adds partitions and offsets, and requests the epoch of each transaction.
  case one = 1
  /// KIP-890, part 2: leaders add partitions, and the end of a transaction raises the epoch.
  case two = 2

  /// The level of a cluster's feature `transaction.version`, 0 if it has none. Levels 0 and 1 differ only in the coordinator's own records.
  static func level(_ answer: APIVersionsRequest.Answer) -> Int { Int(answer.features["transaction.version"] ?? 0) }

  /// The protocol for a cluster.
  ///
  /// - Parameter wanted: The protocol to insist on. Absent: the latest that the cluster has.
  /// - Throws: `refused` if the cluster lacks it, or the broker a request's version.
  static func of(
    _ answer: APIVersionsRequest.Answer, wanted: TransactionVersion?
  ) throws(TransactionalProducerError) -> TransactionVersion {
    let level = level(answer)
    guard answer.error == .none else {
      throw refusal("the broker does not tell its transaction.version: it is older than Kafka 3.6")
    }
    if wanted == .two, level < 2 {
      throw refusal(
        "the cluster's transaction.version is \(level), and --transactions 2 needs 2 (Kafka 4.0 or later); on such a cluster: "
          + "kafka-features.sh --bootstrap-server BROKER upgrade --feature transaction.version=2; or set --transactions auto"
      )
    }
    let version = wanted ?? (level >= 2 ? .two : .one)
    try check(version.requests, answer, since: version == .two ? "Kafka 4.0" : "Kafka 3.6")
    return version
  }

  /// The requests of a transaction, with their versions.
  private var requests: [(name: String, key: Int16, version: Int16)] {
    let both: [(name: String, key: Int16, version: Int16)] = [
      (ProduceRequest.name, ProduceRequest.key, produce),
      (MetadataRequest.name, MetadataRequest.key, MetadataRequest.version),
      (FindCoordinatorRequest.name, FindCoordinatorRequest.key, FindCoordinatorRequest.version),
      (InitProducerIDRequest.name, InitProducerIDRequest.key, initProducerID),
      (TxnOffsetCommitRequest.name, TxnOffsetCommitRequest.key, txnOffsetCommit),
      (EndTxnRequest.name, EndTxnRequest.key, self == .two ? EndTxnRequest.version : FormerEndTxnRequest.version),
    ]
    guard self == .one else { return both }
    return both + [
      (AddOffsetsToTxnRequest.name, AddOffsetsToTxnRequest.key, AddOffsetsToTxnRequest.version),
      // Version 4 is what leaders send to verify a transaction before they take its first record (KIP-890, part 1, Kafka 3.6). Without
      // that, a late Produce of a stale epoch can leave a partition without a last stable offset.
      (AddPartitionsToTxnRequest.name, AddPartitionsToTxnRequest.key, AddPartitionsToTxnRequest.version + 1),
    ]
  }

  /// Checks that a broker supports the versions of requests.
  static func check(
    _ requests: [(name: String, key: Int16, version: Int16)], _ answer: APIVersionsRequest.Answer, since release: String
  ) throws(TransactionalProducerError) {
    for (name, key, version) in requests where !(answer.versions[key]?.contains(version) ?? false) {
      let range = answer.versions[key].map { "\($0.lowerBound) to \($0.upperBound)" } ?? "none"
      throw refusal("it speaks \(name) in versions \(range); \(version) is needed (\(release) or later)")
    }
  }

  private static func refusal(_ reason: String) -> TransactionalProducerError {
    TransactionalProducerError(.refused, "check the broker", reason)
  }

  // Versions of requests whose fields are the same in both protocols. The version tells the broker the protocol: from Produce 12 and
  // TxnOffsetCommit 5 on, it adds the partitions by itself.
  var produce: Int16 { self == .two ? 12 : 9 }
  var txnOffsetCommit: Int16 { self == .two ? 5 : 3 }
  var initProducerID: Int16 { self == .two ? 5 : 4 }
}
