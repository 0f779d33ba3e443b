import Foundation
import NudgeSchema

/// What is wrong with a file of simple rules, and where.
public struct SimpleRulesError: Error, Sendable, Equatable, CustomStringConvertible {
  /// For the person who wrote the file.
  public let description: String

  init(_ description: String) { self.description = description }
}

extension SimpleRules {
  /// Rules at most: each is looked at for every message past a limit.
  static let maxRules = 100
  /// Characters of a rule's name, and of the version.
  static let maxNameLength = 64

  /// Reads a file of rules:
  ///
  ///     {"version": "2026-11-22",
  ///      "rules": [{"name": "urgent", "when": ["direct", "urgent_words"], "unless": ["question"], "priority": "high"}],
  ///      "otherwise": "low"}
  ///
  /// A field or a condition that is not known is refused: a rule with a typing error would silently decide otherwise.
  public init(json bytes: [UInt8]) throws(SimpleRulesError) {
    let value: Any
    do {
      value = try JSONSerialization.jsonObject(with: Data(bytes))
    } catch {
      throw SimpleRulesError("it is no JSON: \((error as NSError).userInfo["NSDebugDescription"] ?? error)")
    }
    let file = try Fields(value, "the file", known: ["version", "rules", "otherwise"])
    let version = try file.text("version")
    let items = try file.list("rules")
    let otherwise = try file.priority("otherwise")
    guard items.count <= Self.maxRules else {
      throw SimpleRulesError("rules: there are \(items.count); at most \(Self.maxRules) are looked at")
    }
    var rules: [Rule] = []
    for (index, item) in items.enumerated() {
      let fields = try Fields(item, "rules[\(index)]", known: ["name", "when", "unless", "priority"])
      let rule = Rule(
        name: try fields.text("name"), when: try fields.conditions("when"), unless: try fields.conditions("unless"),
        priority: try fields.priority("priority"))
      guard !rules.contains(where: { sameId($0.name, rule.name) }) else {
        throw SimpleRulesError(
          "rules[\(index)].name: there is a rule \"\(rule.name)\" before it; names tell rules apart")
      }
      guard !rule.when.isEmpty || !rule.unless.isEmpty else {
        throw SimpleRulesError(
          "rules[\(index)]: it has no conditions and would decide everything; say so with \"otherwise\" instead")
      }
      if let both = rule.when.first(where: { rule.unless.contains($0) }) {
        throw SimpleRulesError("rules[\(index)]: \(both.rawValue) is in when and in unless; it can never hold")
      }
      rules.append(rule)
    }
    self.init(version: version, rules: rules, otherwise: otherwise)
  }

  /// An object of the file, and where it stands.
  private struct Fields {
    private let fields: [String: Any]
    private let place: String

    init(_ value: Any, _ place: String, known: Set<String>) throws(SimpleRulesError) {
      guard let fields = value as? [String: Any] else { throw SimpleRulesError("\(place): it must be an object") }
      if let other = fields.keys.filter({ !known.contains($0) }).sorted().first {
        throw SimpleRulesError(
          "\(place): \"\(other)\" is not known; there are \(known.sorted().joined(separator: ", "))")
      }
      self.fields = fields
      self.place = place
    }

    private func path(_ name: String) -> String { place == "the file" ? name : "\(place).\(name)" }

    func text(_ name: String) throws(SimpleRulesError) -> String {
      guard let text = fields[name] as? String, (1...maxNameLength).contains(text.count),
        !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
      else { throw SimpleRulesError("\(path(name)): it must be a text of 1 to \(maxNameLength) characters") }
      return text
    }

    func list(_ name: String) throws(SimpleRulesError) -> [Any] {
      guard let list = fields[name] as? [Any] else { throw SimpleRulesError("\(path(name)): it must be a list") }
      return list
    }

    func priority(_ name: String) throws(SimpleRulesError) -> Priority {
      guard let text = fields[name] as? String, let priority = Priority(rawValue: text) else {
        throw SimpleRulesError("\(path(name)): it must be high, medium or low")
      }
      return priority
    }

    func conditions(_ name: String) throws(SimpleRulesError) -> [Condition] {
      guard fields[name] != nil else { return [] }
      var conditions: [Condition] = []
      for (index, item) in try list(name).enumerated() {
        guard let text = item as? String, let condition = Condition(rawValue: text) else {
          throw SimpleRulesError(
            "\(path(name))[\(index)]: it must be one of \(Condition.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        if !conditions.contains(condition) { conditions.append(condition) }
      }
      return conditions
    }
  }
}
