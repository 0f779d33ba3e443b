public import NudgeSchema

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
  /// In an array of its own: most kinds have one version, and are packed without memory for an array.
  private var later: [Step] = []

  /// A kind of row that is written as this version from a level on.
  public init(_ version: UInt8, from level: FormatLevel = .first) { first = Step(level: level, version: version) }

  /// The same, and a later version from a later level on.
  public func and(_ version: UInt8, from level: FormatLevel) -> Self {
    let last = later.last ?? first
    precondition(last.level < level && last.version < version, "levels and versions rise together")
    var versions = self
    versions.later.append(Step(level: level, version: version))
    return versions
  }

  /// The latest version, which is the latest that is read.
  public var latest: UInt8 { (later.last ?? first).version }

  /// The version that is written at a level; nil: the level does not have this kind of row.
  public func version(at level: FormatLevel) -> UInt8? {
    if let step = later.last(where: { $0.level <= level }) { return step.version }
    return first.level <= level ? first.version : nil
  }
}
