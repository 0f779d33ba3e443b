/// Finds names in a text as chat apps and IRC do: `@name` anywhere, `name:` or `name,` at the beginning.
enum Mentions {
  /// The people named; nil if there are none. Names may contain blanks.
  static func named(in text: String, among people: [String]) -> [String]? {
    let named = people.filter { isNamed($0, in: text) }
    return named.isEmpty ? nil : named
  }

  private static func isNamed(_ person: String, in text: String) -> Bool {
    if text.hasPrefix(person), let next = text.dropFirst(person.count).first, next == ":" || next == "," { return true }
    var rest = text[...]
    while let at = rest.firstIndex(of: "@") {
      rest = rest[rest.index(after: at)...]
      guard rest.hasPrefix(person) else { continue }
      let end = rest.dropFirst(person.count).first
      if end.map({ !$0.isLetter && !$0.isNumber }) ?? true { return true }
    }
    return false
  }
}
