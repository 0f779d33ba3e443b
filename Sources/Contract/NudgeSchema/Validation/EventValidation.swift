/// A body whose fields have rules beyond their types.
protocol ValidatedBody {
  /// Makes cosmetic fields fit, or ignores what they hold.
  mutating func normalize(_ ignored: inout IgnoredFields)
  /// Throws the first rule that is broken.
  func validate() throws(SchemaViolation)
}

extension ChatEventBody: ValidatedBody {}
extension UserEventBody: ValidatedBody {}

extension Event where Body == ChatEventBody {
  /// Makes the fields fit that change only how something looks, and removes those that cannot be. Returns which were removed.
  public mutating func normalize() -> IgnoredFields { normalizeFields() }

  /// Holds the event against the rules that its types cannot express (`SchemaLimits`). Throws the first broken one.
  public func validate() throws(SchemaViolation) { try validateFields() }
}

extension Event where Body == UserEventBody {
  /// Makes the fields fit that change only how something looks, and removes those that cannot be. Returns which were removed.
  public mutating func normalize() -> IgnoredFields { normalizeFields() }

  /// Holds the event against the rules that its types cannot express (`SchemaLimits`). Throws the first broken one.
  public func validate() throws(SchemaViolation) { try validateFields() }
}

extension Event where Body: ValidatedBody {
  fileprivate mutating func normalizeFields() -> IgnoredFields {
    var ignored = IgnoredFields()
    body.normalize(&ignored)
    return ignored
  }

  fileprivate func validateFields() throws(SchemaViolation) {
    try FieldRule.eventId(envelope.eventId)
    try FieldRule.time(envelope.occurredAt, "occurredAt")
    try body.validate()
  }
}
