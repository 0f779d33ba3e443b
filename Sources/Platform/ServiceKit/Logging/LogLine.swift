/// The bytes of a log line, its newline included.
enum LogLine {
  /// Names of a line's own fields; metadata with the same name gets the prefix `_`.
  private static let reserved: Set<String> = ["time", "level", "label", "message"]

  static func bytes(of entry: LogEntry, as format: LogFormat) -> [UInt8] {
    switch format {
    case .json: json(entry)
    case .text: text(entry)
    }
  }

  private static func json(_ entry: LogEntry) -> [UInt8] {
    var line = "{\"time\":\"\(Timestamp.format(entry.time))\",\"level\":\"\(entry.level.rawValue)\",\"label\":"
    line += JSONText.quoted(entry.label)
    line += ",\"message\":"
    line += JSONText.quoted(entry.message)
    for (name, value) in entry.metadata.sorted(by: { $0.key < $1.key }) {
      line += ","
      line += JSONText.quoted(reserved.contains(name) ? "_" + name : name)
      line += ":"
      switch value {
      case .string(let text): line += JSONText.quoted(text)
      case .int(let number): line += String(number)
      case .double(let number): line += number.isFinite ? String(number) : JSONText.quoted(String(number))
      case .bool(let flag): line += flag ? "true" : "false"
      }
    }
    line += "}\n"
    return Array(line.utf8)
  }

  private static func text(_ entry: LogEntry) -> [UInt8] {
    let level = entry.level.rawValue.uppercased()
    let padding = String(repeating: " ", count: max(0, 7 - level.count))
    var line = "\(Timestamp.format(entry.time)) \(level)\(padding) \(entry.label): \(oneLine(entry.message))"
    for (name, value) in entry.metadata.sorted(by: { $0.key < $1.key }) {
      let text = value.description
      let plain = !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "=" }
      line += " \(name)=\(plain ? text : JSONText.quoted(text))"
    }
    line += "\n"
    return Array(line.utf8)
  }

  /// A message with a newline in it must not look like two lines.
  private static func oneLine(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 }) else { return text }
    return String(JSONText.quoted(text).dropFirst().dropLast())
  }
}
