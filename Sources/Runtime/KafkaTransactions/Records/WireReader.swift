import Foundation

/// An error in an answer's bytes.
enum WireError: Error, Equatable {
  /// The bytes end within a field.
  case truncated
  /// A negative length or count, or one that exceeds the bytes.
  case badLength
  /// A number with more bytes than its type.
  case badNumber
  /// Null in a field that is not nullable.
  case unexpectedNull
  /// A tagged field whose content does not match its length.
  case badTag
}

/// Reads Kafka's types. For any bytes it returns a value or throws, never reads out of bounds, and allocates no more than the bytes can
/// fill.
struct WireReader {
  private let bytes: [UInt8]
  private var at: Int
  private let end: Int
  /// `throttle_time_ms` of the answer; 0 if it has none or has not been read that far.
  private(set) var throttleTime: Int32 = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    at = 0
    end = bytes.count
  }

  private init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    at = range.lowerBound
    end = range.upperBound
  }

  /// Reads the answer's `throttle_time_ms`.
  mutating func readThrottleTime() throws(WireError) { throttleTime = try int32() }

  /// The number of unread bytes.
  var remaining: Int { end - at }

  private mutating func take(_ count: Int) throws(WireError) -> Range<Int> {
    guard count >= 0 else { throw .badLength }
    guard count <= remaining else { throw .truncated }
    defer { at += count }
    return at..<at + count
  }

  private mutating func integer<Value: FixedWidthInteger>(_: Value.Type) throws(WireError) -> Value {
    var value: Value = 0
    for index in try take(MemoryLayout<Value>.size) { value = value << 8 | Value(truncatingIfNeeded: bytes[index]) }
    return value
  }

  mutating func int8() throws(WireError) -> Int8 { try integer(Int8.self) }
  mutating func int16() throws(WireError) -> Int16 { try integer(Int16.self) }
  mutating func int32() throws(WireError) -> Int32 { try integer(Int32.self) }
  mutating func int64() throws(WireError) -> Int64 { try integer(Int64.self) }
  mutating func bool() throws(WireError) -> Bool { try int8() != 0 }

  /// A UUID as Kafka's tools print it: base64 for URLs, without padding; nil for the one of zeros, which stands for none.
  mutating func uuid() throws(WireError) -> String? {
    let raw = Data(bytes[try take(16)])
    guard raw.contains(where: { $0 != 0 }) else { return nil }
    return String(
      raw.base64EncodedString().dropLast(2).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }

  mutating func skip(_ count: Int) throws(WireError) { _ = try take(count) }

  mutating func unsignedVarint() throws(WireError) -> Int {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 28, by: 7) {
      let byte = try integer(UInt8.self)
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 {
        guard value <= UInt64(UInt32.max) else { throw .badNumber }
        return Int(value)
      }
    }
    throw .badNumber
  }

  mutating func nullableText() throws(WireError) -> String? {
    let length = try unsignedVarint()
    if length == 0 { return nil }
    return String(decoding: bytes[try take(length - 1)], as: UTF8.self)
  }

  mutating func text() throws(WireError) -> String {
    guard let text = try nullableText() else { throw .unexpectedNull }
    return text
  }

  /// A text with a length of two bytes, not compact.
  mutating func oldText() throws(WireError) -> String {
    let length = try int16()
    return String(decoding: bytes[try take(Int(length))], as: UTF8.self)
  }

  /// Compact bytes.
  mutating func data() throws(WireError) -> [UInt8] {
    let length = try unsignedVarint()
    guard length > 0 else { throw .unexpectedNull }
    return Array(bytes[try take(length - 1)])
  }

  /// A compact array; null is read as empty.
  mutating func array<Element>(
    _ read: (inout WireReader) throws(WireError) -> Element
  ) throws(WireError) -> [Element] {
    let count = try unsignedVarint()
    return try elements(max(0, count - 1), read)
  }

  /// An array with a count of four bytes, not compact.
  mutating func oldArray<Element>(
    _ read: (inout WireReader) throws(WireError) -> Element
  ) throws(WireError) -> [Element] {
    let count = Int(try int32())
    guard count >= -1 else { throw .badLength }
    return try elements(max(0, count), read)
  }

  /// An array of topics with partitions: `read` gets the topic's name and reads a partition's fields.
  mutating func partitions<Element>(
    _ read: (inout WireReader, String) throws(WireError) -> Element
  ) throws(WireError) -> [Element] {
    let topics = try array { (reader) throws(WireError) in
      let topic = try reader.text()
      let partitions = try reader.array { (reader) throws(WireError) in
        let partition = try read(&reader, topic)
        try reader.tags()
        return partition
      }
      try reader.tags()
      return partitions
    }
    return topics.flatMap { $0 }
  }

  private mutating func elements<Element>(
    _ count: Int, _ read: (inout WireReader) throws(WireError) -> Element
  ) throws(WireError) -> [Element] {
    // An element has at least one byte, so a large count alone does not cause an allocation.
    guard count <= remaining else { throw .badLength }
    var elements: [Element] = []
    for _ in 0..<count { elements.append(try read(&self)) }
    return elements
  }

  /// Tagged fields: `read` gets the tag and a reader of the field; unread bytes are skipped.
  mutating func tags(
    _ read: (Int, inout WireReader) throws(WireError) -> Void = { (_, _) throws(WireError) in }
  ) throws(WireError) {
    let count = try unsignedVarint()
    guard count <= remaining else { throw .badLength }
    for _ in 0..<count {
      let tag = try unsignedVarint()
      let size = try unsignedVarint()
      var field = WireReader(bytes, try take(size))
      try read(tag, &field)
    }
  }
}
