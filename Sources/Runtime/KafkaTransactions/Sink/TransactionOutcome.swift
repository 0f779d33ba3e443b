/// What became of a transaction. All but `committed` come with a reason for people.
public enum TransactionOutcome: Sendable, Equatable {
  /// It is committed; consumers see it once the broker has written its markers.
  case committed(CommittedRecords)
  /// It is not committed and will not be: its epoch is to be replaced (``TransactionSink/open(timeout:)``) before the same
  /// content is sent again.
  case notCommitted(String)
  /// As `notCommitted`; the group does not count the consumer as a member, or not of this generation.
  case notMember(String)
  /// It may be committed, or be so later. After ``TransactionSink/open(timeout:)`` it is decided: what was written tells.
  case unknown(String)
  /// Another process has the transactional id, or the consumer's instance id.
  case fenced(String)
  /// Not committed, and the same content never will be.
  case refused(TransactionRefusal, String)
}

/// Why a broker will never take something.
public enum TransactionRefusal: Sendable, Equatable {
  /// The client may not do this.
  case forbidden
  /// A record is larger than its topic takes.
  case tooLarge
  /// Anything else that is not as the broker wants it.
  case invalid
}

/// Where the records of a committed transaction are.
public struct CommittedRecords: Sendable, Equatable {
  /// A partition of a topic.
  struct Place: Hashable {
    var topic: String
    var partition: Int32
  }

  /// The offset of each partition's last record. Not those that the broker did not tell, as the request was a repeat.
  var lastOffsets: [Place: Int64] = [:]

  /// The offset of the last record that went to a partition; nil where there was none, or the broker did not tell.
  public func lastOffset(topic: String, partition: Int32) -> Int64? {
    lastOffsets[Place(topic: topic, partition: partition)]
  }
}
