import CLibrdkafka

/// An error of a librdkafka call: the operation, librdkafka's code and its explanation.
public struct KafkaError: Error, Sendable, CustomStringConvertible {
  /// The operation in words, such as `"commit transaction"`.
  public let operation: String
  /// librdkafka's `rd_kafka_resp_err_t`: negative for its own (local) errors, positive for the broker's.
  public let code: Int32
  /// The code's name, such as `_TIMED_OUT` or `UNKNOWN_TOPIC_OR_PART`.
  public let name: String
  /// librdkafka's explanation. Never contains the value of a secret property.
  public let reason: String
  /// The partition. Absent if librdkafka names none.
  public let topicPartition: TopicPartition?
  /// The offset that a broker refused to read at. Absent for other errors.
  public let offset: Int64?
  /// Whether the client is unusable. Close it and create a new one, or stop if ``isFenced``.
  public let isFatal: Bool
  /// Whether the call may be retried, according to librdkafka. Only calls of the transactional producer set it.
  public let isRetriable: Bool
  /// Whether the transaction must be aborted first. A new one may follow.
  public let requiresAbort: Bool

  init(
    operation: String, code: Int32, name: String, reason: String, topicPartition: TopicPartition? = nil,
    offset: Int64? = nil, isFatal: Bool = false, isRetriable: Bool = false, requiresAbort: Bool = false
  ) {
    self.operation = operation
    self.code = code
    self.name = name
    self.reason = reason
    self.topicPartition = topicPartition
    self.offset = offset
    self.isFatal = isFatal
    self.isRetriable = isRetriable
    self.requiresAbort = requiresAbort
  }

  /// The operation, the code's name and the explanation, in one line.
  public var description: String {
    let place = topicPartition.map { " (\($0))" } ?? ""
    let mend = isForbidden ? " (an access rule is missing for this user: 'nudge doctor --role' says which)" : ""
    return "Kafka: \(operation)\(place): \(name): \(reason)\(mend)"
  }
}

extension KafkaError {
  /// Makes the error of a time-out of the caller.
  public init(timedOut operation: String) { self.init(operation, RD_KAFKA_RESP_ERR__TIMED_OUT) }
}

// Errors that callers handle differently.
extension KafkaError {
  /// No answer came within the time-out. The outcome of a commit or a produce is unknown.
  public var isTimedOut: Bool {
    isCode(RD_KAFKA_RESP_ERR__TIMED_OUT) || isCode(RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT)
      || isCode(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
  }

  /// Another producer with the same `transactional.id`, or another member with the same `group.instance.id`, has taken over. This client
  /// must send nothing more.
  ///
  /// `INVALID_PRODUCER_EPOCH` counts only if it is fatal: for a single Produce request it can also mean that the coordinator aborted
  /// a timed-out transaction, and an abort recovers from that (KIP-588).
  public var isFenced: Bool {
    isCode(RD_KAFKA_RESP_ERR__FENCED) || isCode(RD_KAFKA_RESP_ERR_PRODUCER_FENCED)
      || isCode(RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
      || (isCode(RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH) && isFatal)
  }

  /// librdkafka's serialized format is unknown, so another version of librdkafka is needed.
  public var isUnknownFormat: Bool { isCode(RD_KAFKA_RESP_ERR__BAD_MSG) }

  /// The group's offsets are part of a pending transaction. Retry.
  public var isUnstableOffsets: Bool { isCode(RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT) }

  /// The coordinator has moved, is loading, or is unreachable, so an outcome may be unknown.
  public var isCoordinatorLoss: Bool {
    isCode(RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE) || isCode(RD_KAFKA_RESP_ERR_NOT_COORDINATOR)
      || isCode(RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS) || isCode(RD_KAFKA_RESP_ERR__WAIT_COORD)
      || isCode(RD_KAFKA_RESP_ERR__TRANSPORT) || isCode(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
      || code == Self.brokerDropped
  }

  /// `_DESTROY_BROKER`, which librdkafka 2.16 returns and 2.0.2 does not know: the broker of the request has left the cluster.
  private static let brokerDropped: Int32 = -137

  /// The offsets belong to a past generation of the group or to a removed member, so the partitions may have another owner. Abort a
  /// transaction.
  public var isStaleMember: Bool {
    isCode(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION) || isCode(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID)
      || isCode(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS)
  }

  /// The record is larger than the client (`message.max.bytes`) or the topic (`max.message.bytes`) allows.
  public var isMessageTooLarge: Bool {
    isCode(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) || isCode(RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE)
  }

  /// The broker refuses the record's content and would refuse it again: no key on a compacted topic, or an unacceptable timestamp.
  public var isInvalidRecord: Bool {
    isCode(RD_KAFKA_RESP_ERR_INVALID_RECORD) || isCode(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP)
  }

  /// The client is not authorized.
  public var isForbidden: Bool { isAuthorization && !isCode(RD_KAFKA_RESP_ERR__AUTHENTICATION) }

  /// The topic or partition does not exist, or not yet, right after it was made.
  public var isUnknownTopicOrPartition: Bool {
    isCode(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) || isCode(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
      || isCode(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
  }

  /// The broker is not, or not yet, the partition's leader, and the client does not know the new one.
  public var isLeaderElsewhere: Bool {
    [
      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,
      RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH,
    ].contains { isCode($0) }
  }

  public var isTopicAlreadyExists: Bool { isCode(RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) }

  /// The offset is before the start or after the end of the log, and `auto.offset.reset` is `error`.
  public var isOffsetOutOfRange: Bool {
    isCode(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) || isCode(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
  }

  /// Whether a reader cannot go on: the client or its rights are at an end, or the offset is not there. Other errors pass.
  public var endsReading: Bool { isFatal || isAuthorization || isOffsetOutOfRange }

  /// The owner did not poll within `max.poll.interval.ms`, so the consumer has left the group. The next poll rejoins.
  public var isPollIntervalExceeded: Bool { isCode(RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED) }

  /// The credentials were refused, or the client is not authorized.
  public var isAuthorization: Bool {
    isCode(RD_KAFKA_RESP_ERR__AUTHENTICATION) || isCode(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
      || isCode(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
      || isCode(RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED)
      || isCode(RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
      || isCode(RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED)
  }

  /// The broker refuses the login (`sasl.*`).
  public var isLoginRefused: Bool {
    isCode(RD_KAFKA_RESP_ERR__AUTHENTICATION) || isCode(RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED)
  }

  /// The TLS handshake failed, usually because of an untrusted certificate (`ssl.*`).
  public var isTLSFailure: Bool {
    // A broker refuses the client's certificate after the handshake, when librdkafka sees only a failed connection; OpenSSL's
    // error is only in the reason.
    isCode(RD_KAFKA_RESP_ERR__SSL)
      || (isCode(RD_KAFKA_RESP_ERR__TRANSPORT) && reason.contains("SSL routines") && reason.contains("alert"))
  }

  /// No connection is possible for a permanent reason: the broker refuses the client or is not trusted.
  public var isRefusedConnection: Bool { isLoginRefused || isTLSFailure }

  /// A connection failed for its own reason, and not because all brokers are down.
  var isConnectionFailure: Bool {
    isLoginRefused || isTLSFailure || isCode(RD_KAFKA_RESP_ERR__TRANSPORT) || isCode(RD_KAFKA_RESP_ERR__RESOLVE)
  }

  private func isCode(_ known: rd_kafka_resp_err_t) -> Bool { code == known.rawValue }
}

// Conversion from C.
extension KafkaError {
  /// Makes an error from a code. A client with a fatal error answers every call with `_FATAL`: the error is then the fatal error itself.
  init(
    _ operation: String, _ code: rd_kafka_resp_err_t, reason: String? = nil, at place: TopicPartition? = nil,
    offset: Int64? = nil, client: OpaquePointer? = nil
  ) {
    if code == RD_KAFKA_RESP_ERR__FATAL, let client, let fatal = KafkaError(fatalErrorOf: client, operation) {
      self = fatal
      return
    }
    self.init(
      operation: operation, code: code.rawValue, name: String(cString: rd_kafka_err2name(code)),
      reason: reason ?? String(cString: rd_kafka_err2str(code)), topicPartition: place,
      offset: offset, isFatal: code == RD_KAFKA_RESP_ERR__FATAL)
  }

  /// The client's fatal error. Fails if there is none.
  init?(fatalErrorOf client: OpaquePointer, _ operation: String) {
    var text = [CChar](repeating: 0, count: 512)
    let code = rd_kafka_fatal_error(client, &text, text.count)
    guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
    self.init(
      operation: operation, code: code.rawValue, name: String(cString: rd_kafka_err2name(code)),
      reason: text.string, isFatal: true)
  }

  /// Makes an error from an `rd_kafka_error_t`, which is destroyed here.
  init(_ operation: String, consuming error: OpaquePointer, client: OpaquePointer? = nil) {
    defer { rd_kafka_error_destroy(error) }
    let code = rd_kafka_error_code(error)
    if code == RD_KAFKA_RESP_ERR__FATAL, let client, let fatal = KafkaError(fatalErrorOf: client, operation) {
      self = fatal
      return
    }
    self.init(
      operation: operation, code: code.rawValue, name: String(cString: rd_kafka_error_name(error)),
      reason: String(cString: rd_kafka_error_string(error)), isFatal: rd_kafka_error_is_fatal(error) != 0,
      isRetriable: rd_kafka_error_is_retriable(error) != 0,
      requiresAbort: rd_kafka_error_txn_requires_abort(error) != 0)
  }

  static func closed(_ operation: String) -> KafkaError {
    KafkaError(operation, RD_KAFKA_RESP_ERR__DESTROY, reason: "the client is closed")
  }

  static func invalid(_ operation: String, _ reason: String) -> KafkaError {
    KafkaError(operation, RD_KAFKA_RESP_ERR__INVALID_ARG, reason: reason)
  }

  /// Throws unless the code is 0.
  static func check(_ operation: String, _ code: rd_kafka_resp_err_t, client: OpaquePointer? = nil)
    throws(KafkaError)
  {
    if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(operation, code, client: client) }
  }

  /// Throws if librdkafka returned an error object, and destroys it.
  static func check(_ operation: String, _ error: OpaquePointer?, client: OpaquePointer? = nil)
    throws(KafkaError)
  {
    if let error { throw KafkaError(operation, consuming: error, client: client) }
  }
}

extension [CChar] {
  /// The text up to the terminating zero.
  var string: String { String(decoding: prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
}

/// A line of librdkafka's log.
public struct KafkaLogLine: Sendable, CustomStringConvertible {
  /// Syslog's severity, 0 (emergency) to 7 (debug). 3 is an error, 4 a warning, 6 information.
  public let level: Int
  /// librdkafka's facility, such as `FAIL` or `REBALANCE`. Reports of its error callback have `ERROR`.
  public let facility: String
  public let message: String
  /// The name of the client that wrote the line.
  public let client: String

  public init(level: Int, facility: String, message: String, client: String) {
    self.level = level
    self.facility = facility
    self.message = message
    self.client = client
  }

  /// The line in the form `client: FAIL: message`.
  public var description: String { "\(client): \(facility): \(message)" }
}
