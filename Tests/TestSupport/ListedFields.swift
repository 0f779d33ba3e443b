public import NudgeCodec

/// Finds the fields of rows that their lists (`PackedFields`) do not have: such a field is lost when its row is packed.
///
/// It takes full rows of a kind. A field must come back as it was, and one of the rows must have another value in it than a blank row:
/// else nobody knows whether it comes back.
public struct ListedFields {
  private var lost: Set<String> = []
  /// By the row's kind, the fields that were in each row as they are in a blank one.
  private var blank: [String: Set<String>] = [:]

  public init() {}

  /// Takes a full row.
  public mutating func take<Row: PackedRow>(_ row: Row, blank: Row) throws {
    let read = try row.packed().withUnsafeBytes { try Row(bytes: $0) }
    for ((field, value), (_, now)) in zip(Mirror(reflecting: row).children, Mirror(reflecting: read).children)
    where String(reflecting: value) != String(reflecting: now) {
      lost.insert("\(Row.self).\(field ?? "")")
    }
    let paths = Self.blankFields(of: row, blank, at: "\(Row.self)")
    self.blank["\(Row.self)"] = self.blank["\(Row.self)"]?.intersection(paths) ?? paths
  }

  /// Takes a full row.
  public mutating func take<Row: PackedRow & PackedFields>(_ row: Row) throws { try take(row, blank: .blank) }

  /// The fields that are lost, or that no row said anything in.
  public var missing: [String] {
    lost.sorted().map { "\($0) is lost: the list of fields does not have it" }
      + blank.values.joined().sorted().map { "\($0) is in no row other than in a blank one: the test's rows lack it" }
  }

  /// The fields of a value, and of the parts of it that have lists, that are as in a blank one.
  private static func blankFields(of value: Any, _ blank: Any, at path: String) -> Set<String> {
    var found: Set<String> = []
    for ((field, value), (_, blank)) in zip(Mirror(reflecting: value).children, Mirror(reflecting: blank).children) {
      let path = "\(path).\(field ?? "")"
      if String(reflecting: value) == String(reflecting: blank) {
        found.insert(path)
      } else {
        let parts = parts(of: value).map { blankFields(of: $0, type(of: $0).blank, at: path) }
        if let first = parts.first { found.formUnion(parts.dropFirst().reduce(first) { $0.intersection($1) }) }
      }
    }
    return found
  }

  /// A value with a list of its own, or those in a list of them.
  private static func parts(of value: Any) -> [any PackedFields] {
    if let part = value as? any PackedFields { return [part] }
    switch Mirror(reflecting: value).displayStyle {
    case .optional, .collection: return Mirror(reflecting: value).children.flatMap { parts(of: $0.value) }
    default: return []
    }
  }
}
