/// The outcome of a transaction, with a reason unless committed.
public enum TransactionOutcome: Sendable, Equatable {
  /// Committed; consumers see it once the broker has written the markers.
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

  /// The offset of the last record in a partition; nil if there was none, or the broker did not return it.
  public func lastOffset(topic: String, partition: Int32) -> Int64? {
    lastOffsets[Place(topic: topic, partition: partition)]
  }
}
