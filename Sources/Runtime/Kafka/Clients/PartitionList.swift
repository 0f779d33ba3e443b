import CLibrdkafka

/// Owns an `rd_kafka_topic_partition_list_t`.
struct PartitionList: ~Copyable {
  private let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

  init(capacity: Int) throws(KafkaError) {
    guard let pointer = rd_kafka_topic_partition_list_new(Int32(clamping: capacity)) else {
      throw KafkaError("list partitions", RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE)
    }
    self.pointer = pointer
  }

  init(_ partitions: some Collection<TopicPartition>) throws(KafkaError) {
    try self.init(capacity: partitions.count)
    for partition in partitions { _ = add(partition) }
  }

  init(_ places: [TopicPartitionOffset]) throws(KafkaError) {
    try self.init(capacity: places.count)
    for place in places { add(place) }
  }

  deinit { rd_kafka_topic_partition_list_destroy(pointer) }

  /// The entry is valid until the next one is added.
  private func add(_ partition: TopicPartition) -> UnsafeMutablePointer<rd_kafka_topic_partition_t>? {
    rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition)
  }

  private func add(_ place: TopicPartitionOffset) {
    guard let entry = add(place.topicPartition) else { return }
    entry.pointee.offset = place.offset ?? Int64(RD_KAFKA_OFFSET_INVALID)
    guard let metadata = place.metadata, !metadata.isEmpty else { return }
    var utf8 = metadata
    utf8.withUTF8 { bytes in
      // librdkafka frees it with the list, hence its own allocator.
      guard let base = bytes.baseAddress, let copy = rd_kafka_mem_malloc(nil, bytes.count) else { return }
      copy.copyMemory(from: base, byteCount: bytes.count)
      entry.pointee.metadata = copy
      entry.pointee.metadata_size = bytes.count
    }
  }

  /// Lends the list to a call. A pointer that escapes would not keep the list alive until the call returns.
  func lend<Answer>(_ call: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> Answer) -> Answer {
    call(pointer)
  }

  /// Throws the first error of an entry.
  func check(_ operation: String) throws(KafkaError) {
    for entry in pointer.pointee.entries where entry.err != RD_KAFKA_RESP_ERR_NO_ERROR {
      throw KafkaError(operation, entry.err, at: entry.place)
    }
  }

  /// The entries' partitions and offsets, as filled in by librdkafka.
  var offsets: [TopicPartitionOffset] { pointer.pointee.entries.map(\.offsetAndNote) }
}

extension rd_kafka_topic_partition_list_t {
  /// Valid as long as the list.
  var entries: UnsafeBufferPointer<rd_kafka_topic_partition_t> {
    UnsafeBufferPointer(start: elems, count: Int(cnt))
  }
}

extension rd_kafka_topic_partition_t {
  var place: TopicPartition {
    TopicPartition(topic: topic.map { String(cString: $0) } ?? "", partition: partition)
  }

  /// The offset, `nil` for a missing or logical one, and the metadata, `nil` if empty.
  var offsetAndNote: TopicPartitionOffset {
    var note: String?
    if let metadata, metadata_size > 0 {
      note = String(decoding: UnsafeRawBufferPointer(start: metadata, count: metadata_size), as: UTF8.self)
    }
    return TopicPartitionOffset(place, offset: offset >= 0 ? offset : nil, metadata: note)
  }
}
