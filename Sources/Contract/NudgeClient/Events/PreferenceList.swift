/// A list of the user's preferences: the whole list, or what changes of it.
///
/// Two devices of a user may change a list at the same time. Publish what changes, so that neither takes back what the other did.
///
/// ```swift
/// change.muted = .changed(add: [.init(conversationId: "c1")])   // mutes one conversation more
/// change.muted = .changed(remove: ["c2"])                       // unmutes another
/// change.keywords = ["release", "deadline"]                     // replaces all
/// ```
public enum PreferenceList<Element: Codable & Sendable & Equatable>: Sendable, Equatable {
  /// The whole list; replaces the former one.
  case all([Element])
  /// Adds elements, in place of those with the same id, and removes those with these ids. The later change of an element wins.
  case changed(add: [Element] = [], remove: [String] = [])
}

extension PreferenceList: ExpressibleByArrayLiteral {
  /// The whole list.
  public init(arrayLiteral elements: Element...) { self = .all(elements) }
}

extension PreferenceList: Codable {
  private enum Key: String, CodingKey { case add, remove }

  /// Decodes what `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    guard let fields = try? decoder.container(keyedBy: Key.self) else {
      self = .all(try decoder.singleValueContainer().decode([Element].self))
      return
    }
    self = .changed(
      add: try fields.decodeIfPresent([Element].self, forKey: .add) ?? [],
      remove: try fields.decodeIfPresent([String].self, forKey: .remove) ?? [])
  }

  /// Encodes the whole list as an array, a change as an object.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .all(let elements):
      var container = encoder.singleValueContainer()
      try container.encode(elements)
    case .changed(let add, let remove):
      var fields = encoder.container(keyedBy: Key.self)
      if !add.isEmpty { try fields.encode(add, forKey: .add) }
      if !remove.isEmpty { try fields.encode(remove, forKey: .remove) }
    }
  }
}
