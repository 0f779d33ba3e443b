import CLibrdkafka

/// One admin request and its answer. Owns the event, and what is read from it.
struct AdminAnswer: ~Copyable {
  let event: OpaquePointer

  /// Sends by `send` and waits for the answer.
  init(
    _ operation: String, _ kind: rd_kafka_admin_op_t, client: Client, timeout: Duration, requireStable: Bool = false,
    _ send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
  ) throws(KafkaError) {
    let options = rd_kafka_AdminOptions_new(client.pointer, kind)
    defer { rd_kafka_AdminOptions_destroy(options) }
    var text = [CChar](repeating: 0, count: 512)
    // librdkafka takes 0 to an hour.
    let milliseconds = max(1, min(timeout.milliseconds, 3_600_000))
    let code = rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, &text, text.count)
    guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(operation, code, reason: text.string) }
    if requireStable {
      try KafkaError.check(operation, rd_kafka_AdminOptions_set_require_stable_offsets(options, 1))
    }
    let queue = rd_kafka_queue_new(client.pointer)
    defer { rd_kafka_queue_destroy(queue) }
    send(options, queue)
    // The request ends by its own time-out, with an event that says so: this only bounds the wait for that event.
    guard let event = rd_kafka_queue_poll(queue, milliseconds + 2000) else {
      throw KafkaError(operation, RD_KAFKA_RESP_ERR__TIMED_OUT)
    }
    let failure = rd_kafka_event_error(event)
    guard failure == RD_KAFKA_RESP_ERR_NO_ERROR else {
      let reason = rd_kafka_event_error_string(event).map { String(cString: $0) }
      rd_kafka_event_destroy(event)
      throw KafkaError(operation, failure, reason: reason)
    }
    self.event = event
  }

  deinit { rd_kafka_event_destroy(event) }
}

extension KafkaError {
  /// Throws what went wrong with a group or with one of its partitions.
  static func checkGroup(_ result: OpaquePointer, _ operation: String) throws(KafkaError) {
    if let error = rd_kafka_group_result_error(result) {
      let reason = rd_kafka_error_string(error).map { String(cString: $0) }
      throw KafkaError(operation, rd_kafka_error_code(error), reason: reason)
    }
    guard let list = rd_kafka_group_result_partitions(result) else { return }
    for entry in UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt))
    where entry.err != RD_KAFKA_RESP_ERR_NO_ERROR {
      throw KafkaError(operation, entry.err, at: entry.place)
    }
  }
}

extension Client {
  /// What a group has committed for these partitions, or for all it has.
  func groupOffsets(group: String, _ partitions: [TopicPartition]?, requireStable: Bool, timeout: Duration)
    throws(KafkaError) -> [TopicPartitionOffset]
  {
    let operation = "ask for committed offsets of group \"\(group)\""
    let list = try PartitionList(partitions ?? [])
    var wanted: [OpaquePointer?] = [
      rd_kafka_ListConsumerGroupOffsets_new(group, partitions == nil ? nil : list.pointer)
    ]
    defer { rd_kafka_ListConsumerGroupOffsets_destroy_array(&wanted, wanted.count) }
    let answer = try AdminAnswer(
      operation, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, client: self, timeout: timeout,
      requireStable: requireStable
    ) { options, queue in
      rd_kafka_ListConsumerGroupOffsets(pointer, &wanted, wanted.count, options, queue)
    }
    var count = 0
    let results = rd_kafka_ListConsumerGroupOffsets_result_groups(
      rd_kafka_event_ListConsumerGroupOffsets_result(answer.event), &count)
    var offsets: [TopicPartitionOffset] = []
    for case .some(let result) in UnsafeBufferPointer(start: results, count: count) {
      try KafkaError.checkGroup(result, operation)
      guard let list = rd_kafka_group_result_partitions(result) else { continue }
      for entry in UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt)) {
        offsets.append(
          TopicPartitionOffset(entry.place, offset: entry.offset >= 0 ? entry.offset : nil, metadata: entry.note))
      }
    }
    return offsets
  }
}
