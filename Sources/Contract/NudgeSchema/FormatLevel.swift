/// Numbers the internal formats of a deployment: the versions of its rows, and the types of records and pushes on the
/// topics that only Nudge writes.
///
/// A release that changes these formats raises the level, but writes the former one until an operator finalises the
/// upgrade (`nudge upgrade finalize`). Until then the previous release can read everything, so a rollback is possible.
/// Each task stores the level that it writes in its position record.
public struct FormatLevel: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
  /// Counts from 1.
  public let number: Int32

  /// The level of release 0.3.0. Earlier releases have no levels.
  public static let first = FormatLevel(1)
  /// The highest level that this release knows.
  public static let latest = first

  /// A release that raised the level.
  public struct Entry: Sendable {
    /// The new level.
    public var level: FormatLevel
    /// The release's version.
    public var release: String
    /// What the level adds, for people. Earlier releases cannot read it.
    public var adds: String

    /// An entry of the history.
    public init(_ level: FormatLevel, release: String, adds: String) {
      self.level = level
      self.release = release
      self.adds = adds
    }
  }

  /// The releases that raised the level, in order.
  public static let history: [Entry] = [
    Entry(.first, release: "0.3.0", adds: "rows and records as 0.3.0 writes them")
  ]

  /// The level of this number.
  public init(_ number: Int32) { self.number = number }

  /// Reads a number.
  public init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int32.self) }

  /// Writes the number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }

  /// Whether the first one is lower.
  public static func < (a: Self, b: Self) -> Bool { a.number < b.number }

  /// The number.
  public var description: String { "\(number)" }
}
