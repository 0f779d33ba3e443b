import CLibrdkafka
import Foundation

/// The answer to an admin request. Owns librdkafka's event.
struct AdminAnswer: ~Copyable {
  private let event: OpaquePointer

  /// Calls `send` to send the request, and waits for the answer.
  init(
    _ operation: String, _ kind: rd_kafka_admin_op_t, client: Client, timeout: Duration, requireStable: Bool = false,
    _ send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
  ) throws(KafkaError) {
    let options = rd_kafka_AdminOptions_new(client.pointer, kind)
    defer { rd_kafka_AdminOptions_destroy(options) }
    var text = [CChar](repeating: 0, count: 512)
    // librdkafka allows 0 to an hour.
    let milliseconds = max(1, min(timeout.milliseconds, 3_600_000))
    let code = rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, &text, text.count)
    guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(operation, code, reason: text.string) }
    if requireStable {
      try KafkaError.check(operation, rd_kafka_AdminOptions_set_require_stable_offsets(options, 1))
    }
    let queue = rd_kafka_queue_new(client.pointer)
    defer { rd_kafka_queue_destroy(queue) }
    send(options, queue)
    // A request that times out ends with an event of its own. The 2 s more are for that event to come.
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

  /// Lends the event, which owns everything that librdkafka returns from it.
  func read<Content>(_ body: (OpaquePointer) throws(KafkaError) -> Content) throws(KafkaError) -> Content {
    try body(event)
  }
}

extension KafkaError {
  /// Throws the error of the group or of its first failed partition.
  static func checkGroup(_ result: OpaquePointer, _ operation: String) throws(KafkaError) {
    if let error = rd_kafka_group_result_error(result) {
      let reason = rd_kafka_error_string(error).map { String(cString: $0) }
      throw KafkaError(operation, rd_kafka_error_code(error), reason: reason)
    }
    guard let list = rd_kafka_group_result_partitions(result) else { return }
    for entry in list.pointee.entries where entry.err != RD_KAFKA_RESP_ERR_NO_ERROR {
      throw KafkaError(operation, entry.err, at: entry.place)
    }
  }
}

extension ContinuousClock.Instant {
  /// Repeats an idempotent request to a group's coordinator until it succeeds or this time has come. An attempt takes at most 3 s, because
  /// librdkafka 2.0.2 drops an admin request that gets COORDINATOR_LOAD_IN_PROGRESS, and then waits for the time-out.
  func attempts<Answer>(_ ask: (Duration) throws(KafkaError) -> Answer) throws(KafkaError) -> Answer {
    while true {
      do throws(KafkaError) {
        return try ask(min(remaining, .seconds(3)))
      } catch {
        guard error.isTimedOut || error.isCoordinatorLoss, !isPast else { throw error }
        usleep(20_000)  // The error may come at once, and the loop would spin.
      }
    }
  }
}

extension Client {
  /// Requests a group's committed offsets of these partitions; nil for all partitions.
  func groupOffsets(group: String, _ partitions: [TopicPartition]?, requireStable: Bool, timeout: Duration)
    throws(KafkaError) -> [TopicPartitionOffset]
  {
    let operation = "ask for committed offsets of group \"\(group)\""
    let list = try PartitionList(partitions ?? [])
    var wanted: [OpaquePointer?] = [
      list.lend { rd_kafka_ListConsumerGroupOffsets_new(group, partitions == nil ? nil : $0) }
    ]
    defer { rd_kafka_ListConsumerGroupOffsets_destroy_array(&wanted, wanted.count) }
    let answer = try AdminAnswer(
      operation, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, client: self, timeout: timeout,
      requireStable: requireStable
    ) { options, queue in
      rd_kafka_ListConsumerGroupOffsets(pointer, &wanted, wanted.count, options, queue)
    }
    return try answer.read { (event) throws(KafkaError) in
      var count = 0
      let results = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event), &count)
      var offsets: [TopicPartitionOffset] = []
      for case .some(let result) in UnsafeBufferPointer(start: results, count: count) {
        try KafkaError.checkGroup(result, operation)
        guard let list = rd_kafka_group_result_partitions(result) else { continue }
        offsets += list.pointee.entries.map(\.offsetAndNote)
      }
      return offsets
    }
  }
}
