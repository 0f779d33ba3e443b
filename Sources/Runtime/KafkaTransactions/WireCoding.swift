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

/// Reads Kafka's types. For any bytes it returns a value or throws. It never reads out of bounds, and allocates no more than the bytes can
/// fill.
struct WireReader {
  private let bytes: [UInt8]
  private var at: Int
  private let end: Int
  /// The answer's `throttle_time_ms`. 0 if it has none or has not been read that far.
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

  /// A UUID as Kafka's tools print it: base64 for URLs, without padding. Absent for the UUID of zeros.
  mutating func uuid() throws(WireError) -> String? {
    let raw = Data(bytes[try take(16)])
    guard raw.contains(where: { $0 != 0 }) else { return nil }
    return String(
      raw.base64EncodedString().dropLast(2).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }

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

  /// A compact array. Null is read as empty.
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

  /// Tagged fields. `read` gets the tag and a reader of the field. Unread bytes are skipped.
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

/// Writes Kafka's types: big-endian numbers, compact (flexible) texts, arrays and bytes, tagged fields.
struct WireWriter {
  private(set) var bytes: [UInt8] = []

  init(reserving capacity: Int = 0) {
    if capacity > 0 { bytes.reserveCapacity(capacity) }
  }

  mutating func int8(_ value: Int8) { bytes.append(UInt8(bitPattern: value)) }
  mutating func int16(_ value: Int16) { integer(value) }
  mutating func int32(_ value: Int32) { integer(value) }
  mutating func int64(_ value: Int64) { integer(value) }
  mutating func bool(_ value: Bool) { bytes.append(value ? 1 : 0) }

  mutating func unsignedVarint(_ value: Int) { bytes.appendVarint(UInt64(max(0, value))) }

  /// A compact text, or null.
  mutating func text(_ value: String?) {
    guard let value else { return bytes.append(0) }
    let utf8 = value.utf8
    unsignedVarint(utf8.count + 1)
    bytes.append(contentsOf: utf8)
  }

  /// A text with a length of two bytes, not compact. Only headers and the SASL handshake have such texts.
  mutating func oldText(_ value: String) {
    let utf8 = value.utf8.prefix(Int(Int16.max))
    int16(Int16(utf8.count))
    bytes.append(contentsOf: utf8)
  }

  /// Compact bytes.
  mutating func data(_ value: [UInt8]) {
    unsignedVarint(value.count + 1)
    bytes.append(contentsOf: value)
  }

  /// A compact array.
  mutating func array<Element>(_ elements: [Element], _ write: (inout WireWriter, Element) -> Void) {
    unsignedVarint(elements.count + 1)
    for element in elements { write(&self, element) }
  }

  /// The end of a structure without tagged fields.
  mutating func noTags() { bytes.append(0) }

  /// An array of topics with the numbers of partitions.
  mutating func partitions(_ topics: [(name: String, partitions: [Int32])]) {
    array(topics) { writer, topic in
      writer.text(topic.name)
      writer.array(topic.partitions) { $0.int32($1) }
      writer.noTags()
    }
  }

  /// The approximate number of bytes that `partitions` writes, with those of a request around it.
  static func size(of topics: [(name: String, partitions: [Int32])]) -> Int {
    topics.reduce(64) { $0 + $1.name.utf8.count + 8 + $1.partitions.count * 4 }
  }

  mutating func raw(_ value: [UInt8]) { bytes.append(contentsOf: value) }

  /// Overwrites four bytes with a number.
  mutating func overwrite(int32 value: Int32, at index: Int) { bytes.store(value, at: index) }

  private mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }
}

extension [UInt8] {
  /// Overwrites bytes with a number, big-endian.
  mutating func store<Value: FixedWidthInteger>(_ value: Value, at index: Int) {
    let size = MemoryLayout<Value>.size
    for place in 0..<size { self[index + place] = UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - place))) }
  }

  /// Appends seven bits a byte, the lowest first. The eighth bit says that more follow.
  mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  /// A signed number in zigzag encoding.
  mutating func appendZigzag(_ value: Int64) { appendVarint(UInt64(bitPattern: value << 1 ^ value >> 63)) }
}

/// The number of bytes that `appendVarint` appends.
func varintSize(_ value: UInt64) -> Int { value == 0 ? 1 : (70 - value.leadingZeroBitCount) / 7 }

/// The number of bytes that `appendZigzag` appends.
func zigzagSize(_ value: Int64) -> Int { varintSize(UInt64(bitPattern: value << 1 ^ value >> 63)) }

/// A request of Kafka's protocol, and the decoding of its answer.
protocol WireRequest {
  associatedtype Answer
  static var key: Int16 { get }
  /// The first version that is sent. A request that is sent in several versions has the same fields in all of them.
  static var version: Int16 { get }
  /// The version that is sent.
  var version: Int16 { get }
  /// Whether the request's header has tagged fields.
  static var hasFlexibleRequest: Bool { get }
  /// Whether the answer's header has tagged fields.
  static var hasFlexibleAnswer: Bool { get }
  /// The approximate size of the body in bytes.
  var estimatedSize: Int { get }
  /// The name in Kafka's documentation.
  static var name: String { get }
  func encode(into writer: inout WireWriter)
  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer
}

extension WireRequest {
  var version: Int16 { Self.version }
  static var hasFlexibleRequest: Bool { true }
  static var hasFlexibleAnswer: Bool { true }
  var estimatedSize: Int { 256 }
}

/// An answer, and how long the client must wait before it sends the next request on the same connection (KIP-219).
struct WireAnswer<Content> {
  let content: Content
  let throttle: Duration
}

enum WireFrame {
  /// Encodes a whole request: length, header, body.
  static func encode<R: WireRequest>(_ request: R, correlation: Int32, client: String) -> [UInt8] {
    var writer = WireWriter(reserving: request.estimatedSize + client.utf8.count + 32)
    writer.int32(0)
    writer.int16(R.key)
    writer.int16(request.version)
    writer.int32(correlation)
    writer.oldText(client)
    if R.hasFlexibleRequest { writer.noTags() }
    request.encode(into: &writer)
    writer.overwrite(int32: Int32(writer.bytes.count - 4), at: 0)
    return writer.bytes
  }

  /// Reads an answer without its length. Trailing bytes are ignored, because newer brokers may send more.
  static func decode<R: WireRequest>(
    _: R.Type, _ bytes: [UInt8], correlation: Int32
  ) throws(WireError) -> WireAnswer<R.Answer> {
    var reader = WireReader(bytes)
    guard try reader.int32() == correlation else { throw .badNumber }
    if R.hasFlexibleAnswer { try reader.tags() }
    let content = try R.decode(&reader)
    return WireAnswer(content: content, throttle: .milliseconds(max(0, reader.throttleTime)))
  }
}
