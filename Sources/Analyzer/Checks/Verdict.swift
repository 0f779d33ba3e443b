import NudgeSchema

/// What the checks came to.
struct Verdict {
  var reason: DecisionReason
  /// The reason in words.
  var text: String
}

/// The checks of one recipient and message, in order, and what they found on the way. The first that suppresses decides.
struct CheckList {
  private(set) var checks: [Check] = []
  /// What the message matters; nil: that was not asked.
  var assessment: Assessment?
  /// The hourly limit; nil: it was not asked.
  var analysis: AnalysisUse?

  init() { checks.reserveCapacity(10) }

  /// Notes a check. The verdict, where it suppresses.
  mutating func check(
    _ reason: DecisionReason, _ inputs: [String: String], suppresses: Bool, _ text: @autoclosure () -> String
  ) -> Verdict? {
    checks.append(Check(check: reason.rawValue, result: suppresses ? .suppress : .pass, inputs: inputs))
    return suppresses ? Verdict(reason: reason, text: text()) : nil
  }

  /// Notes how the priority came about.
  mutating func note(_ assessment: Assessment, method: String) {
    self.assessment = assessment
    checks.append(
      Check(
        check: "priority", result: .pass,
        inputs: [
          "method": method, "score": String(assessment.score), "priority": assessment.priority.rawValue,
        ]))
  }
}
