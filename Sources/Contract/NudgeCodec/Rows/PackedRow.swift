public import NudgeSchema

/// A row of state that is written packed: one byte for its version, then its fields without names. It takes a fifth of the
/// bytes of JSON and a fiftieth of Foundation's time.
///
/// Its `Codable` is the same row as JSON: what `nudge state show` prints, and what was written before there were packed
/// rows, which is still read. A row begins with its version, which is never that of a JSON document (`{` or `[`).
///
/// A new field raises the version, and names the level from which it is written; below that level `pack` leaves it out
/// (`RowWriter.version`). Where it has a flag (`RowFlags`) behind those of the version before, rows of that one are read by the same
/// code, with the field's default. `oldestVersion` says how far back that goes. A program refuses rows of versions, and fields, that
/// it does not know: it would lose them.
public protocol PackedRow: Codable {
  /// The versions that are written, by level; the latest of them is the latest that is read.
  static var versions: RowVersions { get }
  /// The oldest version that is read.
  static var oldestVersion: UInt8 { get }
  /// The row's kind, for errors.
  static var name: StaticString { get }
  init(packed row: inout RowReader) throws(RowFormatError)
  func pack(into row: inout RowWriter)
}

extension PackedRow {
  /// Version 1, at each level.
  public static var versions: RowVersions { RowVersions(1) }
  /// The latest version.
  public static var version: UInt8 { versions.latest }
  /// 1
  public static var oldestVersion: UInt8 { 1 }

  /// Reads a row, packed or JSON. Throws `RowFormatError`, or `DecodingError` for JSON that is no such row.
  public init(bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
    if let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      self = try coder.decode(Self.self, from: bytes)
      return
    }
    var row = try RowReader(bytes, versions: Self.oldestVersion...Self.version, row: Self.name)
    try self.init(packed: &row)
    try row.end()
  }

  /// The row packed as its latest version: the same bytes for the same value, on any machine.
  public func packed(capacity: Int = 128) -> [UInt8] { packed(as: Self.version, capacity: capacity) }

  /// The row packed as it is written at a level.
  /// - Throws: `RowFormatError` where the level does not have this kind of row: the release before could not read it.
  public func packed(at level: FormatLevel, capacity: Int = 128) throws(RowFormatError) -> [UInt8] {
    guard let version = Self.versions.version(at: level) else {
      throw RowFormatError(
        row: "\(Self.name)",
        reason:
          "level \(level), which is in force, does not have this kind of row: nudge upgrade finalize raises the level")
    }
    return packed(as: version, capacity: capacity)
  }

  private func packed(as version: UInt8, capacity: Int) -> [UInt8] {
    var row = RowWriter(version: version, capacity: capacity)
    pack(into: &row)
    return row.bytes
  }
}
