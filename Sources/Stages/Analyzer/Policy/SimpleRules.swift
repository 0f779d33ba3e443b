import NudgeSchema
import Wording

/// The rules past the hourly limit (D4): the first whose conditions hold decides how much a message matters.
///
/// `standard` are those of every analyzer; a file can take their place (`SimpleRules.init(json:)`, docs/relevance.md).
public struct SimpleRules: Sendable, Equatable {
  /// A condition of a rule.
  enum Condition: String, Sendable, CaseIterable {
    /// The conversation is a direct one.
    case direct
    /// The person is mentioned by id.
    case mentioned
    /// The message answers one of the person's, by its own word.
    case answered
    /// The text has the person's name.
    case named
    /// The person and the sender have been writing to each other.
    case exchange
    /// The person starred the sender.
    case starredSender = "starred_sender"
    /// The text has one of the person's keywords.
    case keyword
    /// The text says that it cannot wait.
    case urgentWords = "urgent_words"
    /// The text asks something.
    case question
  }

  struct Rule: Sendable, Equatable {
    /// Its name in decisions.
    var name: String
    /// All of these hold.
    var when: [Condition]
    /// None of these does.
    var unless: [Condition]
    /// The priority of a message for which they hold.
    var priority: Priority
  }

  /// Names them in decisions.
  public let version: String
  let rules: [Rule]
  /// Where no rule holds.
  let otherwise: Priority

  /// Those of every analyzer that is given no file:
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

  /// How many rules there are.
  public var count: Int { rules.count }
}
