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
