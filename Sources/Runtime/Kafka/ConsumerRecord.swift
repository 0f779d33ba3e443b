import CLibrdkafka

/// A header's name and value. The value may be absent.
public typealias Header = (name: String, value: [UInt8]?)

/// A polled record. Owns librdkafka's message and refers to its key and value without copying them: they are part of the fetch response,
/// and the whole response stays in memory as long as any of its records. To keep data for long, copy it.
///
/// Not `Sendable`: reading headers parses them in place.
public final class ConsumerRecord {
  /// The topic. All records of a topic share one String.
  public let topic: String
  private let message: UnsafeMutablePointer<rd_kafka_message_t>
  /// Keeps the client alive, because messages must be destroyed before their client.
  private let client: Client

  init(_ message: UnsafeMutablePointer<rd_kafka_message_t>, topic: String, client: Client) {
    self.message = message
    self.topic = topic
    self.client = client
  }

  deinit { rd_kafka_message_destroy(message) }

  public var partition: Int32 { message.pointee.partition }

  /// The offset in the partition.
  public var offset: Int64 { message.pointee.offset }

  public var topicPartition: TopicPartition { TopicPartition(topic: topic, partition: partition) }

  /// Milliseconds since the epoch, set by the producer or the broker as the topic is configured. -1 if the record has none.
  public var timestamp: Int64 {
    var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
    return rd_kafka_message_timestamp(message, &type)
  }

  /// The key's bytes, valid while the record lives (use `withExtendedLifetime`). Absent for a record without a key.
  public var key: UnsafeRawBufferPointer? {
    message.pointee.key.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.key_len) }
  }

  /// The value's bytes, valid while the record lives (as ``key``'s). Absent for a tombstone.
  public var value: UnsafeRawBufferPointer? {
    message.pointee.payload.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.len) }
  }

  /// A copy of the key.
  public func keyBytes() -> [UInt8]? { key.map { [UInt8]($0) } }

  /// A copy of the value.
  public func valueBytes() -> [UInt8]? { value.map { [UInt8]($0) } }

  /// The size of key and value in bytes.
  public var size: Int { message.pointee.key_len + message.pointee.len }

  /// A copy of the value of the last header with this name. Absent if the header or its value is missing.
  public func header(_ name: String) -> [UInt8]? { withHeader(name) { $0.map { [UInt8]($0) } } }

  /// Calls `body` with the value of the last header with this name, which `body` must not keep. The value is absent if the header is
  /// missing or has none.
  public func withHeader<Result>(_ name: String, _ body: (UnsafeRawBufferPointer?) throws -> Result) rethrows -> Result
  {
    var headers: OpaquePointer?
    guard rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR, let headers else {
      return try body(nil)
    }
    var value: UnsafeRawPointer?
    var size = 0
    guard rd_kafka_header_get_last(headers, name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR, let value else {
      return try body(nil)
    }
    return try body(UnsafeRawBufferPointer(start: value, count: size))
  }

  /// Copies of all headers, in order.
  public func headers() -> [Header] {
    var headers: OpaquePointer?
    guard rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR, let headers else { return [] }
    var all: [Header] = []
    var name: UnsafePointer<CChar>?
    var value: UnsafeRawPointer?
    var size = 0
    while rd_kafka_header_get_all(headers, all.count, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR,
      let text = name
    {
      let bytes = value.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: size)) }
      all.append((name: String(cString: text), value: bytes))
    }
    return all
  }
}

/// One String for each topic. The cache finds it by its C name without an allocation.
///
/// Names are compared by content and not by librdkafka's handle, whose address may be reused for another topic.
struct TopicNameCache {
  private var names: [String] = []
  private var last = 0

  mutating func name(_ text: UnsafePointer<CChar>) -> String {
    if last < names.count, matches(names[last], text) { return names[last] }
    if let index = names.firstIndex(where: { matches($0, text) }) {
      last = index
    } else {
      names.append(String(cString: text))
      last = names.count - 1
    }
    return names[last]
  }

  private func matches(_ name: String, _ text: UnsafePointer<CChar>) -> Bool {
    var name = name
    return name.withUTF8 { bytes in
      for index in bytes.indices where UInt8(bitPattern: text[index]) != bytes[index] { return false }
      return text[bytes.count] == 0
    }
  }
}
