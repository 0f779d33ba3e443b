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

  /// A number of 32 bits.
  public mutating func signed32() throws(RowFormatError) -> Int32 {
    guard let value = Int32(exactly: try signed()) else {
      throw error("a number has more than 32 bits")
    }
    return value
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
