import Foundation

/// Lays help out for a terminal: wraps texts, columns and command lines at a width.
struct HelpLayout {
  /// Columns of a line.
  let width: Int

  init(width: Int) { self.width = width }

  /// The layout for this process's standard output: `COLUMNS`, or the terminal's width, or 80; at most 120 columns.
  init(environment: [String: String]) {
    var size = winsize()
    let isTerminal = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    let asked = environment["COLUMNS"].flatMap { Int($0) } ?? (isTerminal ? Int(size.ws_col) : 80)
    self.init(width: min(max(asked, 40), 120))
  }

  /// A text in lines of the width. Lines after the first begin with `indent` blanks; `used` columns of the first are taken.
  func wrapped(_ text: String, indent: Int = 0, used: Int = 0) -> String {
    var lines: [String] = []
    var line = ""
    var column = used
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if !lines.isEmpty || !line.isEmpty {
        lines.append(line)
        (line, column) = ("", indent)
      }
      for word in paragraph.split(separator: " ", omittingEmptySubsequences: true) {
        if !line.isEmpty, column + 1 + word.count > width {
          lines.append(line)
          (line, column) = ("", indent)
        }
        if !line.isEmpty {
          line += " "
          column += 1
        }
        line += word
        column += word.count
      }
    }
    lines.append(line)
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
  }

  /// Names on the left, their meanings on the right. A name too long for its column stands on a line of its own.
  func columns(_ rows: [(String, String)]) -> String {
    let left = min(30, rows.map(\.0.count).max() ?? 0)
    return rows.map { name, meaning in
      let indent = left + 4
      let text = wrapped(meaning, indent: indent, used: indent)
      guard name.count <= left else { return "  \(name)\n\(String(repeating: " ", count: indent))\(text)" }
      return "  \(name)\(String(repeating: " ", count: left - name.count))  \(text)"
    }.joined(separator: "\n")
  }

  /// Command lines; one that is too long continues after a backslash, before a flag.
  func examples(_ lines: [String]) -> String {
    lines.map { line in
      var shown = "  "
      var column = 2
      for (index, part) in line.components(separatedBy: " --").enumerated() {
        let part = index == 0 ? part : " --" + part
        if index > 0, column + part.count + 2 > width {
          shown += " \\\n     "
          column = 5
        }
        shown += part
        column += part.count
      }
      return shown
    }.joined(separator: "\n")
  }
}
