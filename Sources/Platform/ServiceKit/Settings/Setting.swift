/// The environment variables of a setting.
public enum EnvironmentName: Sendable, Equatable, ExpressibleByStringLiteral {
  /// `NUDGE_` and the flag's name in capitals, `-` as `_`.
  case derived
  /// The first of these that is set.
  case named([String])
  /// For a `[String: String]` setting: every variable with this prefix that does not belong to another setting. The
  /// rest of the variable's name, in lower case and with `.` for `_`, is the entry's name.
  case prefix(String)
  /// No variable, for settings of a single run, such as `--dry-run`.
  case none

  public init(stringLiteral value: String) { self = .named([value]) }
}

/// A setting. This declaration is the source of the flag, the environment variable, the key in the configuration file,
/// `--help`, `--print-config` and docs/configuration.md.
public struct Setting<Value: SettingValue>: Sendable {
  /// The flag without its dashes, and the key in the configuration file: `state-dir`.
  public let name: String
  /// The default; nil if the setting is required.
  public let defaultValue: Value?

  let environment: EnvironmentName
  let placeholder: String
  let help: String
  let secret: Bool
  let isSecretName: @Sendable (String) -> Bool
  let check: @Sendable (Value) -> String?

  /// A setting with a default. If it may be absent, `Value` is an optional and the default is nil.
  /// - Parameters:
  ///   - placeholder: Stands for the value in the help; by default the type's placeholder.
  ///   - help: One sentence with the purpose, and the unit unless the value contains one.
  ///   - secret: Whether `--print-config` and logs show `********` instead of the value.
  ///   - isSecretName: For a `[String: String]` setting: whether the entry of this name is secret.
  ///   - check: Returns nil for an allowed value, and otherwise the allowed values, to complete "use …".
  public init(
    _ name: String, environment: EnvironmentName = .derived, default defaultValue: Value, placeholder: String? = nil,
    help: String, secret: Bool = false, isSecretName: @escaping @Sendable (String) -> Bool = { _ in false },
    check: @escaping @Sendable (Value) -> String? = { _ in nil }
  ) {
    self.init(
      name: name, environment: environment, defaultValue: defaultValue, placeholder: placeholder, help: help,
      secret: secret, isSecretName: isSecretName, check: check)
  }

  public init(
    required name: String, environment: EnvironmentName = .derived, placeholder: String? = nil, help: String,
    check: @escaping @Sendable (Value) -> String? = { _ in nil }
  ) {
    self.init(
      name: name, environment: environment, defaultValue: nil, placeholder: placeholder, help: help, secret: false,
      isSecretName: { _ in false }, check: check)
  }

  private init(
    name: String, environment: EnvironmentName, defaultValue: Value?, placeholder: String?, help: String, secret: Bool,
    isSecretName: @escaping @Sendable (String) -> Bool, check: @escaping @Sendable (Value) -> String?
  ) {
    self.name = name
    self.environment = environment
    self.defaultValue = defaultValue
    self.placeholder = placeholder ?? Value.placeholder
    self.help = help
    self.secret = secret
    self.isSecretName = isSecretName
    self.check = check
  }
}

extension Setting where Value: Comparable {
  /// A setting with a default and the range of its values.
  public init(
    _ name: String, environment: EnvironmentName = .derived, default defaultValue: Value, in range: ClosedRange<Value>,
    placeholder: String? = nil, help: String
  ) {
    self.init(
      name, environment: environment, default: defaultValue, placeholder: placeholder, help: help,
      check: { value in
        range.contains(value)
          ? nil : "a value from \(range.lowerBound.settingText) to \(range.upperBound.settingText)"
      })
  }
}

/// A setting of any type. Only `Setting` conforms.
public protocol AnySetting: Sendable {
  /// The flag without its dashes.
  var name: String { get }
  /// The declaration without its type.
  var declaration: SettingDeclaration { get }
}

extension Setting: AnySetting {
  /// The declaration without its type.
  public var declaration: SettingDeclaration {
    SettingDeclaration(
      name: name, environment: environment, placeholder: placeholder, help: help, secret: secret,
      isSecretName: isSecretName, isRequired: defaultValue == nil, defaultValue: defaultValue,
      isFlag: Value.isFlag, isRepeated: Value.isRepeated, choices: Value.choices, parse: parse, merge: Self.merge)
  }

  private func parse(_ text: String) throws(SettingValueError) -> any SettingValue {
    let value = try Value.parse(text)
    if let allowed = check(value) { throw SettingValueError(allowed: allowed) }
    return value
  }

  private static func merge(_ earlier: any SettingValue, _ later: any SettingValue) -> any SettingValue {
    guard var merged = earlier as? Value, let later = later as? Value else { return later }
    merged.merge(later)
    return merged
  }
}

/// A setting's declaration without its type.
public struct SettingDeclaration: Sendable {
  let name: String
  let environment: EnvironmentName
  let placeholder: String
  let help: String
  let secret: Bool
  let isSecretName: @Sendable (String) -> Bool
  let isRequired: Bool
  let defaultValue: (any SettingValue)?
  let isFlag: Bool
  let isRepeated: Bool
  let choices: [String]
  let parse: @Sendable (String) throws(SettingValueError) -> any SettingValue
  let merge: @Sendable (any SettingValue, any SettingValue) -> any SettingValue

  /// The variables in order of precedence; empty for a prefix.
  var environmentNames: [String] {
    switch environment {
    case .derived: ["NUDGE_" + name.uppercased().replacing("-", with: "_")]
    case .named(let names): names
    case .prefix, .none: []
    }
  }

  /// The variables as shown in the help and in docs/configuration.md; nil if there are none.
  var environmentText: String? {
    switch environment {
    case .derived, .named: environmentNames.joined(separator: ", ")
    case .prefix(let prefix): prefix + "…"
    case .none: nil
    }
  }

  /// A value with secrets masked, and URLs without login, path and query.
  func shown(_ value: any SettingValue) -> String {
    if secret { return value.settingText.isEmpty ? "" : Self.mask }
    guard let names = value as? [String: String] else { return PublicText.value(value.settingText) }
    return Self.shown(names, isSecret: isSecretName).settingText
  }

  /// Named values with the secret ones masked.
  static func shown(_ values: [String: String], isSecret: (String) -> Bool) -> [String: String] {
    var shown = values
    for (name, value) in values { shown[name] = isSecret(name) ? mask : PublicText.value(value) }
    return shown
  }

  static let mask = "********"

  /// The entry set by a variable with a prefix: `sasl.password` for `NUDGE_KAFKA_SASL_PASSWORD`.
  static func entryName(of variable: String, prefix: String) -> String {
    variable.dropFirst(prefix.count).lowercased().replacing("_", with: ".")
  }
}
