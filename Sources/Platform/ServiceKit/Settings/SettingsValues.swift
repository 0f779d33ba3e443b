/// Where a value came from, lowest precedence first.
public enum SettingSource: Sendable, Equatable, CustomStringConvertible {
  /// The declaration.
  case standard
  /// A configuration file.
  case file(String)
  /// An environment variable, by name.
  case environment(String)
  /// The command line.
  case flag

  /// For a person: `default`, `file nudge.json`, `NUDGE_STATE_DIR`, `flag`.
  public var description: String {
    switch self {
    case .standard: "default"
    case .file(let path): "file \(path)"
    case .environment(let name): name
    case .flag: "flag"
    }
  }
}

/// The values of all settings of a schema.
public struct SettingsValues: Sendable {
  struct Entry: Sendable {
    let declaration: SettingDeclaration
    var value: any SettingValue
    /// All that had a part in it: more than one for settings that merge.
    var sources: [SettingSource]
  }

  private(set) var entries: [Entry] = []

  /// The value of a setting that is in the schema; asking for one that is not is a mistake in the program and traps.
  public subscript<Value>(_ setting: Setting<Value>) -> Value {
    guard let value = entry(setting.name)?.value as? Value else {
      preconditionFailure(
        "setting '\(setting.name)' is not in the schema that was parsed, or is there with another type")
    }
    return value
  }

  /// Where a setting's value came from.
  public func source(of setting: any AnySetting) -> SettingSource {
    entry(setting.name)?.sources.last ?? .standard
  }

  /// Every value with its source, secrets masked, a line each: what `--print-config` prints.
  public var report: String {
    let names = entries.map { "\($0.declaration.name)" }
    let width = names.map(\.count).max() ?? 0
    return entries.map { entry in
      let value = entry.declaration.shown(entry.value)
      let name = entry.declaration.name
      let sources = entry.sources.map(\.description).joined(separator: ", ")
      return
        "\(name)\(String(repeating: " ", count: width - name.count)) = \(value.isEmpty ? "-" : value)  (\(sources))"
    }.joined(separator: "\n")
  }

  /// One line in the log with all values that are not empty, secrets masked; to be written at start.
  public func log(to logger: Logger) {
    var metadata: [String: LogValue] = [:]
    for entry in entries {
      let value = entry.declaration.shown(entry.value)
      // An empty one would hide the logger's own metadata of that name, such as the instance.
      if !value.isEmpty { metadata[entry.declaration.name] = .string(value) }
    }
    logger.info("settings", metadata)
  }

  private func entry(_ name: String) -> Entry? { entries.first { $0.declaration.name == name } }

  mutating func append(_ entry: Entry) { entries.append(entry) }
}
