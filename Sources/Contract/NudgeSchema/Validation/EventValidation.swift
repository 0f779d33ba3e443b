/// A body whose fields have rules beyond their types.
protocol ValidatedBody {
  /// Throws the first rule that is broken.
  func validate() throws(SchemaViolation)
}

extension ChatEventBody: ValidatedBody {}
extension UserEventBody: ValidatedBody {}

extension Event where Body == ChatEventBody {
  /// Holds the event against the rules that its types cannot express (`SchemaLimits`). Throws the first broken one.
  public func validate() throws(SchemaViolation) { try validateFields() }
}

extension Event where Body == UserEventBody {
  /// Holds the event against the rules that its types cannot express (`SchemaLimits`). Throws the first broken one.
  public func validate() throws(SchemaViolation) { try validateFields() }
}

extension Event where Body: ValidatedBody {
  fileprivate func validateFields() throws(SchemaViolation) {
    try FieldRule.eventId(envelope.eventId)
    try FieldRule.time(envelope.occurredAt, "occurredAt")
    try body.validate()
  }
}
