/// The bytes are not a row that this program reads. State is never guessed: the task stops.
public struct RowFormatError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The row's kind, e.g. `conversation`.
  public var row: String
  /// The error, with the fix where one is known.
  public var reason: String

  /// The row and what is wrong with it.
  public var description: String { "row \"\(row)\": \(reason)" }
}

/// Reads a packed row, as `RowWriter` wrote it. It borrows the bytes.
public struct RowReader {
  private let bytes: UnsafeRawBufferPointer
  private let row: StaticString
  private var index = 1
  /// The flags of the list that is read.
  @usableFromInline var given = RowFlags()
  /// The version of the row that is read.
  public let version: UInt8

  /// A reader of a row of one of those versions. Throws for another version.
  public init(_ bytes: UnsafeRawBufferPointer, versions: ClosedRange<UInt8>, row: StaticString)
    throws(RowFormatError)
  {
    self.bytes = bytes
    self.row = row
    version = bytes.first ?? 0
    guard let found = bytes.first else { throw error("it is empty") }
    guard versions.contains(found) else {
      let known = versions.count == 1 ? "\(versions.upperBound)" : "\(versions.lowerBound) to \(versions.upperBound)"
      throw error(
        "its version is \(found); this program reads \(known), and JSON as written before there were versions: "
          + "run the version that wrote it, or a later one")
    }
  }

  /// Whether all is read.
  public var isAtEnd: Bool { index == bytes.count }

  /// Throws unless all is read.
  public func end() throws(RowFormatError) {
    guard isAtEnd else {
      throw error(
        "it has fields that this program does not know: run the version that wrote it, or a later one"
      )
    }
  }

  public mutating func byte() throws(RowFormatError) -> UInt8 {
    guard index < bytes.count else { throw truncated() }
    defer { index += 1 }
    return bytes[index]
  }

  /// A number that is not negative.
  public mutating func unsigned() throws(RowFormatError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      guard shift < 63 || byte <= 1 else { throw error("a number has more than 64 bits") }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
  }

  public mutating func signed() throws(RowFormatError) -> Int64 {
    let folded = try unsigned()
    return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
  }

  /// A partition, with a generation above its 32 bits where there is one.
  mutating func place() throws(RowFormatError) -> (partition: Int32, generation: Int32?) {
    let place = try signed()
    if let partition = Int32(exactly: place) { return (partition, nil) }
    guard place > UInt32.max else { throw error("a partition has more than 32 bits") }
    return (Int32(truncatingIfNeeded: place), Int32(truncatingIfNeeded: place >> 32))
  }

  /// A number of eight bytes.
  public mutating func fixed() throws(RowFormatError) -> UInt64 {
    guard bytes.count - index >= 8 else { throw truncated() }
    defer { index += 8 }
    return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  public mutating func text() throws(RowFormatError) -> String {
    let count = try count()
    defer { index += count }
    return String(
      decoding: UnsafeRawBufferPointer(rebasing: bytes[index..<index + count]), as: UTF8.self)
  }

  /// Bytes as they are.
  public mutating func blob() throws(RowFormatError) -> [UInt8] {
    let count = try count()
    defer { index += count }
    return [UInt8](UnsafeRawBufferPointer(rebasing: bytes[index..<index + count]))
  }

  /// How many values follow: no more than there are bytes.
  public mutating func count() throws(RowFormatError) -> Int {
    let count = try unsigned()
    guard count <= UInt64(bytes.count - index) else { throw truncated() }
    return Int(count)
  }

  /// One of an enum's values, by its number.
  @inlinable
  public mutating func choice<Choice>(of choices: [Choice]) throws(RowFormatError) -> Choice {
    let number = Int(try byte())
    guard number < choices.count else {
      throw error("it has a value that this program does not know")
    }
    return choices[number]
  }

  private func truncated() -> RowFormatError { error("it ends before all of its fields") }

  /// The error for fields that contradict each other.
  public func error(_ reason: String) -> RowFormatError {
    RowFormatError(row: "\(row)", reason: reason)
  }
}

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
  /// The flags of the list that is packed.
  @usableFromInline var given = RowFlags()
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
