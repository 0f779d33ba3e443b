/// A value in a configuration file.
enum ConfigurationValue: Decodable {
  case text(String)
  case list([ConfigurationValue])
  case object([String: ConfigurationValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let flag = try? container.decode(Bool.self) {
      self = .text(String(flag))
    } else if let number = try? container.decode(Int.self) {
      self = .text(String(number))
    } else if let number = try? container.decode(Double.self) {
      self = .text(number.settingText)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([ConfigurationValue].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: ConfigurationValue].self))
    }
  }

  /// The texts to parse: one per entry for a repeated setting, one text with commas for a list. Nil if the kind does not fit.
  func texts(repeated: Bool) -> [String]? {
    switch self {
    case .text(let text): return [text]
    case .list(let elements):
      var texts: [String] = []
      for element in elements {
        guard case .text(let text) = element else { return nil }
        texts.append(text)
      }
      return repeated ? texts : [texts.joined(separator: ",")]
    case .object(let entries):
      guard repeated else { return nil }
      var texts: [String] = []
      for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
        guard case .text(let text) = entry else { return nil }
        texts.append("\(name)=\(text)")
      }
      return texts
    }
  }
}
