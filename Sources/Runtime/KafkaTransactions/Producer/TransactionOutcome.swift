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
