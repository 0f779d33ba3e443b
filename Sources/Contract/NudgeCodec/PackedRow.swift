public import NudgeSchema

/// A row of state that is written packed: one byte for its version, then its fields without names. It takes a fifth of the
/// bytes of JSON and a fiftieth of Foundation's time.
///
/// Its `Encodable` is the same row as JSON, which `nudge state show` prints.
///
/// A new field raises the version, and names the level from which it is written; below that level `pack` leaves it out
/// (`RowWriter.version`). Where it has a flag (`RowFlags`) behind those of the version before, rows of that one are read by the same
/// code, with the field's default. `oldestVersion` says how far back that goes. A program refuses rows of versions, and fields, that
/// it does not know: it would lose them.
public protocol PackedRow: PackedValue, Encodable {
  /// The versions that are written, by level; the latest of them is the latest that is read.
  static var versions: RowVersions { get }
  /// The oldest version that is read.
  static var oldestVersion: UInt8 { get }
  /// The row's kind, for errors.
  static var name: StaticString { get }
}

extension PackedRow {
  /// Version 1, at each level.
  public static var versions: RowVersions { RowVersions(1) }
  /// The latest version.
  public static var version: UInt8 { versions.latest }
  /// 1
  public static var oldestVersion: UInt8 { 1 }

  /// Reads a packed row.
  public init(bytes: UnsafeRawBufferPointer) throws(RowFormatError) {
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

/// The versions of a kind of row, by the level from which each is written.
///
/// ```swift
/// // Version 7 at level 1, 8 from level 2 on.
/// static var versions: RowVersions { RowVersions(7).and(8, from: FormatLevel(2)) }
/// ```
public struct RowVersions: Sendable, Equatable {
  private struct Step: Sendable, Equatable {
    var level: FormatLevel
    var version: UInt8
  }

  private let first: Step
  /// The later versions. Most kinds have one version, and are packed without memory for an array.
  private var later: [Step] = []

  /// A kind of row that is written as this version from a level on.
  public init(_ version: UInt8, from level: FormatLevel = .first) { first = Step(level: level, version: version) }

  /// Adds a later version from a later level on.
  public func and(_ version: UInt8, from level: FormatLevel) -> Self {
    let last = later.last ?? first
    precondition(last.level < level && last.version < version, "levels and versions rise together")
    var versions = self
    versions.later.append(Step(level: level, version: version))
    return versions
  }

  /// The latest version, which is the latest that is read.
  public var latest: UInt8 { (later.last ?? first).version }

  /// The version that is written at a level. Absent if the level does not have this kind of row.
  public func version(at level: FormatLevel) -> UInt8? {
    if let step = later.last(where: { $0.level <= level }) { return step.version }
    return first.level <= level ? first.version : nil
  }
}

extension RowWriter {
  /// One of an enum's values, by its number: new ones are added at the end.
  @inlinable
  public mutating func choice<Choice: Equatable>(_ choice: Choice, of choices: [Choice]) {
    byte(UInt8(choices.firstIndex(of: choice) ?? 0xFF))
  }
}
