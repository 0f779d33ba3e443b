/// Writes a packed row of state: its version, then its fields in their order, without names.
///
/// Integers take 7 bits a byte, the lowest first (LEB128); signed ones are folded first, so that small negative numbers
/// stay short (zigzag). Texts are their length and their UTF-8.
public struct RowWriter {
  /// The bytes written so far.
  public private(set) var bytes: [UInt8] = []

  /// A writer that begins with room for `capacity` bytes, and grows.
  public init(version: UInt8, capacity: Int = 128) {
    bytes.reserveCapacity(capacity)
    bytes.append(version)
  }

  /// A byte, e.g. of switches.
  public mutating func byte(_ value: UInt8) { bytes.append(value) }

  /// A number that is not negative.
  public mutating func unsigned(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  public mutating func signed(_ value: Int64) {
    unsigned(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  public mutating func signed(_ value: Int) { signed(Int64(value)) }

  /// A number of which every bit is as likely as any other: always eight bytes.
  public mutating func fixed(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  public mutating func text(_ value: String) {
    unsigned(UInt64(value.utf8.count))
    let wasContiguous: Void? = value.utf8.withContiguousStorageIfAvailable {
      bytes.append(contentsOf: $0)
    }
    if wasContiguous == nil { bytes.append(contentsOf: value.utf8) }
  }

  /// Bytes as they are, with their number before them.
  public mutating func blob(_ value: [UInt8]) {
    unsigned(UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  /// How many values follow.
  public mutating func count(_ count: Int) { unsigned(UInt64(count)) }
}
