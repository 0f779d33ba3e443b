import CLibrdkafka

/// A member of a consumer group, or a consumer that assigns itself. One thread owns it and calls it; only ``waker`` may
/// be used from others.
///
/// Rebalances are events of ``poll(timeout:)``. The owner answers each by ``assign(_:)``, when it is ready: between
/// `revoked` and its answer it commits, between `assigned` and its offsets it restores. Until then librdkafka delivers
/// no record, and heartbeats go on; the owner has to poll within `max.poll.interval.ms` all the same, and to answer a
/// revocation within the rebalance time-out (the same setting), after which the coordinator goes on without it.
///
/// After ``assign(_:)`` has returned, no record of the former assignment comes out: librdkafka stamps what it fetched
/// with a version that every assignment, pause and seek of the partition raises, and drops what is older when polled.
/// What was polled before stays the owner's business.
public final class Consumer {
  /// What a poll found.
  public enum Event {
    /// A record.
    case record(ConsumerRecord)
    /// The group gave these partitions to this member; answer with ``Consumer/assign(_:)``.
    case assigned([TopicPartition])
    /// The group takes these partitions away; answer with ``Consumer/assign(_:)`` and an empty list. `lost`: they may
    /// have a new owner already, so commit nothing.
    case revoked([TopicPartition], lost: Bool)
    /// The partition is read up to its last stable offset (only with `enable.partition.eof`); `offset` is the next.
    case endOfPartition(TopicPartition, offset: Int64)
    /// Something went wrong; unless it is fatal, polling goes on. Names its partition where there is one.
    case error(KafkaError)
  }

  /// The name it was given.
  public let name: String
  /// Wakes a waiting poll, from any thread.
  public let waker: ConsumerWaker
  /// The consumer group's name.
  let groupID: String
  private let inbox = RebalanceInbox()
  private var client: Client?
  private var names = TopicNames()
  private var paused: Set<TopicPartition> = []
  /// Whether partitions are assigned.
  private var hasAssigned = false

  /// Makes a consumer; it connects in the background.
  ///
  /// - Parameters:
  ///   - name: for log lines, and `client.id` where the configuration has none.
  ///   - log: gets librdkafka's log lines and errors of the client as a whole, on the thread that polls.
  ///   - statistics: gets librdkafka's statistics (JSON) every `statistics.interval.ms`, on the thread that polls.
  /// - Throws: where a property is unknown or has a bad value, naming it.
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
    // One queue for all, so that poll serves errors, logs and statistics too.
    try KafkaError.check("make a consumer", rd_kafka_poll_set_consumer(client.pointer))
    try KafkaError.check("make a consumer", rd_kafka_set_log_queue(client.pointer, nil))
  }

  /// Closes, if nobody did; that blocks until the group has been told.
  deinit { close(leavingGroup: false) }

  /// The client, for this class's extensions.
  func open(_ operation: String) throws(KafkaError) -> Client {
    guard let client else { throw .closed(operation) }
    return client
  }

  // MARK: The group

  /// Joins the group for these topics, in place of any before.
  public func subscribe(_ topics: [String]) throws(KafkaError) {
    let client = try open("subscribe")
    let list = try PartitionList(topics.map { TopicPartition(topic: $0, partition: RD_KAFKA_PARTITION_UA) })
    try KafkaError.check("subscribe", list.lend { rd_kafka_subscribe(client.pointer, $0) }, client: client.pointer)
  }

  /// Leaves the group; also a static member does. A `revoked` follows from poll and wants its answer.
  public func unsubscribe() throws(KafkaError) {
    let client = try open("unsubscribe")
    try KafkaError.check("unsubscribe", rd_kafka_unsubscribe(client.pointer), client: client.pointer)
  }

  /// Reads these partitions from these offsets, and no others: the answer to a rebalance, or a change afterwards.
  ///
  /// The answer to `revoked` is the empty list; a list that is not is taken as empty then, as the partitions are gone.
  /// Pauses end with the assignment they were made in.
  public func assign(_ places: [TopicPartitionOffset]) throws(KafkaError) {
    let client = try open("assign partitions")
    // librdkafka keeps a pause with the partition: one that is revoked and comes back would stay silent.
    // (Whatever it answers: a partition it does not know any more has no pause.)
    if !paused.isEmpty {
      _ = try PartitionList(paused).lend { rd_kafka_resume_partitions(client.pointer, $0) }
      paused = []
    }
    let answered = inbox.takeUnanswered()
    // NULL, and not an empty list, is what ends the wait for the answer to a revocation; the other way round for an
    // assignment (rd_kafka_cgrp_assign, rd_kafka_cgrp_unassign).
    //
    // Assigning clears librdkafka's note that the assignment was lost, also where the revocation that says so waits in
    // the queue still: kept for that event.
    if answered == nil, rd_kafka_assignment_lost(client.pointer) != 0 { inbox.noteLoss() }
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

  /// Waits until librdkafka's thread has dealt with the stop of the partitions that were assigned before. One that is
  /// assigned again and taken away again while its first stop is under way is stopped twice, and the second stop ends the
  /// process with an assertion (`rd_kafka_assignment_partition_stopped`). A question that goes through the same queue comes
  /// behind the requests to stop; the second one also where those were queued after the assignment was answered.
  private static func awaitStop(_ client: Client) {
    for _ in 0..<2 {
      var list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
      if rd_kafka_assignment(client.pointer, &list) == RD_KAFKA_RESP_ERR_NO_ERROR {
        rd_kafka_topic_partition_list_destroy(list)
      }
    }
  }

  /// Delivers no more of these partitions, and drops what was fetched of them already.
  public func pause(_ partitions: [TopicPartition]) throws(KafkaError) {
    let client = try open("pause partitions")
    let list = try PartitionList(partitions)
    try KafkaError.check("pause partitions", list.lend { rd_kafka_pause_partitions(client.pointer, $0) })
    paused.formUnion(partitions)
    try list.check("pause partitions")
  }

  /// Delivers these partitions again, from where they were paused.
  public func resume(_ partitions: [TopicPartition]) throws(KafkaError) {
    let client = try open("resume partitions")
    let list = try PartitionList(partitions)
    try KafkaError.check("resume partitions", list.lend { rd_kafka_resume_partitions(client.pointer, $0) })
    paused.subtract(partitions)
    try list.check("resume partitions")
  }

  /// Whether the partitions may have another owner already: commit nothing.
  public var assignmentLost: Bool { client.map { rd_kafka_assignment_lost($0.pointer) != 0 } ?? true }

  /// The member id that the coordinator gave; `nil` before it did.
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

  /// The next event, or `nil` when the time is over or the poll was woken. Also serves logs and statistics.
  public func poll(timeout: Duration) -> Event? {
    guard let client else { return .error(.closed("poll")) }
    if let event = rebalanceEvent() { return event }
    guard let message = rd_kafka_consumer_poll(client.pointer, timeout.milliseconds) else { return rebalanceEvent() }
    return event(of: message, client)
  }

  /// Polls once with the time-out, then as long as there is something without waiting.
  ///
  /// Stops at `maxRecords` or once `maxBytes` (of keys and values) are reached, so the bytes may be passed by one record;
  /// or at the first event that is no record, which is returned. Records are appended in the order they came.
  public func poll(into records: inout [ConsumerRecord], maxRecords: Int, maxBytes: Int, timeout: Duration) -> Event? {
    poll(maxRecords: maxRecords, maxBytes: maxBytes, timeout: timeout) { records.append($0) }
  }

  /// Polls as the other one does and hands each record over as it comes: one that is copied and let go at once costs
  /// half of what it does among thousands.
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

  /// Makes a poll that is waiting return; the same as ``waker``'s.
  public func wake() { waker.wake() }

  /// Takes over the message; nil: it says nothing that matters.
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
    // librdkafka looks for the coordinator of the group it was given, whom access rules need not let it find.
    if message.pointee.err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, groupID == ClientConfiguration.noGroup {
      return nil
    }
    return .error(
      KafkaError(
        "consume", message.pointee.err, reason: rd_kafka_message_errstr(message).map { String(cString: $0) },
        at: topic.isEmpty ? nil : place, client: client.pointer))
  }

  private func rebalanceEvent() -> Event? {
    guard let rebalance = inbox.takeUnseen() else { return nil }
    switch rebalance.kind {
    case .assigned: return .assigned(rebalance.partitions)
    case .revoked: return .revoked(rebalance.partitions, lost: rebalance.isLost)
    }
  }

  /// Notes the rebalance and makes the poll return; the owner answers later. While the consumer closes nobody would, so
  /// it is answered here.
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
      inbox.note(
        RebalanceInbox.Rebalance(
          kind: kind,
          partitions: list?.pointee.entries.map(\.place) ?? [],
          isLost: rd_kafka_assignment_lost(client) != 0))
      rd_kafka_yield(client)
    }

  // MARK: The end

  /// Stops consuming; every call from now on fails. Records that were polled stay valid.
  ///
  /// - Parameter leavingGroup: tell the coordinator, so that the partitions move at once. A static member's partitions
  ///   otherwise wait for it for a session time-out; a dynamic member always tells.
  public func close(leavingGroup: Bool = false) {
    guard let client else { return }
    inbox.answersAtOnce = true
    while let kind = inbox.takeUnanswered() { Self.answerWithNothing(kind, client.pointer) }
    if leavingGroup { leave(client) }
    rd_kafka_consumer_close(client.pointer)
    waker.close()
    self.client = nil
  }

  /// Ends librdkafka's wait for an answer, taking nothing: see ``assign(_:)`` for the two ways.
  private static func answerWithNothing(_ kind: RebalanceInbox.Rebalance.Kind, _ client: OpaquePointer) {
    switch kind {
    case .revoked: rd_kafka_assign(client, nil)
    case .assigned:
      let list = rd_kafka_topic_partition_list_new(0)
      rd_kafka_assign(client, list)
      rd_kafka_topic_partition_list_destroy(list)
    }
  }

  /// Unsubscribes and waits until the request to leave is on its way, which librdkafka shows by dropping its member id
  /// (rd_kafka_cgrp_leave). Closing before that would take the request back where the member is static.
  private func leave(_ client: Client) {
    guard rd_kafka_unsubscribe(client.pointer) == RD_KAFKA_RESP_ERR_NO_ERROR else { return }
    let deadline = Deadline(after: .seconds(5))
    while memberID != nil, !deadline.isPast {
      // Serves the revocation, which the callback answers, and drops records.
      if let message = rd_kafka_consumer_poll(client.pointer, 10) { rd_kafka_message_destroy(message) }
    }
  }
}
