/// A value of a fixed list, written as its name. Reading a name that is not in the list fails with the list, so that whoever is refused
/// learns what is taken.
public protocol NamedValue: RawRepresentable<String>, CaseIterable, Codable, Sendable {}

extension NamedValue {
  /// Reads a name. Throws `DecodingError` with the names there are for another.
  public init(from decoder: any Decoder) throws {
    guard let value = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath, debugDescription: "none of the values allowed",
          underlyingError: UnknownName(known: Self.allCases.map(\.rawValue))))
    }
    self = value
  }
}

/// A name is not in the list of its type. It does not keep the name, which a producer wrote.
struct UnknownName: Error {
  let known: [String]
}
