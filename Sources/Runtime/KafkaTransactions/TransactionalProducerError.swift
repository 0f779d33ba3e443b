import Foundation

/// An error of the transactional producer: the operation and the reason. Never contains secrets.
public struct TransactionalProducerError: Error, Equatable, CustomStringConvertible {
  /// Whether a retry can succeed.
  public enum Kind: Sendable, Equatable {
    /// The same call may succeed later: a broker is unavailable or slow.
    case passing
    /// The call fails until a setting, a permission or the broker is changed.
    case refused
  }

  /// Whether a retry can succeed.
  public let kind: Kind
  public let operation: String
  /// The reason and, if known, the remedy.
  public let reason: String
  /// Whether a permission is missing.
  public let isAuthorization: Bool

  init(_ kind: Kind, _ operation: String, _ reason: String, isAuthorization: Bool = false) {
    self.kind = kind
    self.operation = operation
    self.reason = reason
    self.isAuthorization = isAuthorization
  }

  /// Operation and reason, in one line.
  public var description: String { "\(operation): \(reason)" }
}

/// A moment by which something must be done, on a clock that also runs while the machine sleeps.
struct Deadline: Comparable {
  private let end: ContinuousClock.Instant

  init(after timeout: Duration) { end = .now + timeout }

  /// The time left. Zero once the deadline is past.
  var remaining: Duration { max(.zero, ContinuousClock.Instant.now.duration(to: end)) }
  var isPast: Bool { remaining == .zero }

  /// The time left in whole milliseconds, rounded up so that a wait of that length ends after the deadline.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = remaining.components
    return Int32(clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }

  /// Sleeps until the deadline, or until the other one if that is earlier.
  func wait(atMost limit: Deadline) {
    let (seconds, attoseconds) = min(self, limit).remaining.components
    guard seconds > 0 || attoseconds > 0 else { return }
    Thread.sleep(forTimeInterval: Double(seconds) + Double(attoseconds) * 1e-18)
  }

  static func < (a: Deadline, b: Deadline) -> Bool { a.end < b.end }
}

/// An error code in a broker's answer.
struct BrokerError: Equatable, Hashable, CustomStringConvertible {
  let code: Int16

  init(_ code: Int16) { self.code = code }

  static let none = BrokerError(0)
  static let unknownTopic = BrokerError(3)
  static let unsupportedVersion = BrokerError(35)
  static let duplicateSequence = BrokerError(46)

  /// The client's reaction to an error.
  enum Meaning: Equatable {
    case success
    /// Retry the request shortly.
    case again
    /// Look up the partition's leader, because it has moved or the topic is not known yet.
    case findLeader
    /// Look up the coordinator, because it has moved or is loading.
    case findCoordinator
    /// The producer's epoch is stale: another producer uses the transactional id, or the coordinator has aborted the transaction after
    /// its time-out.
    case epochOver
    /// The transaction cannot be committed. Open the producer again.
    case abort
    /// The consumer is not a member of the group's current generation.
    case notMember
    /// Another process uses the consumer's instance id.
    case fenced
    /// The same request will be refused again.
    case refused
    /// An error that this client does not know.
    case unknown
  }

  var meaning: Meaning {
    switch code {
    case 0: .success
    // Leaders also map the transaction coordinator's CONCURRENT_TRANSACTIONS to NETWORK_EXCEPTION or NOT_ENOUGH_REPLICAS.
    // OPERATION_NOT_ATTEMPTED: another partition of the request has the error.
    case 7, 13, 14, 19, 20, 51, 52, 55, 56, 89: .again
    case 3, 5, 6, 8, 9, 74, 75, 100: .findLeader
    case 15, 16: .findCoordinator
    case 47, 90: .epochOver
    case 2, 45, 48, 49, 59, 120: .abort
    case 22, 25, 27, 79, 110, 113: .notMember
    case 82, 111: .fenced
    case 10, 12, 17, 18, 21, 24, 28, 29, 30, 31, 32, 33, 34, 35, 42, 43, 44, 50, 53, 54, 58, 76, 87: .refused
    default: .unknown
    }
  }

  /// The client is not authorized or not authenticated.
  var isAuthorization: Bool { [29, 30, 31, 53, 58].contains(code) }

  /// The name in Kafka's documentation.
  var description: String { Self.names[code] ?? "error \(code)" }

  private static let names: [Int16: String] = [
    -1: "UNKNOWN_SERVER_ERROR", 0: "NONE", 2: "CORRUPT_MESSAGE", 3: "UNKNOWN_TOPIC_OR_PARTITION",
    5: "LEADER_NOT_AVAILABLE", 6: "NOT_LEADER_OR_FOLLOWER", 7: "REQUEST_TIMED_OUT", 8: "BROKER_NOT_AVAILABLE",
    9: "REPLICA_NOT_AVAILABLE", 10: "MESSAGE_TOO_LARGE", 12: "OFFSET_METADATA_TOO_LARGE", 13: "NETWORK_EXCEPTION",
    14: "COORDINATOR_LOAD_IN_PROGRESS", 15: "COORDINATOR_NOT_AVAILABLE", 16: "NOT_COORDINATOR",
    17: "INVALID_TOPIC_EXCEPTION", 18: "RECORD_LIST_TOO_LARGE", 19: "NOT_ENOUGH_REPLICAS",
    20: "NOT_ENOUGH_REPLICAS_AFTER_APPEND", 21: "INVALID_REQUIRED_ACKS", 22: "ILLEGAL_GENERATION",
    24: "INVALID_GROUP_ID", 25: "UNKNOWN_MEMBER_ID", 27: "REBALANCE_IN_PROGRESS", 28: "INVALID_COMMIT_OFFSET_SIZE",
    29: "TOPIC_AUTHORIZATION_FAILED", 30: "GROUP_AUTHORIZATION_FAILED", 31: "CLUSTER_AUTHORIZATION_FAILED",
    32: "INVALID_TIMESTAMP", 33: "UNSUPPORTED_SASL_MECHANISM", 34: "ILLEGAL_SASL_STATE", 35: "UNSUPPORTED_VERSION",
    42: "INVALID_REQUEST", 43: "UNSUPPORTED_FOR_MESSAGE_FORMAT", 44: "POLICY_VIOLATION",
    45: "OUT_OF_ORDER_SEQUENCE_NUMBER", 46: "DUPLICATE_SEQUENCE_NUMBER", 47: "INVALID_PRODUCER_EPOCH",
    48: "INVALID_TXN_STATE", 49: "INVALID_PRODUCER_ID_MAPPING", 50: "INVALID_TRANSACTION_TIMEOUT",
    51: "CONCURRENT_TRANSACTIONS", 52: "TRANSACTION_COORDINATOR_FENCED", 53: "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    54: "SECURITY_DISABLED", 55: "OPERATION_NOT_ATTEMPTED", 56: "KAFKA_STORAGE_ERROR", 58: "SASL_AUTHENTICATION_FAILED",
    59: "UNKNOWN_PRODUCER_ID",
    74: "FENCED_LEADER_EPOCH", 75: "UNKNOWN_LEADER_EPOCH", 76: "UNSUPPORTED_COMPRESSION_TYPE", 79: "MEMBER_ID_REQUIRED",
    82: "FENCED_INSTANCE_ID", 87: "INVALID_RECORD", 89: "THROTTLING_QUOTA_EXCEEDED", 90: "PRODUCER_FENCED",
    100: "UNKNOWN_TOPIC_ID", 110: "FENCED_MEMBER_EPOCH", 111: "UNRELEASED_INSTANCE_ID", 113: "STALE_MEMBER_EPOCH",
    120: "TRANSACTION_ABORTABLE",
  ]
}

extension WireReader {
  mutating func errorCode() throws(WireError) -> BrokerError { BrokerError(try int16()) }
}
