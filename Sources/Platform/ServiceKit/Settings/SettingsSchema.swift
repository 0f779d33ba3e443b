/// The settings of a program or command, with the other texts of its help.
public struct SettingsSchema: Sendable {
  /// The name on the command line: `nudge-ingest`, `nudge topics create`.
  public let program: String
  let abstract: String
  let discussion: String
  let version: String?
  let settings: [SettingDeclaration]
  let arguments: [PositionalArgument]
  let examples: [String]
  let hasProgramFlags: Bool

  /// The schema of a program, with `--help`, `--version`, `--print-config` and `--check`. A setting named `config` is
  /// the path of a configuration file.
  /// - Parameters:
  ///   - discussion: Further text for the help.
  ///   - examples: Complete command lines.
  public init(
    program: String, abstract: String, discussion: String = "", version: String, settings: [any AnySetting],
    examples: [String] = []
  ) {
    self.init(
      program: program, abstract: abstract, discussion: discussion, version: version, settings: settings, arguments: [],
      examples: examples, hasProgramFlags: true)
  }

  init(
    program: String, abstract: String, discussion: String = "", version: String?, settings: [any AnySetting],
    arguments: [PositionalArgument], examples: [String], hasProgramFlags: Bool
  ) {
    self.program = program
    self.abstract = abstract
    self.discussion = discussion
    self.version = version
    self.settings = settings.map(\.declaration)
    self.arguments = arguments
    self.examples = examples
    self.hasProgramFlags = hasProgramFlags
    let names = self.settings.map(\.name)
    precondition(Set(names).count == names.count, "\(program): a setting is declared twice among \(names)")
  }

  /// What a command line asks for.
  public enum Request: Sendable {
    /// Run with these values.
    case run(SettingsValues)
    /// `--check`: verify that the program can run with these values, then end.
    case check(SettingsValues)
    /// Print this text (help, version or configuration) and exit with 0.
    case print(String)
  }

  /// Reads flags, environment and configuration file; earlier sources take precedence.
  /// - Parameters:
  ///   - arguments: Without the program's name.
  ///   - readFile: The bytes of a file by its path.
  /// - Throws: `SettingsError` for the first mistake.
  public func parse(
    _ arguments: [String], environment: [String: String],
    readFile: (String) throws -> [UInt8] = { try FileContent.read($0) }
  ) throws(SettingsError) -> Request {
    var parser = SettingsParser(schema: self, environment: environment)
    return try parser.parse(arguments, readFile: readFile).request
  }
}

extension SettingsSchema {
  /// The variables of an environment that set one of these settings, with secrets masked.
  public func shown(_ environment: [String: String]) -> [String: String] {
    var shown: [String: String] = [:]
    for setting in settings {
      if case .prefix(let prefix) = setting.environment {
        let own = environment.filter { $0.key.hasPrefix(prefix) && $0.key.count > prefix.count }
        shown.merge(
          SettingDeclaration.shown(own) { setting.isSecretName(SettingDeclaration.entryName(of: $0, prefix: prefix)) }
        ) { first, _ in first }
      }
      for name in setting.environmentNames {
        guard let text = environment[name] else { continue }
        shown[name] = text.isEmpty ? "" : setting.secret ? SettingDeclaration.mask : PublicText.value(text)
      }
    }
    return shown
  }
}

/// librdkafka's properties in a form that may be shown.
public enum KafkaProperties {
  /// The properties with secret values masked.
  public static func shown(_ properties: [String: String]) -> [String: String] {
    SettingDeclaration.shown(properties, isSecret: PublicKafkaProperties.isSecret)
  }

  /// The values that must not be shown.
  public static func secrets(_ properties: [String: String]) -> [String] {
    properties.filter { PublicKafkaProperties.isSecret($0.key) }.map(\.value)
  }
}

/// A positional argument of a command line.
public struct PositionalArgument: Sendable {
  /// The allowed number of values.
  public enum Count: Sendable {
    /// Exactly one.
    case one
    /// One or none.
    case optional
    /// All remaining values, at least one.
    case many
  }

  let name: String
  let help: String
  let count: Count

  /// - Parameter name: Shown in capitals in the help.
  public init(_ name: String, help: String, count: Count = .one) {
    self.name = name
    self.help = help
    self.count = count
  }

  var shown: String {
    let name = name.uppercased()
    return switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .many: "\(name) …"
    }
  }
}

/// The source of a value, lowest precedence first.
public enum SettingSource: Sendable, Equatable, CustomStringConvertible {
  /// The default in the declaration.
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
    /// All sources that contributed: more than one for settings that merge.
    var sources: [SettingSource]
  }

  private(set) var entries: [Entry] = []

  /// The value of a setting in the schema. Asking for any other setting is a programming error and traps.
  public subscript<Value>(_ setting: Setting<Value>) -> Value {
    guard let value = entry(setting.name)?.value as? Value else {
      preconditionFailure(
        "setting '\(setting.name)' is not in the schema that was parsed, or is there with another type")
    }
    return value
  }

  /// The source of a setting's value.
  public func source(of setting: any AnySetting) -> SettingSource {
    entry(setting.name)?.sources.last ?? .standard
  }

  /// The output of `--print-config`: one line for each value with its source, secrets masked.
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

  /// Logs all values that are not empty in one line, with secrets masked. Call it at the start.
  public func log(to logger: Logger) {
    var metadata: [String: LogValue] = [:]
    for entry in entries {
      let value = entry.declaration.shown(entry.value)
      // An empty value would hide the logger's own metadata of that name, such as the instance.
      if !value.isEmpty { metadata[entry.declaration.name] = .string(value) }
    }
    logger.info("settings", metadata)
  }

  private func entry(_ name: String) -> Entry? { entries.first { $0.declaration.name == name } }

  mutating func append(_ entry: Entry) { entries.append(entry) }
}

/// A mistake on the command line, in the environment or in a configuration file, with its fix. The process exits with
/// `ExitCode.usage`.
public struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text for people: the setting, its value and what is allowed.
  public let description: String

  /// An error with a text for people.
  public init(_ description: String) { self.description = description }
}
