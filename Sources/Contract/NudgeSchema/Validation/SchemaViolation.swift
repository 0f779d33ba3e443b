/// An event that has the right fields and types, and still breaks a rule of its schema.
///
/// Its text names the field and the rule, never the value: that may be a token or what somebody wrote (T4).
public struct SchemaViolation: Error, Equatable, Sendable, CustomStringConvertible {
  /// The field's path in the event, e.g. `conversation.members[3].userId`.
  public var field: String
  /// The rule the field breaks, with the limit, e.g. `must have at most 256 bytes`.
  public var rule: String

  /// A broken rule.
  public init(field: String, rule: String) {
    self.field = field
    self.rule = rule
  }

  /// Field and rule, for logs, dead letters and answers over HTTP.
  public var description: String { "\(field) \(rule)" }
}
