import NudgeSchema
import Wording

/// The result of the checks.
struct Verdict {
  var reason: DecisionReason
  /// The reason in words.
  var explanation: Explanation
}

/// The checks of one message for one person, and what they found on the way. The first that suppresses decides.
struct Trail {
  /// Those that say something, in order: `CheckOrder` knows the others.
  private(set) var checks: [Check] = []
  /// How much the message matters; nil: the checks ended before.
  var assessment: Assessment?
  /// The person's level for the conversation; nil: it was not asked.
  var level: AppliedLevel?
  /// The hourly limit; nil: it was not asked.
  var analysis: AnalysisUse?
  /// The relevance model's version; nil: it was not asked.
  var model: String?
  /// The simple rules' version; nil: they did not decide.
  var rules: String?

  /// Whether the person's budget had no alert for the message.
  private(set) var isOverBudget = false

  init() { checks.reserveCapacity(4) }

  /// A check let the message pass, and looked at nothing that says more: its place in the order says that it was made.
  func pass(_ reason: DecisionReason) -> Verdict? { nil }

  /// Notes a check that let the message pass, with what it looked at.
  mutating func pass(_ reason: DecisionReason, _ inputs: CheckInputs) -> Verdict? {
    checks.append(Check(check: reason.rawValue, inputs: inputs))
    return nil
  }

  /// Notes the check that decides.
  mutating func suppress(_ reason: DecisionReason, _ why: ReasonCode) -> Verdict? {
    suppress(reason, [:], Explanation(why))
  }

  /// Notes the check that decides, with what it looked at where that says more.
  mutating func suppress(_ reason: DecisionReason, _ inputs: CheckInputs, _ explanation: Explanation) -> Verdict? {
    checks.append(Check(check: reason.rawValue, result: .suppress, inputs: inputs))
    return Verdict(reason: reason, explanation: explanation)
  }

  /// Whether an alert was held back.
  var hasBurst: Bool { checks.contains { $0.check == "burst" } }

  /// Notes that no push is made because it would only repeat a badge that was told before.
  mutating func noteUnchanged(badge: Int) {
    checks.append(Check(check: "badge", inputs: ["told": .number(Int64(badge))]))
  }

  /// Notes that an alert waits, because the person may be about to read the message on a device.
  mutating func noteWait(for device: DeviceActivity) {
    checks.append(
      Check(
        check: DecisionReason.activeElsewhere.rawValue, result: .suppress,
        inputs: ["deviceId": .text(device.deviceId), "reportedAt": .number(device.stamp.occurredAt)]))
  }

  /// Notes that pushes wait, because devices may show the message by their streams.
  mutating func noteAnswers(from devices: Int, until due: Milliseconds) {
    checks.append(Check(check: "live", inputs: ["devices": .number(Int64(devices)), "waitsUntil": .number(due)]))
  }

  /// Notes that the message waits for the person's catch-up.
  mutating func noteCatchUp(_ due: Milliseconds) {
    checks.append(Check(check: "catch_up", inputs: ["dueAt": .number(due)]))
  }

  /// Notes that the message is pushed again unless it arrives or is read before.
  mutating func noteEscalation(_ due: Milliseconds) {
    checks.append(Check(check: "escalation", inputs: ["dueAt": .number(due)]))
  }

  /// Notes that an alert was held back.
  mutating func note(_ burst: Burst) {
    checks.append(
      Check(
        check: "burst", inputs: ["alertedAt": .number(burst.alertedAt), "heldBack": .number(Int64(burst.heldBack))]))
  }

  /// Notes what the person's budget said to an alert.
  mutating func note(_ answer: BudgetAnswer) {
    isOverBudget = !answer.allows
    var inputs: CheckInputs = [
      "used": .number(Int64(answer.used)), "limit": .number(Int64(answer.limit)), "value": .number(Int64(answer.value)),
      "silent": .flag(!answer.allows),
    ]
    inputs["threshold"] = answer.threshold.map { .number(Int64($0)) }
    checks.append(Check(check: "budget", inputs: inputs))
  }

  /// Notes that the priority was asked. How it came about the decision says in fields of its own.
  mutating func note(_ assessment: Assessment) { self.assessment = assessment }
}
