import CLibrdkafka

/// A member of a consumer group, or a consumer that assigns itself. Owned by one thread; other threads may use only ``waker``.
///
/// Rebalances are events of ``poll(timeout:)``. The owner answers each with ``assign(_:)`` when it is ready: after `revoked` it
/// first commits, after `assigned` it first restores. Until then librdkafka delivers no record and sends heartbeats. The owner must still
/// poll within `max.poll.interval.ms`, and answer a revocation within the rebalance time-out (the same setting); otherwise the coordinator
/// completes the rebalance without it.
///
/// After ``assign(_:)`` has returned, poll returns no record of the former assignment: librdkafka tags fetched records with a
/// version that every assignment, pause and seek of the partition raises, and drops older ones. Records polled before are unaffected.
public final class Consumer {
  /// The result of a poll.
  public enum Event {
    case record(ConsumerRecord)
    /// The group assigned these partitions to this member; answer with ``Consumer/assign(_:)``.
    case assigned([TopicPartition])
    /// The group revokes these partitions; answer with ``Consumer/assign(_:)`` and an empty list. `lost`: they may already have
    /// a new owner, so commit nothing.
    case revoked([TopicPartition], lost: Bool)
    /// The end of the partition up to its last stable offset (only with `enable.partition.eof`); `offset` is the next offset.
    case endOfPartition(TopicPartition, offset: Int64)
    /// An error, with its partition if it has one. Unless it is fatal, continue to poll.
    case error(KafkaError)
  }

  public let name: String
  /// Wakes a waiting poll, from any thread.
  public let waker: ConsumerWaker
  let groupID: String
  private let inbox = RebalanceInbox()
  private var client: Client?
  private var names = TopicNameCache()
  private var paused: Set<TopicPartition> = []
  private var hasAssigned = false

  /// Creates a consumer, which connects in the background.
  ///
  /// - Parameters:
  ///   - name: For log lines, and the `client.id` unless the configuration has one.
  ///   - log: Receives librdkafka's log lines and errors of the whole client, on the polling thread.
  ///   - statistics: Receives librdkafka's statistics (JSON) every `statistics.interval.ms`, on the polling thread.
  /// - Throws: An error that names the property, if one is unknown or has an invalid value.
  public init(
    _ configuration: ClientConfiguration, name: String, log: (@Sendable (KafkaLogLine) -> Void)? = nil,
    statistics: (@Sendable (String) -> Void)? = nil
  ) throws(KafkaError) {
    self.name = name
    groupID = configuration["group.id"] ?? ""
    let callbacks = ClientCallbacks(name: name, log: log, statistics: statistics, rebalances: inbox)
    let client = try Client(RD_KAFKA_CONSUMER, configuration, callbacks: callbacks) {
      rd_kafka_conf_set_rebalance_cb($0, Self.rebalanced)
    }
    self.client = client
    waker = ConsumerWaker(rd_kafka_queue_get_consumer(client.pointer))
    // A single queue: poll also serves errors, logs and statistics.
    try KafkaError.check("make a consumer", rd_kafka_poll_set_consumer(client.pointer))
    try KafkaError.check("make a consumer", rd_kafka_set_log_queue(client.pointer, nil))
  }

  /// Closes the consumer unless it is closed, and blocks until it has left the group.
  deinit { close(leavingGroup: false) }

  /// The client. It is internal for this class's extensions.
  func open(_ operation: String) throws(KafkaError) -> Client {
    guard let client else { throw .closed(operation) }
    return client
  }

  // MARK: The group

  /// Subscribes to these topics, replacing the former subscription.
  public func subscribe(_ topics: [String]) throws(KafkaError) {
    let client = try open("subscribe")
    let list = try PartitionList(topics.map { TopicPartition(topic: $0, partition: RD_KAFKA_PARTITION_UA) })
    try KafkaError.check("subscribe", list.lend { rd_kafka_subscribe(client.pointer, $0) }, client: client.pointer)
  }

  /// Leaves the group, even as a static member. Poll then returns `revoked`, which must be answered.
  public func unsubscribe() throws(KafkaError) {
    let client = try open("unsubscribe")
    try KafkaError.check("unsubscribe", rd_kafka_unsubscribe(client.pointer), client: client.pointer)
  }

  /// Assigns exactly these partitions, from these offsets: the answer to a rebalance, or a later change.
  ///
  /// The answer to `revoked` is treated as an empty list, because the partitions are no longer owned. Pauses end with their
  /// assignment.
  public func assign(_ places: [TopicPartitionOffset]) throws(KafkaError) {
    let client = try open("assign partitions")
    // librdkafka keeps a pause with the partition: a partition that is revoked and assigned again would stay paused.
    // Errors are ignored: an unknown partition has no pause.
    if !paused.isEmpty {
      _ = try PartitionList(paused).lend { rd_kafka_resume_partitions(client.pointer, $0) }
      paused = []
    }
    let answered = inbox.takeUnanswered()
    // NULL, not an empty list, completes a revocation; an empty list, not NULL, completes an
    // assignment (rd_kafka_cgrp_assign, rd_kafka_cgrp_unassign).
    //
    // Assigning clears librdkafka's lost flag even if the revocation that reports it is still queued: keep it for that event.
    if answered == nil, rd_kafka_assignment_lost(client.pointer) != 0 { inbox.recordLoss() }
    let replaces = hasAssigned
    if answered == .revoked {
      try KafkaError.check("give up partitions", rd_kafka_assign(client.pointer, nil), client: client.pointer)
      hasAssigned = false
    } else {
      let list = try PartitionList(places)
      try KafkaError.check(
        "assign partitions", list.lend { rd_kafka_assign(client.pointer, $0) }, client: client.pointer)
      hasAssigned = !places.isEmpty
    }
    if replaces { Self.awaitStop(client) }
  }

  /// Waits until librdkafka's thread has stopped the partitions of the former assignment. A partition that is assigned and
  /// revoked again during its first stop is stopped twice, and the second stop ends the process with an assertion
  /// (`rd_kafka_assignment_partition_stopped`). A query through the same queue is processed after the stop requests; the second query
  /// also after those that were queued once the assignment was answered.
  private static func awaitStop(_ client: Client) {
    for _ in 0..<2 {
      var list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
      if rd_kafka_assignment(client.pointer, &list) == RD_KAFKA_RESP_ERR_NO_ERROR {
        rd_kafka_topic_partition_list_destroy(list)
      }
    }
  }

  /// Pauses these partitions and drops their fetched records.
  public func pause(_ partitions: [TopicPartition]) throws(KafkaError) {
    let client = try open("pause partitions")
    let list = try PartitionList(partitions)
    try KafkaError.check("pause partitions", list.lend { rd_kafka_pause_partitions(client.pointer, $0) })
    paused.formUnion(partitions)
    try list.check("pause partitions")
  }

  /// Resumes these partitions from where they were paused.
  public func resume(_ partitions: [TopicPartition]) throws(KafkaError) {
    let client = try open("resume partitions")
    let list = try PartitionList(partitions)
    try KafkaError.check("resume partitions", list.lend { rd_kafka_resume_partitions(client.pointer, $0) })
    paused.subtract(partitions)
    try list.check("resume partitions")
  }

  /// Whether the partitions may already have another owner: commit nothing.
  public var assignmentLost: Bool { client.map { rd_kafka_assignment_lost($0.pointer) != 0 } ?? true }

  /// The member id; `nil` before the coordinator has assigned one.
  public var memberID: String? {
    guard let client, let text = rd_kafka_memberid(client.pointer) else { return nil }
    defer { rd_kafka_mem_free(client.pointer, text) }
    let id = String(cString: text)
    return id.isEmpty ? nil : id
  }

  /// The error that made this consumer unusable, if one did.
  public var fatalError: KafkaError? {
    client.flatMap { KafkaError(fatalErrorOf: $0.pointer, "consume") }
  }

  // MARK: Polling

  /// The next event; `nil` after the time-out or when woken. Also serves logs and statistics.
  public func poll(timeout: Duration) -> Event? {
    guard let client else { return .error(.closed("poll")) }
    if let event = rebalanceEvent() { return event }
    guard let message = rd_kafka_consumer_poll(client.pointer, timeout.milliseconds) else { return rebalanceEvent() }
    return event(of: message, client)
  }

  /// Polls once with the time-out, then without waiting as long as there are events.
  ///
  /// Stops at `maxRecords`, once `maxBytes` (of keys and values) is reached or exceeded by one record, or at the first event
  /// that is not a record, which it returns. Appends records in order.
  public func poll(into records: inout [ConsumerRecord], maxRecords: Int, maxBytes: Int, timeout: Duration) -> Event? {
    poll(maxRecords: maxRecords, maxBytes: maxBytes, timeout: timeout) { records.append($0) }
  }

  /// Polls like the other `poll`, but passes each record on at once. Copying and releasing a record immediately costs half as much as doing
  /// so among thousands.
  public func poll(
    maxRecords: Int, maxBytes: Int, timeout: Duration, _ take: (ConsumerRecord) -> Void
  ) -> Event? {
    guard let client else { return .error(.closed("poll")) }
    if let event = rebalanceEvent() { return event }
    var wait = timeout.milliseconds
    var count = 0
    var bytes = 0
    while count < maxRecords, bytes < maxBytes {
      guard let message = rd_kafka_consumer_poll(client.pointer, wait) else { return rebalanceEvent() }
      wait = 0
      guard let event = event(of: message, client) else { continue }
      guard case .record(let record) = event else { return event }
      take(record)
      count += 1
      bytes += record.size
    }
    return nil
  }

  /// Takes ownership of the message. Returns nil if it is not an event.
  private func event(of message: UnsafeMutablePointer<rd_kafka_message_t>, _ client: Client) -> Event? {
    let topic = message.pointee.rkt.flatMap { rd_kafka_topic_name($0) }.map { names.name($0) } ?? ""
    if message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
      return .record(ConsumerRecord(message, topic: topic, client: client))
    }
    defer { rd_kafka_message_destroy(message) }
    let place = TopicPartition(topic: topic, partition: message.pointee.partition)
    if message.pointee.err == RD_KAFKA_RESP_ERR__PARTITION_EOF {
      return .endOfPartition(place, offset: message.pointee.offset)
    }
    // librdkafka looks up the coordinator of its group, which access rules need not allow.
    if message.pointee.err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, groupID == ClientConfiguration.noGroup {
      return nil
    }
    return .error(
      KafkaError(
        "consume", message.pointee.err, reason: rd_kafka_message_errstr(message).map { String(cString: $0) },
        at: topic.isEmpty ? nil : place, offset: message.pointee.offset < 0 ? nil : message.pointee.offset,
        client: client.pointer))
  }

  private func rebalanceEvent() -> Event? {
    guard let rebalance = inbox.takeUnseen() else { return nil }
    switch rebalance.kind {
    case .assigned: return .assigned(rebalance.partitions)
    case .revoked: return .revoked(rebalance.partitions, lost: rebalance.isLost)
    }
  }

  /// Records the rebalance and makes poll return. The owner answers later. While the consumer closes, the callback answers at once.
  private static let rebalanced:
    @convention(c) (
      OpaquePointer?, rd_kafka_resp_err_t, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?,
      UnsafeMutableRawPointer?
    ) -> Void = { client, code, list, opaque in
      guard let client, let inbox = ClientCallbacks.from(opaque)?.rebalances else { return }
      let kind: RebalanceInbox.Rebalance.Kind = code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS ? .assigned : .revoked
      if inbox.answersAtOnce {
        answerWithNothing(kind, client)
        return
      }
      inbox.add(
        RebalanceInbox.Rebalance(
          kind: kind,
          partitions: list?.pointee.entries.map(\.place) ?? [],
          isLost: rd_kafka_assignment_lost(client) != 0))
      rd_kafka_yield(client)
    }

  // MARK: Close

  /// Stops consuming. Later calls fail. Polled records stay valid.
  ///
  /// - Parameter leavingGroup: Whether a static member leaves the group, so that its partitions move at once. Otherwise they wait
  ///   for a session time-out. A dynamic member always leaves.
  public func close(leavingGroup: Bool = false) {
    guard let client else { return }
    inbox.answersAtOnce = true
    while let kind = inbox.takeUnanswered() { Self.answerWithNothing(kind, client.pointer) }
    if leavingGroup { leave(client) }
    rd_kafka_consumer_close(client.pointer)
    waker.close()
    self.client = nil
  }

  /// Answers a rebalance with no partitions. ``assign(_:)`` explains the two ways.
  private static func answerWithNothing(_ kind: RebalanceInbox.Rebalance.Kind, _ client: OpaquePointer) {
    switch kind {
    case .revoked: rd_kafka_assign(client, nil)
    case .assigned:
      let list = rd_kafka_topic_partition_list_new(0)
      rd_kafka_assign(client, list)
      rd_kafka_topic_partition_list_destroy(list)
    }
  }

  /// Unsubscribes and waits until the LeaveGroup request is sent, which librdkafka shows by dropping its member id
  /// (rd_kafka_cgrp_leave). Closing earlier would cancel the request of a static member.
  private func leave(_ client: Client) {
    guard rd_kafka_unsubscribe(client.pointer) == RD_KAFKA_RESP_ERR_NO_ERROR else { return }
    let deadline = ContinuousClock.now + .seconds(5)
    while memberID != nil, !deadline.isPast {
      // Serves the revocation, which the callback answers. Drops records.
      if let message = rd_kafka_consumer_poll(client.pointer, 10) { rd_kafka_message_destroy(message) }
    }
  }
}
