/// A kind of field that changes only how something looks. Its value never refuses an event: it is made to fit, or ignored.
public enum CosmeticField: String, Sendable, CaseIterable {
  /// The language of a device or person.
  case locale
  /// The app's version.
  case appVersion
  /// The name of a person or group.
  case name
  /// Where a person's picture is.
  case avatarUrl
  /// Where an attachment is.
  case attachmentUrl
}

/// The cosmetic fields of an event that were ignored. Their paths are named, their values are not (T4).
public struct IgnoredFields: Sendable, Equatable, CustomStringConvertible {
  /// How many paths are kept: a conversation may have thousands of broken names.
  public static let maxPaths = 8

  /// The first `maxPaths` of their paths, e.g. `conversation.members[3].avatarUrl`.
  public private(set) var paths: [String] = []
  /// Their kinds.
  public private(set) var kinds: Set<CosmeticField> = []
  /// How many there are.
  public private(set) var count = 0

  /// None.
  public init() {}

  /// Whether there are none.
  public var isEmpty: Bool { count == 0 }

  mutating func add(_ kind: CosmeticField, _ path: String) {
    count += 1
    kinds.insert(kind)
    if paths.count < Self.maxPaths { paths.append(path) }
  }

  /// The paths, and how many more there are: `locale, appVersion`.
  public var description: String {
    let more = count - paths.count
    return paths.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }
}
