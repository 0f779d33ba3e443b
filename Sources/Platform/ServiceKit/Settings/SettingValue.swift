public import Foundation

/// A type of setting value. It parses and writes the value's text, and describes it in the help.
public protocol SettingValue: Sendable {
  /// Parses a value.
  /// - Throws: `SettingValueError`, which lists the allowed values.
  static func parse(_ text: String) throws(SettingValueError) -> Self
  /// The text that `parse` accepts; empty if there is no value.
  var settingText: String { get }
  /// Stands for the value in the help: `N`, `DURATION`.
  static var placeholder: String { get }
  /// All allowed values if they can be listed.
  static var choices: [String] { get }
  /// Merges the value of a later flag, or of a source with higher precedence. Most types replace the value.
  mutating func merge(_ later: Self)
  /// Whether the flag may be repeated, with each occurrence adding to the value.
  static var isRepeated: Bool { get }
  /// Whether the flag has no value: `--name` and `--no-name`.
  static var isFlag: Bool { get }
}

extension SettingValue {
  /// By default the values cannot be listed.
  public static var choices: [String] { [] }
  /// By default the later value replaces this one.
  public mutating func merge(_ later: Self) { self = later }
  /// By default the flag is given once.
  public static var isRepeated: Bool { false }
  /// By default a value follows the flag.
  public static var isFlag: Bool { false }
}

/// Why a text is not a value.
public struct SettingValueError: Error, Sendable, Equatable {
  /// The allowed values, to complete "use …".
  public let allowed: String

  /// - Parameter allowed: Completes "use …".
  public init(allowed: String) { self.allowed = allowed }
}

extension String: SettingValue {
  public static func parse(_ text: String) -> String { text }
  public var settingText: String { self }
  /// `TEXT`.
  public static var placeholder: String { "TEXT" }
}

extension Int: SettingValue {
  /// A whole number in decimal digits.
  public static func parse(_ text: String) throws(SettingValueError) -> Int {
    guard let number = Int(text) else { throw SettingValueError(allowed: "a whole number") }
    return number
  }
  /// Decimal digits.
  public var settingText: String { String(self) }
  /// `N`.
  public static var placeholder: String { "N" }
}

extension Double: SettingValue {
  /// A finite number.
  public static func parse(_ text: String) throws(SettingValueError) -> Double {
    guard let number = Double(text), number.isFinite else { throw SettingValueError(allowed: "a number") }
    return number
  }
  /// The shortest text that reads back as the same number; whole numbers without a fraction.
  public var settingText: String { Int(exactly: self).map(String.init) ?? String(self) }
  /// `NUMBER`.
  public static var placeholder: String { "NUMBER" }
}

extension Bool: SettingValue {
  /// `true` or `false`; also `1`, `0`, `yes`, `no`, `on`, `off`, which are common in environments.
  public static func parse(_ text: String) throws(SettingValueError) -> Bool {
    switch text.lowercased() {
    case "true", "1", "yes", "on": return true
    case "false", "0", "no", "off": return false
    default: throw SettingValueError(allowed: "true or false")
    }
  }
  public var settingText: String { String(self) }
  /// Empty, because a flag has no value.
  public static var placeholder: String { "" }
  /// `true` and `false`.
  public static var choices: [String] { ["true", "false"] }
  /// The flag has no value.
  public static var isFlag: Bool { true }
}

extension Duration: SettingValue {
  private static let units: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
  ]

  /// Whole numbers with units, the largest unit first: `1h30m`, `250ms`. Only `0` needs no unit. Negative durations are
  /// not allowed.
  public static func parse(_ text: String) throws(SettingValueError) -> Duration {
    if text == "0" { return .zero }
    let refusal = SettingValueError(allowed: "a duration such as 250ms, 30s, 5m, 1h30m or 7d")
    var rest = text[...]
    var total: Int64 = 0
    var smallestUnit = Int64.max
    if rest.isEmpty { throw refusal }
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      let letters = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(letters.count)
      guard let number = Int64(digits), let unit = units.first(where: { $0.name == letters }),
        unit.milliseconds < smallestUnit
      else { throw refusal }
      smallestUnit = unit.milliseconds
      let (part, tooLong) = number.multipliedReportingOverflow(by: unit.milliseconds)
      let (sum, tooMuch) = total.addingReportingOverflow(part)
      guard !tooLong, !tooMuch else { throw refusal }
      total = sum
    }
    return .milliseconds(total)
  }

  /// The duration in the largest units that give whole numbers: `1h30m`.
  public var settingText: String {
    var rest = milliseconds
    guard rest > 0 else { return "0" }
    var text = ""
    for unit in Duration.units where rest >= unit.milliseconds {
      text += "\(rest / unit.milliseconds)\(unit.name)"
      rest %= unit.milliseconds
    }
    return text
  }
  /// `DURATION`.
  public static var placeholder: String { "DURATION" }
}

extension URL: SettingValue {
  /// An absolute `http` or `https` URL with a host. A port is from 1 to 65535.
  public static func parse(_ text: String) throws(SettingValueError) -> URL {
    guard let url = URL(string: text), WebAddresses.isUsable(text, ["http", "https"]) else {
      throw SettingValueError(allowed: "a URL such as https://fcm.googleapis.com")
    }
    return url
  }
  public var settingText: String { absoluteString }
  /// `URL`.
  public static var placeholder: String { "URL" }
}

extension Optional: SettingValue where Wrapped: SettingValue {
  /// Parses a value. An empty text means no value.
  public static func parse(_ text: String) throws(SettingValueError) -> Wrapped? {
    text.isEmpty ? nil : try Wrapped.parse(text)
  }
  /// The value's text; empty if there is none.
  public var settingText: String { self?.settingText ?? "" }
  /// The placeholder of the wrapped type.
  public static var placeholder: String { Wrapped.placeholder }
  /// The choices of the wrapped type.
  public static var choices: [String] { Wrapped.choices }
  /// As for the wrapped type.
  public static var isFlag: Bool { Wrapped.isFlag }
}

extension Array: SettingValue where Element: SettingValue {
  /// Values separated by commas, with surrounding blanks ignored. An empty text is an empty list.
  public static func parse(_ text: String) throws(SettingValueError) -> [Element] {
    var values: [Element] = []
    for part in text.split(separator: ",") {
      values.append(try Element.parse(part.trimmingCharacters(in: .whitespaces)))
    }
    return values
  }
  /// The values separated by commas.
  public var settingText: String { map(\.settingText).joined(separator: ",") }
  /// `X,…` with the element's placeholder.
  public static var placeholder: String { "\(Element.placeholder),…" }
  /// The choices of the element.
  public static var choices: [String] { Element.choices }
}

extension Dictionary: SettingValue where Key == String, Value == String {
  /// One `name=value`. The value may contain further equals signs.
  public static func parse(_ text: String) throws(SettingValueError) -> [String: String] {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      throw SettingValueError(allowed: "name=value")
    }
    return [String(text[..<equals]): String(text[text.index(after: equals)...])]
  }
  /// `name=value` for each entry, separated by commas.
  public var settingText: String {
    sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
  }
  /// `NAME=VALUE`.
  public static var placeholder: String { "NAME=VALUE" }
  /// Adds entries. A later value of the same name replaces the earlier one.
  public mutating func merge(_ later: [String: String]) { merge(later) { _, new in new } }
  /// Each occurrence adds an entry.
  public static var isRepeated: Bool { true }
}

extension SettingValue where Self: RawRepresentable & CaseIterable, RawValue == String {
  /// One of the cases.
  public static func parse(_ text: String) throws(SettingValueError) -> Self {
    guard let value = Self(rawValue: text) else {
      let meant = NearestName.of(text, among: choices).map { " (did you mean \($0)?)" } ?? ""
      throw SettingValueError(allowed: alternatives(choices) + meant)
    }
    return value
  }
  /// The case's raw value.
  public var settingText: String { rawValue }
  public static var placeholder: String { choices.joined(separator: "|") }
  public static var choices: [String] { allCases.map(\.rawValue) }
}

extension LogLevel: SettingValue {}
extension LogFormat: SettingValue {}

/// `a, b or c`.
func alternatives(_ choices: [String]) -> String {
  guard let last = choices.last, choices.count > 1 else { return choices.first ?? "" }
  return "\(choices.dropLast().joined(separator: ", ")) or \(last)"
}
