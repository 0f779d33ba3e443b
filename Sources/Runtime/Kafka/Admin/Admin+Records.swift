import CLibrdkafka

extension Admin {
  /// Deletes the records of partitions before an offset, as retention would. They cannot be restored.
  ///
  /// - Parameter places: For each partition the first offset to keep, at most the high watermark; nil is refused.
  /// - Throws: The error of the request, or of the first failed partition.
  public func deleteRecords(before places: [TopicPartitionOffset], timeout: Duration) throws(KafkaError) {
    let operation = "delete records"
    for place in places where place.offset == nil {
      throw KafkaError(operation, RD_KAFKA_RESP_ERR__INVALID_ARG, reason: "no offset", at: place.topicPartition)
    }
    let list = try PartitionList(places)
    var wanted: [OpaquePointer?] = [list.lend { rd_kafka_DeleteRecords_new($0) }]
    defer { rd_kafka_DeleteRecords_destroy_array(&wanted, wanted.count) }
    let answer = try request(operation, RD_KAFKA_ADMIN_OP_DELETERECORDS, timeout: timeout) { options, queue in
      rd_kafka_DeleteRecords(client.pointer, &wanted, wanted.count, options, queue)
    }
    try answer.read { (event) throws(KafkaError) in
      guard let result = rd_kafka_event_DeleteRecords_result(event),
        let offsets = rd_kafka_DeleteRecords_result_offsets(result)
      else { return }
      for entry in offsets.pointee.entries where entry.err != RD_KAFKA_RESP_ERR_NO_ERROR {
        throw KafkaError(operation, entry.err, at: entry.place)
      }
    }
  }
}
