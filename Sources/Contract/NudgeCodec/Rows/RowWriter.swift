/// Writes a packed row of state: its version, then its fields in their order, without names.
///
/// Integers take 7 bits a byte, the lowest first (LEB128); signed ones are folded first, so that small negative numbers
/// stay short (zigzag). Texts are their length and their UTF-8.
///
/// It writes into memory of its own, which goes with it: a row waits for its transaction and its store, and keeps no more memory than it
/// has bytes.
public struct RowWriter: ~Copyable {
  private var start: UnsafeMutablePointer<UInt8>
  private var length = 0
  private var capacity: Int
  /// The version of the row that is written: a field of a later one is left out.
  public let version: UInt8

  /// A writer that begins with room for `capacity` bytes, and grows.
  public init(version: UInt8, capacity: Int = 128) {
    self.capacity = max(16, capacity)
    self.version = version
    start = .allocate(capacity: self.capacity)
    byte(version)
  }

  deinit { start.deallocate() }

  /// The bytes written so far, in an array of just that size.
  public var bytes: [UInt8] { [UInt8](UnsafeBufferPointer(start: start, count: length)) }

  /// Makes room for this many more bytes.
  @inline(__always)
  private mutating func reserve(_ count: Int) {
    if capacity - length < count { grow(count) }
  }

  private mutating func grow(_ count: Int) {
    capacity = max(2 * capacity, length + count)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.initialize(from: start, count: length)
    start.deallocate()
    start = larger
  }

  /// Room must have been made.
  @inline(__always)
  private mutating func append(_ value: UInt8) {
    start[length] = value
    length += 1
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(start + length).copyMemory(from: base, byteCount: bytes.count)
    length += bytes.count
  }

  /// A byte, e.g. of switches.
  public mutating func byte(_ value: UInt8) {
    reserve(1)
    append(value)
  }

  /// A number that is not negative.
  public mutating func unsigned(_ value: UInt64) {
    // 64 bits, seven a byte.
    reserve(10)
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  public mutating func signed(_ value: Int64) {
    unsigned(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  public mutating func signed(_ value: Int) { signed(Int64(value)) }

  /// A number of which every bit is as likely as any other: always eight bytes.
  public mutating func fixed(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { append($0) }
  }

  public mutating func text(_ value: String) {
    var value = value
    value.withUTF8 { utf8 in
      unsigned(UInt64(utf8.count))
      append(UnsafeRawBufferPointer(utf8))
    }
  }

  /// Bytes as they are, with their number before them.
  public mutating func blob(_ value: [UInt8]) {
    unsigned(UInt64(value.count))
    value.withUnsafeBytes { append($0) }
  }

  /// How many values follow.
  public mutating func count(_ count: Int) { unsigned(UInt64(count)) }
}
