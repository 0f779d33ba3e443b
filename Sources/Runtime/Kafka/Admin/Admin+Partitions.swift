import CLibrdkafka

extension Admin {
  /// Adds partitions to topics. Kafka cannot remove them again.
  ///
  /// - Parameter counts: The new number of partitions of each topic, larger than the present one.
  /// - Returns: The result for each topic. Brokers may not know the new partitions for a moment.
  /// - Throws: If the whole request failed.
  public func createPartitions(_ counts: [String: Int], timeout: Duration) throws(KafkaError) -> [String: Result<
    Void, KafkaError
  >] {
    let operation = "add partitions"
    var wanted: [OpaquePointer?] = []
    defer { for topic in wanted { rd_kafka_NewPartitions_destroy(topic) } }
    for (topic, count) in counts.sorted(by: { $0.key < $1.key }) {
      var text = [CChar](repeating: 0, count: 512)
      guard let new = rd_kafka_NewPartitions_new(topic, count, &text, text.count) else {
        throw .invalid("\(operation) to topic \"\(topic)\"", text.string)
      }
      wanted.append(new)
    }
    let answer = try request(operation, RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, timeout: timeout) { options, queue in
      rd_kafka_CreatePartitions(client.pointer, &wanted, wanted.count, options, queue)
    }
    return try answer.read { (event) throws(KafkaError) in
      var count = 0
      let results = rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event), &count)
      return Self.outcomes(UnsafeBufferPointer(start: results, count: count), operation)
    }
  }
}
