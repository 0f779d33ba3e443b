/// The text of `--help` and the tables of docs/configuration.md.
enum SettingsHelp {
  static func text(of schema: SettingsSchema) -> String {
    var usage = "Usage: \(schema.program)"
    for argument in schema.arguments { usage += " \(argument.shown)" }
    usage += " [flags]"
    var sections = [schema.abstract, usage]
    if !schema.arguments.isEmpty {
      sections.append(
        "Arguments:\n" + columns(schema.arguments.map { ($0.name.uppercased(), $0.help) }))
    }
    let required = schema.settings.filter(\.isRequired)
    let others = schema.settings.filter { !$0.isRequired }
    if !required.isEmpty { sections.append("Required:\n" + columns(required.map(row))) }
    sections.append("Flags:\n" + columns(others.map(row) + programRows(schema)))
    if schema.settings.contains(where: { $0.environmentText != nil }) {
      let file = schema.settings.contains { $0.name == "config" }
      sections.append(
        "A flag wins over the environment\(file ? ", the environment over the file of --config" : "").")
    }
    if !schema.examples.isEmpty {
      sections.append("Examples:\n" + schema.examples.map { "  \($0)" }.joined(separator: "\n"))
    }
    return sections.joined(separator: "\n\n")
  }

  /// The names on the left, what they mean on the right.
  static func columns(_ rows: [(String, String)]) -> String {
    // A name that is too long for the column stands on a line of its own.
    let width = min(30, rows.map(\.0.count).max() ?? 0)
    return rows.map { name, meaning in
      let indented = String(repeating: " ", count: width + 4)
      let meaning = meaning.replacing("\n", with: "\n" + indented)
      guard name.count <= width else { return "  \(name)\n\(indented)\(meaning)" }
      return "  \(name)\(String(repeating: " ", count: width - name.count))  \(meaning)"
    }.joined(separator: "\n")
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
