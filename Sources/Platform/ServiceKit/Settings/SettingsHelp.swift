import Foundation

/// The text of `--help` and the tables of docs/configuration.md.
enum SettingsHelp {
  static func text(of schema: SettingsSchema, layout: HelpLayout) -> String {
    var usage = "Usage: \(schema.program)"
    for argument in schema.arguments { usage += " \(argument.shown)" }
    usage += " [flags]"
    var sections = [layout.wrapped(schema.abstract)]
    if !schema.discussion.isEmpty { sections.append(layout.wrapped(schema.discussion)) }
    sections.append(layout.wrapped(usage, indent: 4))
    if !schema.arguments.isEmpty {
      sections.append(
        "Arguments:\n" + layout.columns(schema.arguments.map { ($0.name.uppercased(), $0.help) }))
    }
    let required = schema.settings.filter(\.isRequired)
    let others = schema.settings.filter { !$0.isRequired }
    if !required.isEmpty { sections.append("Required:\n" + layout.columns(required.map(row))) }
    sections.append("Flags:\n" + layout.columns(others.map(row) + programRows(schema)))
    if schema.settings.contains(where: { $0.environmentText != nil }) {
      let file = schema.settings.contains { $0.name == "config" }
      sections.append(
        layout.wrapped("A flag wins over the environment\(file ? ", the environment over the file of --config" : "")."))
    }
    if !schema.examples.isEmpty {
      sections.append("Examples:\n" + layout.examples(schema.examples))
    }
    return sections.joined(separator: "\n\n")
  }

  private static func row(_ setting: SettingDeclaration) -> (String, String) {
    let flag = setting.isFlag ? "--[no-]\(setting.name)" : "--\(setting.name) \(setting.placeholder)"
    var notes: [String] = []
    if setting.isRepeated { notes.append("may be repeated") }
    if let text = setting.defaultValue?.settingText, !text.isEmpty { notes.append("default: \(text)") }
    if let variable = setting.environmentText { notes.append("env: \(variable)") }
    return (flag, setting.help + (notes.isEmpty ? "" : "\n(\(notes.joined(separator: "; ")))"))
  }

  private static func programRows(_ schema: SettingsSchema) -> [(String, String)] {
    var rows: [(String, String)] = []
    if schema.hasProgramFlags {
      rows.append(("--print-config", "Print every setting with its source, secrets masked, and exit."))
      rows.append(("--check", "Check the settings and the files they name, and exit."))
      rows.append(("--version", "Print the version and exit."))
    }
    rows.append(("--help", "Print this help and exit."))
    return rows
  }
}

extension SettingsSchema {
  /// The settings as a Markdown table, for docs/configuration.md.
  public var markdownTable: String {
    var lines = ["| flag | environment | default | meaning |", "|---|---|---|---|"]
    for setting in settings {
      let flag = setting.isFlag ? "`--\(setting.name)`" : "`--\(setting.name) \(setting.placeholder)`"
      let environment = setting.environmentText.map { "`\($0)`" } ?? ""
      let text = setting.defaultValue?.settingText ?? ""
      let standard = setting.isRequired ? "required" : text.isEmpty ? "" : "`\(text)`"
      var meaning = setting.help
      if setting.isRepeated { meaning += " May be repeated." }
      if setting.secret { meaning += " Secret." }
      let cells = [flag, environment, standard, meaning]
        .map { $0.replacing("|", with: "\\|").replacing("\n", with: " ") }
      lines.append("| \(cells.joined(separator: " | ")) |")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// Lays out help for a terminal: wraps texts, columns and command lines.
struct HelpLayout {
  /// The number of columns in a line.
  let width: Int

  init(width: Int) { self.width = width }

  /// The layout for this process's standard output. The width is `COLUMNS`, the terminal's width or 80, but at most 120
  /// columns.
  init(environment: [String: String]) {
    var size = winsize()
    let isTerminal = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    let asked = environment["COLUMNS"].flatMap { Int($0) } ?? (isTerminal ? Int(size.ws_col) : 80)
    self.init(width: min(max(asked, 40), 120))
  }

  /// A text wrapped at the width. Lines after the first begin with `indent` blanks; `used` columns of the first line
  /// are taken.
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

  /// Names on the left, meanings on the right. A name that is too long for its column gets its own line.
  func columns(_ rows: [(String, String)]) -> String {
    let left = min(30, rows.map(\.0.count).max() ?? 0)
    return rows.map { name, meaning in
      let indent = left + 4
      let text = wrapped(meaning, indent: indent, used: indent)
      guard name.count <= left else { return "  \(name)\n\(String(repeating: " ", count: indent))\(text)" }
      return "  \(name)\(String(repeating: " ", count: left - name.count))  \(text)"
    }.joined(separator: "\n")
  }

  /// Command lines. A line that is too long continues after a backslash, before a flag.
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
