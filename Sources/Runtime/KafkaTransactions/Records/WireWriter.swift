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

  /// A text with a length of two bytes, not compact: only in headers and in the SASL handshake.
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

  /// About the bytes that `partitions` takes, with those of a request around it.
  static func size(of topics: [(name: String, partitions: [Int32])]) -> Int {
    topics.reduce(64) { $0 + $1.name.utf8.count + 8 + $1.partitions.count * 4 }
  }

  mutating func raw(_ value: [UInt8]) { bytes.append(contentsOf: value) }

  /// Lets the caller append bytes.
  mutating func append(_ body: (inout [UInt8]) -> Void) { body(&bytes) }

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

  /// Seven bits a byte, the lowest first; the eighth bit marks that more follow.
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
