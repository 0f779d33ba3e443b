import JSONCodec

/// JSON as YAML for people: block style, members in their order, every text in double quotes, which YAML reads as JSON does.
enum YAMLText {
  static func of(_ json: [UInt8], comment: String) throws -> String {
    try JSONParser(maximumDepth: 256).parse(json) { root in
      var text = "# \(comment)\n"
      write(root, indent: 0, to: &text)
      return text
    }
  }

  /// Writes a value whose first line begins where the text ends.
  private static func write(_ node: JSONNode, indent: Int, to text: inout String) {
    let margin = String(repeating: " ", count: indent)
    if let members = node.members {
      for (number, member) in members.enumerated() {
        if number > 0 { text += margin }
        text += key(member.key.string ?? "") + ":"
        writeValue(member.value, indent: indent, to: &text)
      }
    } else if let elements = node.elements {
      for (number, element) in elements.enumerated() {
        if number > 0 { text += margin }
        text += "-"
        if isBlock(element) {
          text += " "
          write(element, indent: indent + 2, to: &text)
        } else {
          text += " \(scalar(element))\n"
        }
      }
    } else {
      text += "\(scalar(node))\n"
    }
  }

  private static func writeValue(_ value: JSONNode, indent: Int, to text: inout String) {
    guard isBlock(value) else {
      text += " \(scalar(value))\n"
      return
    }
    text += "\n" + String(repeating: " ", count: indent + 2)
    write(value, indent: indent + 2, to: &text)
  }

  /// An object or array that is not empty.
  private static func isBlock(_ node: JSONNode) -> Bool {
    if var members = node.members { return members.next() != nil }
    if var elements = node.elements { return elements.next() != nil }
    return false
  }

  private static func scalar(_ node: JSONNode) -> String {
    switch node.kind {
    case .object: "{}"
    case .array: "[]"
    case .string: quoted(node.string ?? "")
    case .int64: String(node.int64 ?? 0)
    case .uint64: String(node.uint64 ?? 0)
    case .double: String(node.double ?? 0)
    case .bool: node.bool == true ? "true" : "false"
    case .null: "null"
    }
  }

  private static func key(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case 65...90, 97...122, 95: true
      default: false
      }
    }
    return isPlain && !["true", "false", "null", "yes", "no", "on", "off"].contains(text.lowercased())
      ? text : quoted(text)
  }

  private static func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.value(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
