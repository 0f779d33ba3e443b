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
