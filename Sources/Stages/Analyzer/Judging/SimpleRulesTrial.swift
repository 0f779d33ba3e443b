public import NudgeSchema
public import StreamRuntime

/// Simple rules outside of the pipeline, to try a file before it is in force.
public struct SimpleRulesTrial: Sendable {
  private let simpleRules: SimpleRules
  private let rules: AnalyzerRules
  private var preferences: [String: PreferencesRow] = [:]

  /// A trial of these rules, with the urgent words of a policy.
  public init(_ simpleRules: SimpleRules, policy: NotificationPolicy = NotificationPolicy()) {
    self.simpleRules = simpleRules
    var rules = AnalyzerRules(hash: { _ in Array(repeating: 0, count: 32) })
    rules.policy = policy
    self.rules = rules
  }

  public var version: String { simpleRules.version }

  /// Takes a row of the analyzer's changelog, in its order; nil: it was removed. Only preferences are looked at. Throws where
  /// they cannot be read.
  public mutating func take(_ key: RowKey, _ bytes: UnsafeRawBufferPointer?, coder: RecordCoder) throws {
    guard key.parts.count == 2, key == AnalyzerRow.preferencesKey(key.parts[1]) else { return }
    let userId = key.parts[1]
    guard let bytes else {
      preferences[userId] = nil
      return
    }
    if case .preferences(let row) = try AnalyzerRow(key: key, bytes: bytes, coder: coder) { preferences[userId] = row }
  }

  /// The priority of a message for one of its recipients, by the person's preferences as they are now, and the rule that decides;
  /// nil: no rule holds.
  public func decide(
    _ candidate: MessageCandidate, for recipient: Recipient
  ) -> (priority: Priority, rule: String?) {
    let person = EffectivePreferences(preferences[recipient.userId] ?? PreferencesRow(), rules: rules)
    let traits = MessageTraits(
      CandidateMessage(candidate, sentAt: 0, policy: rules.policyVersion), context: recipient.context, preferences: person,
      looksAtWords: true)
    let assessment = simpleRules.assess(traits)
    return (assessment.priority, assessment.signals.first?.name)
  }
}
