import NudgeSchema

/// Turns names in chat logs, which may be anything, into valid ids.
package enum ChatNames {
  /// Leaves room in an id's 256 bytes for a prefix and a suffix.
  static let maxBytes = 160

  /// A nick's user id and display name: the nick without control characters.
  package static func user(_ nick: String) -> String { id(nick, empty: "somebody") }

  /// A log's conversation id and display name.
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

  /// A message's text, cut to the length an event may have.
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
