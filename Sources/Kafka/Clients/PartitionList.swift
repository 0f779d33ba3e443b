import CLibrdkafka

/// Owns an `rd_kafka_topic_partition_list_t`.
struct PartitionList: ~Copyable {
  let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

  /// An empty list.
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

  /// Takes over a list that librdkafka handed out.
  init(owning pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) { self.pointer = pointer }

  deinit { rd_kafka_topic_partition_list_destroy(pointer) }

  /// The entry is valid until the next one is added.
  func add(_ partition: TopicPartition) -> UnsafeMutablePointer<rd_kafka_topic_partition_t>? {
    rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition)
  }

  func add(_ place: TopicPartitionOffset) {
    guard let entry = add(place.topicPartition) else { return }
    entry.pointee.offset = place.offset ?? Int64(RD_KAFKA_OFFSET_INVALID)
    guard let metadata = place.metadata, !metadata.isEmpty else { return }
    var utf8 = metadata
    utf8.withUTF8 { bytes in
      // Freed with the list, by librdkafka: hence from its own allocator.
      guard let base = bytes.baseAddress, let copy = rd_kafka_mem_malloc(nil, bytes.count) else { return }
      copy.copyMemory(from: base, byteCount: bytes.count)
      entry.pointee.metadata = copy
      entry.pointee.metadata_size = bytes.count
    }
  }

  var entries: UnsafeBufferPointer<rd_kafka_topic_partition_t> {
    UnsafeBufferPointer(start: pointer.pointee.elems, count: Int(pointer.pointee.cnt))
  }

  /// The entries' partitions.
  static func partitions(of pointer: UnsafePointer<rd_kafka_topic_partition_list_t>) -> [TopicPartition] {
    UnsafeBufferPointer(start: pointer.pointee.elems, count: Int(pointer.pointee.cnt)).map(\.place)
  }
}

extension rd_kafka_topic_partition_t {
  var place: TopicPartition {
    TopicPartition(topic: topic.map { String(cString: $0) } ?? "", partition: partition)
  }

  /// The committed note; `nil` for none and for an empty one.
  var note: String? {
    guard let metadata, metadata_size > 0 else { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: metadata, count: metadata_size), as: UTF8.self)
  }
}
