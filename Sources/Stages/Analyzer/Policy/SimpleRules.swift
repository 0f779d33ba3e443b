import NudgeSchema
import Relevance

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

/// The words of a message's text, found once for all recipients.
struct MessageText {
  /// The number of Unicode scalars that are read. Later parts of a long text change little, and the cost stays bounded.
  static let maxScalars = 2_000

  /// Whether the text contains a question mark.
  let isQuestion: Bool
  private let text: String
  private let folded: [Unicode.Scalar]

  init(_ text: String) {
    let isShort = text.utf8.count <= Self.maxScalars
    self.text = isShort ? text : String(text.unicodeScalars.prefix(Self.maxScalars))
    folded = TextFolding.fold(self.text[...])
    isQuestion = folded.contains { $0 == "?" || $0 == "？" || $0 == "؟" }
  }

  /// Whether the text is urgent, also by the policy's own words.
  func isUrgent(_ urgentWords: UrgentWords) -> Bool { urgentWords.urgency.isUrgent(text) }

  /// Whether the text contains one of the keywords, which may have several words.
  func containsAny(of keywords: [String]) -> Bool {
    keywords.contains { Keyword($0)?.isIn(folded) ?? false }
  }
}

/// An operator's own urgent words and phrases, by language. They extend the words of `Urgency` and follow its rules: a
/// negated word does not count. A message's language is not known, so words of every language count.
public struct UrgentWords: Sendable, Equatable {
  /// The words by language, as in the policy file.
  public let byLanguage: [String: [String]]
  /// The urgency rules with these words.
  let urgency: Urgency

  /// - Parameter byLanguage: The words of each language, by the first part of its BCP 47 tag.
  public init(_ byLanguage: [String: [String]]) {
    self.byLanguage = byLanguage
    urgency = Urgency(adding: byLanguage.sorted { $0.key < $1.key }.flatMap(\.value))
  }

  /// Compares the words.
  public static func == (one: Self, other: Self) -> Bool { one.byLanguage == other.byLanguage }

  /// The words of the default policy: none.
  public static let standard = UrgentWords([:])
}

/// A person's keyword (D8), found in a text as a reader would find it.
///
/// Case, accents and width are ignored, and a blank may be a hyphen. In scripts with spaces only a whole word counts;
/// in Korean it may have particles, in Arabic and Hebrew an article and prepositions. In scripts without spaces it is
/// found anywhere. Signs and pictures that belong to a keyword count: `C++`, `@here`, `#ops`.
struct Keyword {
  private enum Element: Equatable {
    case scalar(Unicode.Scalar)
    /// White space, hyphens and similar characters between two words.
    case gap
  }

  private let elements: [Element]
  private let first: Unicode.Scalar
  private let last: Unicode.Scalar

  /// nil if the text has no letter, digit or picture.
  init?(_ text: String) {
    var scalars = TextFolding.fold(text[...])[...]
    while let scalar = scalars.first, !Self.isWord(scalar), Self.isTrimmed(scalar, before: scalars.dropFirst().first) {
      scalars.removeFirst()
    }
    while let scalar = scalars.last, !Self.isWord(scalar), Self.isTrimmed(scalar, before: nil) { scalars.removeLast() }
    guard let first = scalars.first, let last = scalars.last, scalars.contains(where: { Self.names($0) }) else {
      return nil
    }
    self.first = first
    self.last = last
    var elements: [Element] = []
    for scalar in scalars {
      if Self.isGap(scalar) {
        if elements.last != .gap { elements.append(.gap) }
      } else {
        elements.append(.scalar(scalar))
      }
    }
    // `.NET`: a leading sign that is not trimmed counts.
    if elements.first == .gap { elements[0] = .scalar(first) }
    self.elements = elements
  }

  /// Whether a folded text contains the keyword.
  func isIn(_ text: [Unicode.Scalar]) -> Bool {
    var start = text.startIndex
    while let place = text[start...].firstIndex(of: first) {
      if let end = end(in: text, from: place), begins(in: text, at: place), ends(in: text, at: end) { return true }
      start = place + 1
    }
    return false
  }

  /// The index after the keyword if it begins at `start`; nil otherwise.
  private func end(in text: [Unicode.Scalar], from start: Int) -> Int? {
    var place = start
    for element in elements {
      switch element {
      case .scalar(let scalar):
        guard place < text.count, text[place] == scalar else { return nil }
        place += 1
      case .gap:
        let gap = text[place...].prefix { Self.isGap($0) }
        guard !gap.isEmpty else { return nil }
        place = gap.endIndex
      }
    }
    return place
  }

  private func begins(in text: [Unicode.Scalar], at start: Int) -> Bool {
    guard start > 0, text[start - 1].isSpacedWordPart else { return true }
    // `@here` does not match within an address, nor `#5` within `F#5`.
    guard first.isSpacedWordPart else { return first != "@" && first != "#" }
    if first.isHangul != text[start - 1].isHangul { return true }
    let before = text[..<start].reversed().prefix { $0.isSpacedWordPart }.reversed()
    return Self.prefixes.contains(String(String.UnicodeScalarView(before)))
  }

  private func ends(in text: [Unicode.Scalar], at end: Int) -> Bool {
    guard end < text.count, last.isSpacedWordPart, text[end].isSpacedWordPart else { return true }
    // `API가`: a word ends where the script changes.
    guard text[end].isHangul, last.isHangul else { return text[end].isHangul || last.isHangul }
    return KoreanParticles.make(text[end...].prefix { $0.isHangul })
  }

  // MARK: Signs

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool { scalar.isSpacedWordPart || scalar.isUnspaced }

  /// Signs without meaning at the ends of a keyword.
  private static func isTrimmed(_ scalar: Unicode.Scalar, before next: Unicode.Scalar?) -> Bool {
    switch scalar {
    case ".", "/": return !(next.map(isWord) ?? false)
    case "@", "#", "+", "%", "*", "$", "&": return false
    default: break
    }
    switch scalar.properties.generalCategory {
    case .mathSymbol, .currencySymbol, .otherSymbol, .modifierSymbol:
      return scalar == "|" || scalar == "~" || scalar == "`"
    default: return true
    }
  }

  private static func isGap(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case " ", "\t", "\n", "\r", "\u{A0}", "\u{3000}", "-", "_", ".", "'", "’", "/", "\u{2010}", "\u{2011}", "–", "—",
      "・", "·", ":", ",":
      true
    default: false
    }
  }

  /// Whether it is a letter, a digit or a picture.
  private static func names(_ scalar: Unicode.Scalar) -> Bool {
    if isWord(scalar) { return true }
    switch scalar.properties.generalCategory {
    case .currencySymbol, .otherSymbol: return true
    default: return false
    }
  }

  // MARK: What is written together with a word

  /// Arabic and Hebrew words for `the`, `and`, `in`, `to`, `from` …, which precede a word without a space.
  private static let prefixes: Set<String> = [
    "ال", "و", "وال", "ب", "بال", "ل", "لل", "ف", "فال", "ك", "كال", "ولل", "وبال", "ה", "ו", "ב", "ל", "מ", "ש", "כ",
    "וה", "שה", "מה",
    "בה", "לה", "ול", "וב",
  ]
}
