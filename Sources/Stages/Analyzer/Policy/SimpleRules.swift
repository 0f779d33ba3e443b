import NudgeSchema
import Wording

/// The rules past the hourly limit (D4). The first rule whose conditions hold decides how much a message matters.
///
/// Every analyzer has the rules `standard` unless a file replaces them (`SimpleRules.init(json:)`, docs/relevance.md).
public struct SimpleRules: Sendable, Equatable {
  /// A condition of a rule.
  enum Condition: String, Sendable, CaseIterable {
    /// The conversation is direct.
    case direct
    /// The person is mentioned by id.
    case mentioned
    /// The message is a reply to one of the person's.
    case answered
    /// The text contains the person's name.
    case named
    /// The person and the sender have been writing to each other in turns.
    case exchange
    /// The person starred the sender.
    case starredSender = "starred_sender"
    /// The text contains one of the person's keywords.
    case keyword
    /// The text is urgent.
    case urgentWords = "urgent_words"
    /// The text asks a question.
    case question
  }

  struct Rule: Sendable, Equatable {
    /// The rule's name in decisions.
    var name: String
    /// Conditions that must all hold.
    var when: [Condition]
    /// Conditions of which none may hold.
    var unless: [Condition]
    /// The priority of a message if the rule applies.
    var priority: Priority
  }

  /// The version that decisions contain.
  public let version: String
  let rules: [Rule]
  /// The priority if no rule applies.
  let otherwise: Priority

  /// The rules without a file:
  ///
  /// 1. high: the person is mentioned, or starred the sender, or the message says that it cannot wait;
  /// 2. medium: a direct message, the person is named or answered, or the text has one of their keywords;
  /// 3. low: everything else.
  public static let standard = SimpleRules(
    version: "standard",
    rules: [
      Rule(name: "mentioned", when: [.mentioned], unless: [], priority: .high),
      Rule(name: "starred_sender", when: [.starredSender], unless: [], priority: .high),
      Rule(name: "urgent_words", when: [.urgentWords], unless: [], priority: .high),
      Rule(name: "direct", when: [.direct], unless: [], priority: .medium),
      Rule(name: "named", when: [.named], unless: [], priority: .medium),
      Rule(name: "answered", when: [.answered], unless: [], priority: .medium),
      Rule(name: "keyword", when: [.keyword], unless: [], priority: .medium),
    ], otherwise: .low)

  init(version: String, rules: [Rule], otherwise: Priority) {
    self.version = version
    self.rules = rules
    self.otherwise = otherwise
  }

  /// The number of rules.
  public var count: Int { rules.count }
}

extension SimpleRules {
  /// The most rules, because each is checked for every message.
  static let maxRules = 100
  /// The most characters of a rule's name, and of the version.
  static let maxNameLength = 64

  /// Reads a file of rules:
  ///
  ///     {"version": "2026-11-22",
  ///      "rules": [{"name": "urgent", "when": ["direct", "urgent_words"], "unless": ["question"], "priority": "high"}],
  ///      "otherwise": "low"}
  ///
  /// - Throws: `PolicyError` for an unknown field or condition, or for rules that make no sense.
  public init(json bytes: [UInt8]) throws(PolicyError) {
    try self.init(try PolicyFields(json: bytes, known: Self.names))
  }

  private static let names: Set<String> = ["version", "rules", "otherwise"]

  /// Reads the object with the rules.
  init(_ file: PolicyFields) throws(PolicyError) {
    if let other = file.names.first(where: { !Self.names.contains($0) }) {
      throw PolicyError("\(file.path(other)) is not known; there are \(Self.names.sorted().joined(separator: ", "))")
    }
    let version = try file.text("version", characters: 1...Self.maxNameLength)
    let items = try file.list("rules")
    let otherwise: Priority = try file.choice("otherwise")
    let place = file.path("rules")
    guard items.count <= Self.maxRules else {
      throw PolicyError("\(place): there are \(items.count); at most \(Self.maxRules) are allowed")
    }
    var rules: [Rule] = []
    for (index, item) in items.enumerated() {
      let place = "\(place)[\(index)]"
      let fields = try PolicyFields(item, place, known: ["name", "when", "unless", "priority"])
      let rule = Rule(
        name: try fields.text("name", characters: 1...Self.maxNameLength), when: try fields.conditions("when"),
        unless: try fields.conditions("unless"), priority: try fields.choice("priority"))
      guard !rules.contains(where: { sameId($0.name, rule.name) }) else {
        throw PolicyError("\(place).name: there is a rule \"\(rule.name)\" before it; names tell rules apart")
      }
      guard !rule.when.isEmpty || !rule.unless.isEmpty else {
        throw PolicyError(
          "\(place): it has no conditions and would decide everything; say so with \"otherwise\" instead")
      }
      if let both = rule.when.first(where: { rule.unless.contains($0) }) {
        throw PolicyError("\(place): \(both.rawValue) is in when and in unless; it can never hold")
      }
      rules.append(rule)
    }
    self.init(version: version, rules: rules, otherwise: otherwise)
  }
}

extension PolicyFields {
  fileprivate func conditions(_ name: String) throws(PolicyError) -> [SimpleRules.Condition] {
    guard has(name) else { return [] }
    var conditions: [SimpleRules.Condition] = []
    for (index, item) in try list(name).enumerated() {
      guard let text = item.text, let condition = SimpleRules.Condition(rawValue: text) else {
        throw PolicyError(
          "\(path(name))[\(index)]: it must be one of "
            + SimpleRules.Condition.allCases.map(\.rawValue).joined(separator: ", "))
      }
      if !conditions.contains(condition) { conditions.append(condition) }
    }
    return conditions
  }
}

extension SimpleRules: Encodable {
  private enum Name: String, CodingKey { case version, rules, otherwise }

  /// Writes the rules in the form that `init(json:)` reads.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Name.self)
    try fields.encode(version, forKey: .version)
    try fields.encode(rules, forKey: .rules)
    try fields.encode(otherwise, forKey: .otherwise)
  }
}

extension SimpleRules.Rule: Encodable {
  private enum Name: String, CodingKey { case name, when, unless, priority }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Name.self)
    try fields.encode(name, forKey: .name)
    try fields.encode(when.map(\.rawValue), forKey: .when)
    if !unless.isEmpty { try fields.encode(unless.map(\.rawValue), forKey: .unless) }
    try fields.encode(priority, forKey: .priority)
  }
}
