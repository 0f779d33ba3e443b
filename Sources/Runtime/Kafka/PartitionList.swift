import CLibrdkafka

public struct TopicPartition: Hashable, Sendable, Comparable, CustomStringConvertible {
  public var topic: String
  /// The partition's number, from 0.
  public var partition: Int32

  public init(topic: String, partition: Int32) {
    self.topic = topic
    self.partition = partition
  }

  /// Orders by topic, then by number.
  public static func < (a: TopicPartition, b: TopicPartition) -> Bool {
    a.topic == b.topic ? a.partition < b.partition : a.topic < b.topic
  }

  /// The partition as text, such as `topic-3`.
  public var description: String { "\(topic)-\(partition)" }
}

/// An offset of a partition, with committed metadata.
public struct TopicPartitionOffset: Hashable, Sendable, CustomStringConvertible {
  public var topicPartition: TopicPartition
  /// The offset of the next record to read, or ``Offset/beginning`` or ``Offset/end`` in an assignment. Absent from
  /// ``Consumer/committed(_:timeout:)`` if the group has committed none. Absent in an assignment: the committed offset, or else what
  /// `auto.offset.reset` says.
  public var offset: Int64?
  /// The metadata committed with the offset. Kafka does not distinguish absent and empty metadata. At most 4,096 bytes by default
  /// (`offset.metadata.max.bytes`).
  public var metadata: String?

  public init(_ topicPartition: TopicPartition, offset: Int64?, metadata: String? = nil) {
    self.topicPartition = topicPartition
    self.offset = offset
    self.metadata = metadata
  }

  public init(topic: String, partition: Int32, offset: Int64?, metadata: String? = nil) {
    self.init(TopicPartition(topic: topic, partition: partition), offset: offset, metadata: metadata)
  }

  /// The place as text, such as `topic-3@17`.
  public var description: String { "\(topicPartition)@\(offset.map(String.init) ?? "none")" }
}

/// Logical offsets.
public enum Offset {
  /// The log start offset.
  public static let beginning: Int64 = -2
  /// The end of the log. On a read_committed client, the last stable offset.
  public static let end: Int64 = -1
}

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

  /// Adds an entry, which is valid until the next one is added.
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
  /// The entries, valid as long as the list.
  var entries: UnsafeBufferPointer<rd_kafka_topic_partition_t> {
    UnsafeBufferPointer(start: elems, count: Int(cnt))
  }
}

extension rd_kafka_topic_partition_t {
  var place: TopicPartition {
    TopicPartition(topic: topic.map { String(cString: $0) } ?? "", partition: partition)
  }

  /// The offset and the metadata. The offset is absent if it is missing or logical, the metadata if it is empty.
  var offsetAndNote: TopicPartitionOffset {
    var note: String?
    if let metadata, metadata_size > 0 {
      note = String(decoding: UnsafeRawBufferPointer(start: metadata, count: metadata_size), as: UTF8.self)
    }
    return TopicPartitionOffset(place, offset: offset >= 0 ? offset : nil, metadata: note)
  }
}

/// The hash by which Java's default partitioner, and librdkafka's `murmur2`, give a key its partition.
public enum Murmur2 {
  /// The partition of a key, in `0..<count`. 0 if `count` is not positive.
  public static func partition(of key: UnsafeRawBufferPointer, count: Int32) -> Int32 {
    count > 0 ? Int32(hash(key) & 0x7fff_ffff) % count : 0
  }

  /// The partition of a key, in `0..<count`. 0 if `count` is not positive.
  public static func partition(of key: [UInt8], count: Int32) -> Int32 {
    key.withUnsafeBytes { partition(of: $0, count: count) }
  }

  /// MurmurHash2 (Austin Appleby, public domain) in its 32-bit form with Kafka's seed.
  static func hash(_ key: UnsafeRawBufferPointer) -> UInt32 {
    let multiplier: UInt32 = 0x5bd1_e995
    var hash: UInt32 = 0x9747_b28c ^ UInt32(truncatingIfNeeded: key.count)
    var index = 0
    while index + 4 <= key.count {
      var word = UInt32(littleEndian: key.loadUnaligned(fromByteOffset: index, as: UInt32.self))
      word &*= multiplier
      word ^= word >> 24
      word &*= multiplier
      hash = (hash &* multiplier) ^ word
      index += 4
    }
    if index < key.count {
      for offset in 0..<(key.count - index) { hash ^= UInt32(key[index + offset]) << UInt32(8 * offset) }
      hash &*= multiplier
    }
    hash ^= hash >> 13
    hash &*= multiplier
    hash ^= hash >> 15
    return hash
  }
}
