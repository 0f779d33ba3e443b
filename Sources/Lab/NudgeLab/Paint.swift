/// Colours text if the terminal and the user allow it.
struct Paint: Sendable {
  let isOn: Bool

  func bold(_ text: String) -> String { painted("1", text) }
  func dim(_ text: String) -> String { painted("2", text) }
  func green(_ text: String) -> String { painted("32", text) }
  func red(_ text: String) -> String { painted("31", text) }

  private func painted(_ code: String, _ text: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
