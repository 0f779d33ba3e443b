import CLibrdkafka

/// What a call of librdkafka's failed with: the operation, librdkafka's code and its explanation.
public struct KafkaError: Error, Sendable, CustomStringConvertible {
  /// What was being done, in words: `"commit transaction"`.
  public let operation: String
  /// librdkafka's `rd_kafka_resp_err_t`: negative for its own (local) errors, positive for the broker's.
  public let code: Int32
  /// The code's name, as `_TIMED_OUT` or `UNKNOWN_TOPIC_OR_PART`.
  public let name: String
  /// librdkafka's explanation for people. Values of secret properties never stand in it.
  public let reason: String
  /// The partition concerned, where librdkafka names one.
  public let topicPartition: TopicPartition?
  /// The client cannot be used any more: close it and make a new one (or stop, when ``isFenced``).
  public let isFatal: Bool
  /// The same call may be made again (librdkafka says so; only calls of the transactional producer do).
  public let isRetriable: Bool
  /// The transaction must be aborted before anything else; a new one may follow.
  public let requiresAbort: Bool

  init(
    operation: String, code: Int32, name: String, reason: String, topicPartition: TopicPartition? = nil,
    isFatal: Bool = false, isRetriable: Bool = false, requiresAbort: Bool = false
  ) {
    self.operation = operation
    self.code = code
    self.name = name
    self.reason = reason
    self.topicPartition = topicPartition
    self.isFatal = isFatal
    self.isRetriable = isRetriable
    self.requiresAbort = requiresAbort
  }

  /// What failed, the code's name and the explanation, in one line.
  public var description: String {
    let place = topicPartition.map { " (\($0))" } ?? ""
    let mend = isForbidden ? " (an access rule is missing for this user: 'nudge doctor --role' says which)" : ""
    return "Kafka: \(operation)\(place): \(name): \(reason)\(mend)"
  }
}

extension KafkaError {
  /// Something took longer than its caller waits.
  public init(timedOut operation: String) { self.init(operation, RD_KAFKA_RESP_ERR__TIMED_OUT) }
}

// What the caller must tell apart.
extension KafkaError {
  /// No answer within the time given; of a commit or a produce the outcome is unknown.
  public var isTimedOut: Bool {
    isCode(RD_KAFKA_RESP_ERR__TIMED_OUT) || isCode(RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT)
      || isCode(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
  }

  /// Someone else works under this client's name and this client must send nothing more: another producer with the same
  /// `transactional.id`, or another member with the same `group.instance.id`.
  ///
  /// `INVALID_PRODUCER_EPOCH` counts only where it is fatal: answered to a single Produce request it can also mean that
  /// the coordinator aborted a timed-out transaction, which an abort cures (KIP-588).
  public var isFenced: Bool {
    isCode(RD_KAFKA_RESP_ERR__FENCED) || isCode(RD_KAFKA_RESP_ERR_PRODUCER_FENCED)
      || isCode(RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
      || (isCode(RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH) && isFatal)
  }

  /// librdkafka writes something in a format that is not known here: another version of it is needed.
  public var isUnknownFormat: Bool { isCode(RD_KAFKA_RESP_ERR__BAD_MSG) }

  /// The group's offsets are part of a transaction that is still pending: ask again.
  public var isUnstableOffsets: Bool { isCode(RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT) }

  /// The coordinator moved, is loading, or cannot be reached: an outcome may be unknown.
  public var isCoordinatorLoss: Bool {
    isCode(RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE) || isCode(RD_KAFKA_RESP_ERR_NOT_COORDINATOR)
      || isCode(RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS) || isCode(RD_KAFKA_RESP_ERR__WAIT_COORD)
      || isCode(RD_KAFKA_RESP_ERR__TRANSPORT) || isCode(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
      || code == Self.brokerDropped
  }

  /// `_DESTROY_BROKER`, which librdkafka 2.0.2 does not have and 2.16 answers: it forgot the broker that it was asking, as that
  /// is gone.
  private static let brokerDropped: Int32 = -137

  /// The offsets belong to a generation of the group that is over, or to a member it has dropped: the partitions may
  /// have another owner. In a transaction: abort.
  public var isStaleMember: Bool {
    isCode(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION) || isCode(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID)
      || isCode(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS)
  }

  /// The record is larger than the client (`message.max.bytes`) or the topic (`max.message.bytes`) takes.
  public var isMessageTooLarge: Bool {
    isCode(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) || isCode(RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE)
  }

  /// The broker refuses what is in the record, and will refuse it again: no key on a compacted topic, a timestamp it does
  /// not take.
  public var isInvalidRecord: Bool {
    isCode(RD_KAFKA_RESP_ERR_INVALID_RECORD) || isCode(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP)
  }

  /// The client may not do this, as long as nobody changes its rights.
  public var isForbidden: Bool { isAuthorization && !isCode(RD_KAFKA_RESP_ERR__AUTHENTICATION) }

  /// The producer's queue (`queue.buffering.max.messages`, `…kbytes`) is full.
  public var isQueueFull: Bool { isCode(RD_KAFKA_RESP_ERR__QUEUE_FULL) }

  /// The topic or partition does not exist (or not yet, right after it was made).
  public var isUnknownTopicOrPartition: Bool {
    isCode(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) || isCode(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
      || isCode(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
  }

  /// Whoever was asked is not the partition's leader, or not yet: it has moved, and the client does not know where.
  public var isLeaderElsewhere: Bool {
    [
      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
      RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,
      RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH,
    ].contains { isCode($0) }
  }

  /// The topic to be made is there already.
  public var isTopicAlreadyExists: Bool { isCode(RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) }

  /// The offset asked for is not in the log any more (or not yet), and `auto.offset.reset` is `error`.
  public var isOffsetOutOfRange: Bool {
    isCode(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) || isCode(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
  }

  /// The owner did not poll within `max.poll.interval.ms` and has left the group; the next poll joins again.
  public var isPollIntervalExceeded: Bool { isCode(RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED) }

  /// Credentials were refused, or the client may not do this.
  public var isAuthorization: Bool {
    isCode(RD_KAFKA_RESP_ERR__AUTHENTICATION) || isCode(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
      || isCode(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
      || isCode(RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED)
      || isCode(RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
      || isCode(RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED)
  }

  /// The broker does not take the login (`sasl.*`).
  public var isLoginRefused: Bool {
    isCode(RD_KAFKA_RESP_ERR__AUTHENTICATION) || isCode(RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED)
  }

  /// TLS could not be agreed on: a certificate that nobody trusted vouches for, above all (`ssl.*`).
  public var isTLSFailure: Bool {
    // A broker that does not take the client's certificate says so behind the handshake, where librdkafka sees no more than
    // a connection that fails; what OpenSSL says of it is in the reason alone.
    isCode(RD_KAFKA_RESP_ERR__SSL)
      || (isCode(RD_KAFKA_RESP_ERR__TRANSPORT) && reason.contains("SSL routines") && reason.contains("alert"))
  }

  /// No connection for a reason that waiting does not mend: who is asked refuses, or cannot be trusted.
  public var isRefusedConnection: Bool { isLoginRefused || isTLSFailure }

  /// No connection, for a reason of its own rather than because there is none to any broker.
  var isConnectionFailure: Bool {
    isLoginRefused || isTLSFailure || isCode(RD_KAFKA_RESP_ERR__TRANSPORT) || isCode(RD_KAFKA_RESP_ERR__RESOLVE)
  }

  private func isCode(_ known: rd_kafka_resp_err_t) -> Bool { code == known.rawValue }
}

// The border with C.
extension KafkaError {
  /// From a bare code. A client that has failed for good answers every call with `_FATAL`: then the error that made it
  /// so is looked up.
  init(
    _ operation: String, _ code: rd_kafka_resp_err_t, reason: String? = nil, at place: TopicPartition? = nil,
    client: OpaquePointer? = nil
  ) {
    if code == RD_KAFKA_RESP_ERR__FATAL, let client, let fatal = KafkaError(fatalErrorOf: client, operation) {
      self = fatal
      return
    }
    self.init(
      operation: operation, code: code.rawValue, name: String(cString: rd_kafka_err2name(code)),
      reason: reason ?? String(cString: rd_kafka_err2str(code)), topicPartition: place,
      isFatal: code == RD_KAFKA_RESP_ERR__FATAL)
  }

  /// The error that made the client unusable, if one did.
  init?(fatalErrorOf client: OpaquePointer, _ operation: String) {
    var text = [CChar](repeating: 0, count: 512)
    let code = rd_kafka_fatal_error(client, &text, text.count)
    guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
    self.init(
      operation: operation, code: code.rawValue, name: String(cString: rd_kafka_err2name(code)),
      reason: text.string, isFatal: true)
  }

  /// From an `rd_kafka_error_t`, which is destroyed here.
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

  /// Throws where librdkafka returned an error object; destroys it.
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
