/// The rules about people whose attention is limited.
extension PipelineChecker {
  /// People whose attention is limited.
  struct Attention {
    /// People who never open the app: each message that quiet hours hold back from them, or that was not sent in time, comes in a
    /// catch-up.
    var silent = Set<String>()
    /// The most alerts in a day of UTC, by person.
    var dailyAlerts: [String: Int] = [:]
    /// The urgent messages, whose alerts cost nothing.
    var urgent = Set<String>()
  }

  /// The messages that wait for a silent person's catch-up: as many as it and those before it must tell of.
  private func heldBack() -> [String: Int] {
    guard !attention.silent.isEmpty else { return [:] }
    var held: [String: Int] = [:]
    for decision in decisions where decision.body.reason == "quiet_hours" && decision.body.replayId == nil {
      if attention.silent.contains(decision.body.userId) { held[decision.body.userId, default: 0] += 1 }
    }
    // They have one device each.
    for outcome in outcomes where outcome.catchUp == true && attention.silent.contains(outcome.userId) {
      held[outcome.userId, default: 0] += 1
    }
    return held
  }

  /// The pushes of messages that waited alone for a person's catch-up.
  func catchUpsOfOne() -> [Wire.Push] {
    let decided = Set(decisions.compactMap(\.body.pushId))
    var kept: Set<[String]> = []
    for decision in decisions.map(\.body) where decision.isKeptForCatchUp {
      kept.insert([decision.userId, decision.messageId])
    }
    let late = Set(outcomes.filter { $0.catchUp == true }.map(\.pushId))
    for push in pushes.map(\.body) where late.contains(push.pushId) {
      kept.insert([push.userId, push.messageId ?? ""])
    }
    return pushes.map(\.body).filter {
      $0.kind == "message" && $0.replaces != true && $0.escalation == nil && !decided.contains($0.pushId)
        && kept.contains([$0.userId, $0.messageId ?? ""])
    }
  }

  func catchUps() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    var told: [String: (messages: Int, keys: Set<String>)] = [:]
    for push in catchUpsOfOne() {
      var known = told[push.userId] ?? (0, [])
      if !known.keys.insert("alone " + (push.messageId ?? "")).inserted {
        found.append(.init(rule: .caughtUpTwice, detail: "\(push.userId): \(push.pushId)"))
      }
      known.messages += 1
      told[push.userId] = known
    }
    for push in pushes {
      // One that replaces another tells of nothing new.
      guard let digest = push.body.digest, push.body.replaces != true else { continue }
      var known = told[push.body.userId] ?? (0, [])
      let keys = digest.parts?.flatMap(\.keys) ?? []
      let repeated = keys.count { !known.keys.insert($0).inserted }
      if repeated > 0 {
        found.append(
          .init(
            rule: .caughtUpTwice, detail: "\(push.body.userId): \(repeated) of the messages of \(push.body.pushId)"))
      }
      known.messages += digest.messages
      told[push.body.userId] = known
    }
    let held = heldBack()
    for user in attention.silent.sorted() {
      let (held, told) = (held[user] ?? 0, told[user]?.messages ?? 0)
      guard held != told else { continue }
      found.append(
        .init(
          rule: told < held ? .catchUpMissing : .caughtUpTwice,
          detail: "\(user): \(held) messages were held back, \(told) are in catch-ups"))
    }
    return found
  }

  func budgets() -> [PipelineViolation] {
    guard !attention.dailyAlerts.isEmpty else { return [] }
    var mentioned: [String: Set<String>] = [:]
    for candidate in candidates {
      for recipient in candidate.body.recipients where recipient.context?.mentioned == true {
        mentioned[candidate.body.messageId, default: []].insert(recipient.userId)
      }
    }
    var alerts: [String: [Int64: Int]] = [:]
    for decision in decisions.map(\.body) where decision.outcome == "notify" && decision.presentation == "alert" {
      guard attention.dailyAlerts[decision.userId] != nil, decision.replayId == nil,
        !attention.urgent.contains(decision.messageId),
        mentioned[decision.messageId]?.contains(decision.userId) != true
      else { continue }
      alerts[decision.userId, default: [:]][(decision.decidedAt ?? 0) / 86_400_000, default: 0] += 1
    }
    return attention.dailyAlerts.sorted { $0.key < $1.key }.flatMap { user, limit in
      (alerts[user] ?? [:]).values.filter { $0 > limit }.map {
        PipelineViolation(rule: .overBudget, detail: "\(user): \($0) alerts of \(limit)")
      }
    }
  }

  /// For a report.
  var attentionFigures: String {
    let digests = pushes.compactMap(\.body.digest)
    let silenced = decisions.map(\.body).count { decision in
      decision.presentation == "silent" && decision.checks?.contains { $0.name == "budget" } == true
    }
    return "\(digests.count) catch-ups of \(digests.reduce(0) { $0 + $1.messages }) messages, "
      + "\(silenced) silent as over a budget, \(escalations.count) escalations"
  }
}
