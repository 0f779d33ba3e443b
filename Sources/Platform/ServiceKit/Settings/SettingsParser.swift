import Foundation

/// Reads one command line with its environment and configuration file against a schema.
struct SettingsParser {
  struct Result {
    let request: SettingsSchema.Request
    let positional: [String: [String]]
  }

  /// A value given for a setting, before merging.
  private struct Given {
    let value: any SettingValue
    let source: SettingSource
  }

  private enum ProgramFlag: String, CaseIterable {
    case help
    case version
    case printConfig = "print-config"
    case check
  }

  private let schema: SettingsSchema
  private let environment: [String: String]
  private var flags: [String: [Given]] = [:]
  private var positional: [String] = []
  private var programFlags: Set<ProgramFlag> = []

  init(schema: SettingsSchema, environment: [String: String]) {
    self.schema = schema
    self.environment = environment
  }

  mutating func parse(_ arguments: [String], readFile: (String) throws -> [UInt8]) throws(SettingsError) -> Result {
    // Help comes before errors, because an error may be the reason to ask for it.
    let options = arguments.prefix { $0 != "--" }
    if options.contains("--help") || options.contains("-h") {
      return Result(
        request: .print(SettingsHelp.text(of: schema, layout: HelpLayout(environment: environment))), positional: [:])
    }
    try readFlags(arguments)
    if programFlags.contains(.version), let version = schema.version {
      return Result(request: .print("\(schema.program) \(version)"), positional: [:])
    }
    let file = try readConfiguration(readFile)
    var values = SettingsValues()
    let (placed, absent, extra) = placePositional()
    var missing = absent
    for setting in schema.settings {
      let given = try (file[setting.name] ?? []) + fromEnvironment(setting) + (flags[setting.name] ?? [])
      if let entry = merge(given, of: setting) {
        values.append(entry)
      } else {
        let variable = setting.environmentText.map { " or \($0)" } ?? ""
        missing.append("--\(setting.name) must be given: \(setting.help) Set --\(setting.name)\(variable)")
      }
    }
    // All at once, so that nobody finds them out one by one.
    if let extra { missing.append("unexpected argument '\(PublicText.value(extra))'") }
    guard missing.isEmpty else { throw SettingsError(missing.joined(separator: "\n") + seeHelp) }
    if programFlags.contains(.printConfig) { return Result(request: .print(values.report), positional: placed) }
    return Result(request: programFlags.contains(.check) ? .check(values) : .run(values), positional: placed)
  }

  // MARK: Flags

  private mutating func readFlags(_ arguments: [String]) throws(SettingsError) {
    var index = 0
    while index < arguments.count {
      let argument = arguments[index]
      index += 1
      if argument == "--" {
        positional += arguments[index...]
        return
      }
      guard argument.hasPrefix("-"), argument != "-" else {
        positional.append(argument)
        continue
      }
      guard argument.hasPrefix("--") else {
        throw SettingsError("unknown flag \(argument): flags begin with two dashes\(seeHelp)")
      }
      let equals = argument.firstIndex(of: "=")
      let name = String(argument[..<(equals ?? argument.endIndex)].dropFirst(2))
      let inlineValue = equals.map { String(argument[argument.index(after: $0)...]) }
      if schema.hasProgramFlags, let flag = ProgramFlag(rawValue: name) {
        guard inlineValue == nil else { throw SettingsError("--\(name) takes no value") }
        programFlags.insert(flag)
      } else if let setting = schema.settings.first(where: { $0.name == name }) {
        let text: String
        if let inlineValue {
          text = inlineValue
        } else if setting.isFlag {
          text = "true"
        } else if index < arguments.count, !arguments[index].hasPrefix("--") {
          text = arguments[index]
          index += 1
        } else {
          throw SettingsError("--\(name) needs a value: --\(name) \(setting.placeholder)")
        }
        try add(text, to: setting)
      } else if name.hasPrefix("no-"), inlineValue == nil,
        let setting = schema.settings.first(where: { $0.name == name.dropFirst(3) && $0.isFlag })
      {
        try add("false", to: setting)
      } else {
        throw SettingsError("unknown flag --\(name)" + nearest(to: name, prefix: "--"))
      }
    }
  }

  private mutating func add(_ text: String, to setting: SettingDeclaration) throws(SettingsError) {
    // A second value for a command's flag would silently replace the first. A service's flags may come from a
    // deployment that extends another one.
    guard schema.hasProgramFlags || setting.isRepeated || flags[setting.name] == nil else {
      throw SettingsError("--\(setting.name) is given twice, and has one value\(seeHelp)")
    }
    flags[setting.name, default: []].append(try value(text, of: setting, from: .flag, named: "--\(setting.name)"))
  }

  // MARK: Environment

  private func fromEnvironment(_ setting: SettingDeclaration) throws(SettingsError) -> [Given] {
    if case .prefix(let prefix) = setting.environment { return try fromEnvironment(setting, prefix: prefix) }
    for name in setting.environmentNames {
      // An empty variable counts as unset, because compose files have no other way to unset one.
      guard let text = environment[name], !text.isEmpty else { continue }
      return [try value(text, of: setting, from: .environment(name), named: name)]
    }
    return []
  }

  private func fromEnvironment(_ setting: SettingDeclaration, prefix: String) throws(SettingsError) -> [Given] {
    let taken = Set(schema.settings.flatMap(\.environmentNames))
    var given: [Given] = []
    for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(prefix) {
      guard !taken.contains(name), name.count > prefix.count, !text.isEmpty else { continue }
      let property = SettingDeclaration.entryName(of: name, prefix: prefix)
      given.append(try value("\(property)=\(text)", of: setting, from: .environment(name), named: name))
    }
    return given
  }

  // MARK: Configuration file

  private func readConfiguration(_ readFile: (String) throws -> [UInt8]) throws(SettingsError) -> [String: [Given]] {
    guard let setting = schema.settings.first(where: { $0.name == "config" }),
      let path = try (fromEnvironment(setting) + (flags["config"] ?? [])).last?.value.settingText, !path.isEmpty
    else { return [:] }
    let bytes: [UInt8]
    do {
      bytes = try readFile(path)
    } catch {
      throw SettingsError("cannot read the configuration file \(path): \(error)")
    }
    let object: [String: ConfigurationValue]
    do {
      object = try JSONDecoder().decode([String: ConfigurationValue].self, from: Data(bytes))
    } catch {
      throw SettingsError(
        "the configuration file \(path) is not a JSON object of settings: use {\"state-dir\": \"/var/lib/nudge\"}")
    }
    var given: [String: [Given]] = [:]
    for (name, content) in object.sorted(by: { $0.key < $1.key }) {
      guard name != "config" else { throw SettingsError("\(path): 'config' cannot stand in a configuration file") }
      guard let setting = schema.settings.first(where: { $0.name == name }) else {
        throw SettingsError("\(path): unknown setting '\(name)'" + nearest(to: name, prefix: ""))
      }
      guard let texts = content.texts(repeated: setting.isRepeated) else {
        let example = setting.isRepeated ? "an object of texts" : "a text, number, boolean or list of them"
        throw SettingsError("\(path): '\(name)' has a value of the wrong kind: use \(example)")
      }
      for text in texts {
        given[name, default: []].append(try value(text, of: setting, from: .file(path), named: "\(path): '\(name)'"))
      }
    }
    return given
  }

  // MARK: Values

  private func value(
    _ text: String, of setting: SettingDeclaration, from source: SettingSource, named name: String
  ) throws(SettingsError) -> Given {
    do {
      return Given(value: try setting.parse(text), source: source)
    } catch {
      // A repeated name=value may contain a secret in its value.
      let hidden = setting.secret || setting.isRepeated
      let shown = hidden ? "this value is" : "'\(PublicText.value(text))' is"
      throw SettingsError("\(name): \(shown) not allowed: use \(error.allowed)")
    }
  }

  /// The value of a setting; nil for a required one that is not given.
  private func merge(_ given: [Given], of setting: SettingDeclaration) -> SettingsValues.Entry? {
    var value = setting.defaultValue
    var sources: [SettingSource] = []
    for next in given {
      value = value.map { setting.merge($0, next.value) } ?? next.value
      if !setting.isRepeated { sources.removeAll() }
      if sources.last != next.source { sources.append(next.source) }
    }
    return value.map {
      SettingsValues.Entry(declaration: setting, value: $0, sources: sources.isEmpty ? [.standard] : sources)
    }
  }

  // MARK: Positional arguments

  /// The positional arguments by name, those that are missing in words, and the first for which there is no name.
  private func placePositional() -> (placed: [String: [String]], missing: [String], extra: String?) {
    var rest = positional[...]
    var placed: [String: [String]] = [:]
    var missing: [String] = []
    for argument in schema.arguments {
      let taken = argument.count == .many ? rest.count : min(1, rest.count)
      if taken == 0, argument.count != .optional {
        let help = argument.help.hasSuffix(".") ? String(argument.help.dropLast()) : argument.help
        missing.append("\(argument.name.uppercased()) is missing: \(help)")
      }
      placed[argument.name] = Array(rest.prefix(taken))
      rest = rest.dropFirst(taken)
    }
    return (placed, missing, rest.first)
  }

  // MARK: Texts

  private var seeHelp: String { "; see \(schema.program) --help" }

  private func nearest(to name: String, prefix: String) -> String {
    let own = schema.hasProgramFlags && prefix == "--" ? ProgramFlag.allCases.map(\.rawValue) : ["help"]
    guard let meant = NearestName.of(name, among: schema.settings.map(\.name) + (prefix.isEmpty ? [] : own)) else {
      return seeHelp
    }
    return ": did you mean \(prefix)\(meant)?\(seeHelp.replacing("; see", with: " See"))"
  }
}

/// Suggests the name that was probably meant by a mistyped one.
public enum NearestName {
  /// The candidate with the smallest edit distance, which may be at most 2 or a third of the name's length.
  public static func of(_ name: String, among candidates: [String]) -> String? {
    let near = candidates.map { (name: $0, edits: edits(from: name, to: $0)) }
      .filter { $0.edits <= max(2, $0.name.count / 3) }
    return near.min { ($0.edits, $0.name) < ($1.edits, $1.name) }?.name
  }

  /// Counts insertions, removals, replacements and swaps of neighbours.
  private static func edits(from left: String, to right: String) -> Int {
    let left = Array(left.utf8)
    let right = Array(right.utf8)
    // Long input is not a typing error, and the table is quadratic.
    guard left.count <= 100, right.count <= 100 else { return max(left.count, right.count) }
    var table = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
    for row in 0...left.count { table[row][0] = row }
    for column in 0...right.count { table[0][column] = column }
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    for row in 1...left.count {
      for column in 1...right.count {
        let same = left[row - 1] == right[column - 1]
        var fewest = min(table[row - 1][column] + 1, table[row][column - 1] + 1)
        fewest = min(fewest, table[row - 1][column - 1] + (same ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          fewest = min(fewest, table[row - 2][column - 2] + 1)
        }
        table[row][column] = fewest
      }
    }
    return table[left.count][right.count]
  }
}
