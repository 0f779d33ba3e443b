import NudgeSchema

// The ledger's entry for each pair, delivery and push.

extension DeliveryLedger {
  /// A person and a message.
  struct Pair {
    var isExpected = false
    var candidate: Origin?
    var deferral: Origin?
    var decision: Origin?
    /// The push of the final decision. Absent if it made none.
    var push: Int32?
    /// A push of the message that no decision has named so far.
    var unnamed: Int32?

    var isDecided: Bool { decision != nil || deferral != nil }
    var isSettled: Bool { isExpected && candidate != nil && isDecided }
  }

  /// A push and a device.
  struct Delivery {
    /// Whether the push names the device.
    var isTarget = false
    /// The origins of the pushes that updated a catch-up on the device.
    var updates: [Origin] = []
    var outcomes: [(result: OutcomeResult, origin: Origin)] = []
    /// The number of requests that were taken.
    var answered = 0
    /// The status of these requests. There is one, because one service reaches a device.
    var status = 200
    /// The quota that the push waits for. Absent if it has an outcome or does not wait.
    var quota: QuotaWaits.Quota?
    /// Whether a delivery that was sent needs an answered request.
    var needsAnswer: Bool

    /// The number of pushes without an outcome; negative if outcomes are without a push.
    var open: Int { (isTarget ? 1 : 0) + updates.count - outcomes.count }
    /// The number of outcomes `sent`.
    var sent: Int { outcomes.count { $0.result == .sent } }
    /// Whether pushes without an outcome wait for quota.
    var isWaiting: Bool { open > 0 && quota != nil }
    /// Whether outcomes `sent` lack their requests.
    var lacksAnswer: Bool { needsAnswer && answered < sent }
    /// Whether the delivery has ended. A killed dispatcher can leave an answered request without an outcome.
    var isSettled: Bool { open == 0 && !outcomes.isEmpty && !lacksAnswer }
    /// Requests taken without an outcome.
    var unrecorded: Int { max(0, answered - sent) }
  }

  /// A push.
  struct PushState {
    var origin: Origin?
    /// The person and the message whose push it is. Absent if it is of no message, or of one that was decided earlier.
    var pair: NumberPair?
    var isDecided = false
    /// Whether it is the catch-up of one message.
    var isCatchUp = false
    /// Whether a device left the message to the catch-up.
    var isLeftToCatchUp = false

    var isSettled: Bool { origin != nil && (isDecided || isCatchUp || pair == nil) }
  }
}

/// Maps strings to small numbers, so that sets of pairs stay small.
struct Numbering: Sendable {
  private var numbers: [String: Int32] = [:]
  private var names: [String] = []

  /// The number of a string. The same string always has the same number.
  mutating func number(_ name: String) -> Int32 {
    if let known = numbers[name] { return known }
    let number = Int32(names.count)
    numbers[name] = number
    names.append(name)
    return number
  }

  func name(_ number: Int32) -> String { names[Int(number)] }
}

struct NumberPair: Hashable, Sendable {
  let first: Int32
  let second: Int32
}

// Lists the missing records, for the verdict.

extension DeliveryLedger {
  /// Requests taken without an outcome, in flight when the dispatcher was killed.
  var unrecorded: Int { deliveries.values.reduce(0) { $0 + $1.unrecorded } }

  /// The first pairs that meet a condition, as text.
  private func pairs(_ limit: Int, where isMeant: @escaping (Pair) -> Bool) -> [String] {
    pairs.lazy.filter { isMeant($0.value) }.prefix(limit).map {
      "message \(messages.name($0.key.second)) for \(users.name($0.key.first))"
    }
  }

  private func deliveries(_ limit: Int, where isMeant: @escaping (Delivery) -> Bool) -> [String] {
    deliveries.lazy.filter { isMeant($0.value) }.prefix(limit).map {
      "push \(pushIds.name($0.key.first)) on \(devices.name($0.key.second))"
    }
  }

  /// Expected pairs without a candidate, and candidates that were not expected.
  func withoutCandidate(_ limit: Int) -> [String] { pairs(limit) { $0.isExpected != ($0.candidate != nil) } }

  /// Candidates without a decision, and decisions without a candidate.
  func withoutDecision(_ limit: Int) -> [String] { pairs(limit) { ($0.candidate != nil) != $0.isDecided } }

  /// Targets without an outcome that do not wait for quota, and outcomes without a target.
  func withoutOutcome(_ limit: Int) -> [String] { deliveries(limit) { $0.open != 0 && !$0.isWaiting } }

  /// Targets without an outcome that wait for quota, as of the last `findWaits`.
  var waiting: [QuotaWaits.Quota: Int] {
    deliveries.values.reduce(into: [:]) { counts, delivery in
      if delivery.isWaiting, let quota = delivery.quota { counts[quota, default: 0] += delivery.open }
    }
  }

  /// Deliveries with an outcome "sent" for which the emulator saw no request.
  func withoutRequest(_ limit: Int) -> [String] { deliveries(limit) { $0.lacksAnswer } }

  /// Requests taken without an outcome.
  func withUnrecordedRequest(_ limit: Int) -> [String] { deliveries(limit) { $0.unrecorded > 0 } }

  /// Decisions to notify without a push, and pushes without a decision.
  func withoutPush(_ limit: Int) -> [String] {
    pushStates.lazy.filter { !$0.value.isSettled }.prefix(limit).map { "push \(pushIds.name($0.key))" }
  }

  /// The numbers of decisions to notify and of pushes of messages.
  var notifying: (decided: Int, pushed: Int) {
    pushStates.values.reduce(into: (0, 0)) { counts, push in
      if push.isDecided { counts.0 += 1 }
      if push.pair != nil, !push.isCatchUp { counts.1 += 1 }
    }
  }
}
