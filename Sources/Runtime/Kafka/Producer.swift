import CLibrdkafka
import Synchronization

/// A producer. It is transactional if its configuration has a `transactional.id`.
///
/// Any thread may produce and poll. Only one thread may use transactions. One transaction is open at a time, and records that are produced
/// meanwhile are part of it.
public final class Producer: Sendable {
  private struct State {
    var client: Client?
    var topics: [String: TopicHandle] = [:]
  }

  public let name: String
  private let state: Mutex<State>

  /// Creates a producer, which connects in the background.
  ///
  /// - Parameters:
  ///   - name: For log lines, and the `client.id` unless the configuration has one.
  ///   - log: Receives librdkafka's log lines and errors of the whole client.
  ///   - statistics: Receives librdkafka's statistics (JSON) every `statistics.interval.ms`.
  ///   - onDelivery: Called once for each record with a tag other than 0.
  ///
  /// All three run inside ``poll(timeout:)``, ``flush(timeout:)`` and the calls that wait (produce on a full queue,
  /// commit, abort, close), on the thread that made the call.
  /// - Throws: An error that names the property, if one is unknown or has an invalid value.
  public init(
    _ configuration: ClientConfiguration, name: String, log: (@Sendable (KafkaLogLine) -> Void)? = nil,
    statistics: (@Sendable (String) -> Void)? = nil, onDelivery: (@Sendable (Delivery) -> Void)? = nil
  ) throws(KafkaError) {
    self.name = name
    let callbacks = ClientCallbacks(name: name, log: log, statistics: statistics, delivery: onDelivery)
    let client = try Client(RD_KAFKA_PRODUCER, configuration, callbacks: callbacks) {
      // Always set: without delivery reports nothing wakes the flush inside a commit, which then sleeps 10 ms at a time.
      rd_kafka_conf_set_dr_msg_cb($0, Self.delivered)
    }
    try KafkaError.check("make a producer", rd_kafka_set_log_queue(client.pointer, nil))
    state = Mutex(State(client: client))
  }

  /// The client while the producer is open. A reference keeps it from being destroyed by a concurrent close. Hold it to the end of a call
  /// with `withExtendedLifetime`: the pointer alone does not keep it.
  func open(_ operation: String) throws(KafkaError) -> Client {
    guard let client = state.withLock({ $0.client }) else { throw .closed(operation) }
    return client
  }

  // MARK: Topics

  /// The handle of a topic, made once.
  public func topic(_ name: String) throws(KafkaError) -> TopicHandle {
    let client = try open("open topic \"\(name)\"")
    defer { withExtendedLifetime(client) {} }
    return try state.withLock { (state) throws(KafkaError) in
      if let known = state.topics[name] { return known }
      let handle = TopicHandle(name: name, pointer: try client.makeTopic(name), owner: client.lifetime)
      state.topics[name] = handle
      return handle
    }
  }

  /// Fetches the leaders of the output topics, so that the first transaction does not wait a second for them.
  ///
  /// - Returns: The number of partitions of each topic. Topics that do not exist are missing.
  @discardableResult
  public func warmUp(topics: [String], timeout: Duration) throws(KafkaError) -> [String: Int] {
    for topic in topics { _ = try self.topic(topic) }
    return try open("ask for metadata").partitionCounts(of: topics, timeout: timeout)
  }

  // MARK: Producing

  /// How long a produce waits for room in a full queue.
  public static let fullQueueTimeout: Duration = .seconds(10)

  /// Lets the configured `partitioner` choose the partition by the key (`RD_KAFKA_PARTITION_UA`).
  public static let anyPartition: Int32 = -1

  /// Queues a record. Its bytes are copied.
  ///
  /// - Parameters:
  ///   - partition: The partition (``Murmur2`` computes it from a key), or ``anyPartition``.
  ///   - key: The key. Absent for a record without one.
  ///   - value: The value. Absent for a tombstone.
  ///   - timestamp: Milliseconds since the epoch. Absent: now.
  ///   - tag: The tag passed to `onDelivery`. 0: no report.
  /// - Throws: ``KafkaError/isQueueFull`` if there is no room after ``fullQueueTimeout``; ``KafkaError/isMessageTooLarge``; or an
  ///   error of the transaction.
  public func produce(
    topic: TopicHandle, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
    headers: [Header] = [], timestamp: Int64? = nil, tag: UInt64 = 0
  ) throws(KafkaError) {
    let client = try open("produce")
    defer { withExtendedLifetime(client) {} }
    guard topic.owner === client.lifetime else {
      throw .invalid("produce", "the handle of topic \"\(topic.name)\" belongs to another producer")
    }
    let list = headers.isEmpty ? nil : Self.makeHeaders(headers)
    var code = Self.enqueue(client, topic, partition, key, value, timestamp, list, tag)
    if code == RD_KAFKA_RESP_ERR__QUEUE_FULL {
      let deadline = ContinuousClock.now + Self.fullQueueTimeout
      while code == RD_KAFKA_RESP_ERR__QUEUE_FULL, !deadline.isPast {
        // Written records leave the queue only when their reports are served.
        rd_kafka_poll(client.pointer, 10)
        code = Self.enqueue(client, topic, partition, key, value, timestamp, list, tag)
      }
    }
    guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
      if let list { rd_kafka_headers_destroy(list) }  // taken over only on success
      throw KafkaError(
        "produce", code, at: TopicPartition(topic: topic.name, partition: partition), client: client.pointer)
    }
  }

  /// Queues a record from arrays.
  public func produce(
    topic: TopicHandle, partition: Int32, key: [UInt8]?, value: [UInt8]?, headers: [Header] = [],
    timestamp: Int64? = nil, tag: UInt64 = 0
  ) throws(KafkaError) {
    try Self.withBytes(of: key) { (key) throws(KafkaError) in
      try Self.withBytes(of: value) { (value) throws(KafkaError) in
        try produce(
          topic: topic, partition: partition, key: key, value: value, headers: headers, timestamp: timestamp, tag: tag)
      }
    }
  }

  private static func withBytes(
    of array: [UInt8]?, _ body: (UnsafeRawBufferPointer?) throws(KafkaError) -> Void
  ) throws(KafkaError) {
    guard let array else { return try body(nil) }
    try array.withUnsafeBufferPointer { (bytes) throws(KafkaError) in try body(UnsafeRawBufferPointer(bytes)) }
  }

  private static func enqueue(
    _ client: Client, _ topic: TopicHandle, _ partition: Int32, _ key: UnsafeRawBufferPointer?,
    _ value: UnsafeRawBufferPointer?, _ timestamp: Int64?, _ headers: OpaquePointer?, _ tag: UInt64
  ) -> rd_kafka_resp_err_t {
    clibrdkafka_produce(
      client.pointer, topic.pointer, partition, key == nil ? 0 : 1, key?.baseAddress, key?.count ?? 0,
      value == nil ? 0 : 1, value?.baseAddress, value?.count ?? 0, timestamp ?? 0, headers,
      UnsafeMutableRawPointer(bitPattern: UInt(tag)))
  }

  private static func makeHeaders(_ headers: [Header]) -> OpaquePointer? {
    let list = rd_kafka_headers_new(headers.count)
    for (name, value) in headers {
      guard let value else {
        rd_kafka_header_add(list, name, -1, nil, 0)
        continue
      }
      value.withUnsafeBytes { _ = rd_kafka_header_add(list, name, -1, $0.baseAddress, $0.count) }
    }
    return list
  }

  /// Serves delivery reports, logs and statistics. Waits for the first of them.
  public func poll(timeout: Duration) {
    guard let client = state.withLock({ $0.client }) else { return }
    defer { withExtendedLifetime(client) {} }
    rd_kafka_poll(client.pointer, timeout.milliseconds)
  }

  /// Waits until every queued record has its outcome.
  ///
  /// - Throws: ``KafkaError/isTimedOut`` if some records have none by then. They stay queued.
  public func flush(timeout: Duration) throws(KafkaError) {
    let client = try open("flush")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check("flush", rd_kafka_flush(client.pointer, timeout.milliseconds), client: client.pointer)
  }

  /// The number of queued records and unserved reports.
  public var queued: Int { state.withLock { $0.client }.map { Int(rd_kafka_outq_len($0.pointer)) } ?? 0 }

  /// The error that made this producer unusable, if one did.
  public var fatalError: KafkaError? {
    state.withLock { $0.client }.flatMap { KafkaError(fatalErrorOf: $0.pointer, "produce") }
  }

  private static let delivered:
    @convention(c) (OpaquePointer?, UnsafePointer<rd_kafka_message_t>?, UnsafeMutableRawPointer?) -> Void = {
      client, message, opaque in
      guard let message = message?.pointee, let tag = message._private,
        let handler = ClientCallbacks.from(opaque)?.delivery
      else { return }
      let place = TopicPartition(
        topic: message.rkt.flatMap { rd_kafka_topic_name($0) }.map { String(cString: $0) } ?? "",
        partition: message.partition)
      let failed = message.err != RD_KAFKA_RESP_ERR_NO_ERROR
      handler(
        Delivery(
          tag: UInt64(UInt(bitPattern: tag)), topicPartition: place, offset: failed ? nil : message.offset,
          error: failed ? KafkaError("produce", message.err, at: place, client: client) : nil))
    }

  // MARK: Close

  /// Drops queued records and closes the client. Later calls fail. Flush first to send queued records.
  ///
  /// librdkafka's destroy joins threads that may hang in a name lookup or a handshake. It therefore runs on a separate thread, and this
  /// method waits for it at most `timeout`. An open transaction stays open until the broker aborts it (`transaction.timeout.ms`) or the
  /// next producer of the same `transactional.id` does (``initTransactions(timeout:)``).
  ///
  /// - Returns: Whether the client has been destroyed. If not, its thread continues and ends with the process at the latest.
  @discardableResult
  public func close(timeout: Duration = .seconds(5)) -> Bool {
    var client = state.withLock { state in
      defer { state = State(client: nil) }
      return state.client
    }
    guard let lifetime = client?.lifetime else { return true }
    if let client {
      rd_kafka_purge(client.pointer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
      rd_kafka_flush(client.pointer, 1000)  // serves the reports of what was dropped
    }
    client = nil
    return lifetime.wait(timeout: timeout)
  }
}

// Handle an error by `requiresAbort` first, then by `isRetriable`. Any other error needs a new producer or, if ``KafkaError/isFenced``, the
// end of the process. After a commit's time-out the outcome is unknown.
extension Producer {
  /// Registers with the transaction coordinator. Call it once, before the first ``begin()``. Fences former producers of the same
  /// `transactional.id` and aborts their open transaction.
  public func initTransactions(timeout: Duration) throws(KafkaError) {
    let client = try open("init transactions")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check(
      "init transactions", rd_kafka_init_transactions(client.pointer, timeout.milliseconds), client: client.pointer)
  }

  /// Opens a transaction, without a request.
  public func begin() throws(KafkaError) {
    let client = try open("begin transaction")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check("begin transaction", rd_kafka_begin_transaction(client.pointer), client: client.pointer)
  }

  /// Makes the group's offsets part of the transaction.
  ///
  /// - Throws: ``KafkaError/isStaleMember``, to be followed by ``abort(timeout:)``, if `group` has a past generation, or generation
  ///   -1, which the coordinator would not fence. Invalid argument for an offset of `nil`, which librdkafka would silently omit.
  public func sendOffsets(_ places: [TopicPartitionOffset], group: ConsumerGroupMetadata, timeout: Duration)
    throws(KafkaError)
  {
    let operation = "send offsets to transaction"
    let client = try open(operation)
    defer { withExtendedLifetime(client) {} }
    if let place = places.first(where: { ($0.offset ?? -1) < 0 }) {
      throw .invalid(operation, "\(place) has no offset to commit")
    }
    guard group.generation >= 0, !group.memberID.isEmpty else {
      throw KafkaError(
        operation: operation, code: RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION.rawValue, name: "ILLEGAL_GENERATION",
        reason:
          "the consumer is in no generation of group \"\(group.groupID)\" now, and nothing would fence its offsets",
        requiresAbort: true)
    }
    let list = try PartitionList(places)
    try KafkaError.check(
      operation,
      list.lend {
        rd_kafka_send_offsets_to_transaction(client.pointer, $0, group.pointer, timeout.milliseconds)
      },
      client: client.pointer)
  }

  /// Flushes and commits. After an error that is neither ``KafkaError/requiresAbort`` nor ``KafkaError/isRetriable`` the outcome
  /// may be unknown.
  public func commit(timeout: Duration) throws(KafkaError) {
    let client = try open("commit transaction")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check(
      "commit transaction", rd_kafka_commit_transaction(client.pointer, timeout.milliseconds), client: client.pointer)
  }

  /// Drops queued records and aborts. If this succeeds, nothing of the transaction has been committed.
  public func abort(timeout: Duration) throws(KafkaError) {
    let client = try open("abort transaction")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check(
      "abort transaction", rd_kafka_abort_transaction(client.pointer, timeout.milliseconds), client: client.pointer)
  }
}

/// A topic as one producer knows it. ``Producer/topic(_:)`` makes it once, and each record uses it.
///
/// `@unchecked Sendable`: librdkafka's topic object is thread-safe; the pointer never changes, belongs to the client, and
/// is used only by the producer that made it, while its client lives.
public final class TopicHandle: @unchecked Sendable {
  public let name: String
  let pointer: OpaquePointer
  /// Identifies the client. A handle must not keep the client itself alive, and a later client may have its address.
  let owner: Client.Lifetime

  init(name: String, pointer: OpaquePointer, owner: Client.Lifetime) {
    self.name = name
    self.pointer = pointer
    self.owner = owner
  }
}

/// The delivery report of a record that was produced with a tag.
public struct Delivery: Sendable {
  /// The record's tag.
  public let tag: UInt64
  public let topicPartition: TopicPartition
  /// The record's offset. Absent if the record was not written.
  public let offset: Int64?
  /// Why the record was not, or may not have been (time-out), written. Absent if the broker has acknowledged it.
  public let error: KafkaError?
}
