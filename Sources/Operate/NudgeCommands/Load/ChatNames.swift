import NudgeSchema

/// Ids and names for what chat logs call people and conversations. Nicks may be anything; ids may not.
enum ChatNames {
  /// Leaves room, of the 256 bytes an id may have, for what is put before and behind.
  static let maxBytes = 160

  /// The user id, and the shown name, of a nick: the nick without control characters.
  static func user(_ nick: String) -> String { id(nick, empty: "somebody") }

  /// The conversation id, and the shown name, of a log.
  static func conversation(_ log: String) -> String { id(log, empty: "somewhere") }

  private static func id(_ text: String, empty: String) -> String {
    var id = ""
    for character in text {
      let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
      if isControl { continue }
      guard id.utf8.count + character.utf8.count <= maxBytes else { break }
      id.append(character)
    }
    return id.isEmpty ? empty : id
  }

  /// A message's text, as long as an event's may be.
  static func text(_ text: String) -> String {
    guard text.utf8.count > SchemaLimits.textBytes else { return text }
    var cut = ""
    for character in text {
      guard cut.utf8.count + character.utf8.count <= SchemaLimits.textBytes else { break }
      cut.append(character)
    }
    return cut
  }
}
