import NudgeSchema
import StreamRuntime

/// Escalation of a message of high priority that mentions the person or is direct, and neither arrives nor is read: it
/// is pushed again, and then goes to the webhook (decision 93). Each person has one timer.
extension PersonContext {
  /// Stores a message when its first push is made. Returns the earliest time of the second push; nil if there will be
  /// none.
  func awaitArrival(_ facts: Case, _ reason: DecisionReason) throws -> Milliseconds? {
    var row = try escalations()
    guard row.entries.count < EscalationsRow.maxEntries else {
      step.count(.again(.full))
      return nil
    }
    let due = step.now + Milliseconds(rules.policy.againSeconds) * 1_000
    row.entries.append(
      EscalationsRow.Entry(
        key: facts.message.key, conversationId: facts.conversationId, place: facts.place, reason: reason, step: .again,
        due: due, pushedAt: step.now))
    try keepHeld(facts.message, facts.context)
    try keep(&row)
    return due
  }

  /// `timer.fired`: takes the next step for due messages that neither arrived nor were read.
  mutating func escalationTimerFired(_ fired: TimerFired, zones: inout TimeZones) throws {
    var row = try escalations()
    guard row.timerAt == fired.dueAt else { return }
    row.timerAt = nil
    for entry in row.take(dueBy: max(fired.dueAt, step.now)) {
      guard let held = try heldMessage(entry.key, in: entry.conversationId) else { continue }
      var next: EscalationsRow.Entry?
      try causing(held) { next = try $0.escalate(entry, held, zones: &zones) }
      if let next {
        row.entries.append(next)
      } else {
        try step.remove(AnalyzerRow.heldKey(userId, entry.conversationId, entry.key))
      }
    }
    try keep(&row)
  }

  /// Ends the escalation of a message, or of all messages of a conversation if the key is nil.
  func endEscalations(
    of key: MessageKey?, in conversationId: String, as result: AnalyzerMetric.EscalationResult = .withdrawn
  ) throws {
    guard rules.policy.escalates else { return }
    var row = try escalations()
    let ended = row.take(key, in: conversationId)
    guard !ended.isEmpty else { return }
    for entry in ended {
      step.count(entry.step.metric(result))
      try step.remove(AnalyzerRow.heldKey(userId, conversationId, entry.key))
    }
    try keep(&row)
  }

  /// The person's quiet hours changed: steps that wait for their end get the new end, or are due at once.
  mutating func moveEscalations(
    _ after: PreferencesRow, was before: PreferencesRow, zones: inout TimeZones
  ) throws {
    guard rules.policy.escalates,
      let former = EffectivePreferences(before, rules: rules).quietHoursEnd(at: step.now, zones: &zones)
    else { return }
    let due = EffectivePreferences(after, rules: rules).quietHoursEnd(at: step.now, zones: &zones) ?? step.now
    var row = try escalations()
    guard due != former, row.move(dueAt: former, to: due) else { return }
    try keep(&row)
  }

  // MARK: A step

  /// Takes the due step. Returns the next one; nil if there is none.
  private mutating func escalate(
    _ entry: EscalationsRow.Entry, _ held: HeldMessageRow, zones: inout TimeZones
  ) throws -> EscalationsRow.Entry? {
    let preferences = try effectivePreferences()
    if let end = try end(of: entry, held, preferences) {
      step.count(entry.step.metric(end))
      return nil
    }
    // Only urgent messages pass quiet hours (D2).
    if let end = preferences.quietHoursEnd(at: step.now, zones: &zones),
      !CandidateMessage(held.candidate, sentAt: held.sentAt, policy: rules.policyVersion).isUrgent
    {
      var next = entry
      next.due = end
      return next
    }
    switch entry.step {
    case .again:
      var next = entry
      if try pushAgain(entry, held, preferences) {
        step.count(.again(.made))
        next.pushedAgainAt = step.now
      } else {
        step.count(.again(.noDevice))
      }
      guard rules.policy.webhookSeconds > 0 else { return nil }
      next.step = .webhook
      next.due = step.now + Milliseconds(rules.policy.webhookSeconds) * 1_000
      return next
    case .webhook:
      try emitEscalation(entry, held, preferences)
      step.count(.webhook(.made))
      return nil
    }
  }

  /// Why a message's escalation ends; nil if it continues.
  private func end(
    of entry: EscalationsRow.Entry, _ held: HeldMessageRow, _ preferences: EffectivePreferences
  ) throws -> AnalyzerMetric.EscalationResult? {
    let conversation = try conversation(entry.conversationId)
    let known = conversation.message(entry.key)
    if known?.marks.contains(.withdrawn) ?? false || conversation.withdrawnUpTo.map({ entry.place.at <= $0 }) ?? false {
      return .withdrawn
    }
    if conversation.isRead(entry.place, known) { return .read }
    let wantsNext = entry.step == .again ? rules.policy.againSeconds > 0 : rules.policy.webhookSeconds > 0
    let message = CandidateMessage(held.candidate, sentAt: held.sentAt, policy: rules.policyVersion)
    if !rules.policy.escalates || !wantsNext || !preferences.enabled || preferences.level(of: message).level == .none
      || preferences.mutedSenders.contains(message.sender)
      || preferences.isMuted(entry.conversationId, at: step.now, for: held.recipient?.context)
    {
      return .unwanted
    }
    return try hasArrived(held) ? .arrived : nil
  }

  /// Whether a device of the person has reported one of the message's pushes without naming the message. A device with
  /// so many later reports that the push is no longer stored counts as on.
  private func hasArrived(_ held: HeldMessageRow) throws -> Bool {
    let (conversationId, messageId) = (held.candidate.conversationId, held.candidate.messageId)
    let pushIds = [
      ownPushId(conversationId: conversationId, messageId: messageId),
      ownPushId(conversationId: conversationId, messageId: messageId, anew: .again),
    ]
    for deviceId in user.devices {
      guard let row = try receipts(of: deviceId) else { continue }
      if row.forgottenUpTo.map({ held.sentAt <= $0 }) ?? false { return true }
      for pushId in pushIds {
        if let index = row.index(of: pushId), !row.pushes[index].states.isEmpty { return true }
      }
    }
    return false
  }

  /// Pushes a message again, with a sound, by the person's current preferences. Returns false if no device can be
  /// reached.
  private mutating func pushAgain(
    _ entry: EscalationsRow.Entry, _ held: HeldMessageRow, _ preferences: EffectivePreferences
  ) throws -> Bool {
    let targets = try targets()
    guard !targets.isEmpty else { return false }
    let badge = user.badge(preferences.badgeMode)
    user.toldBadge = badge
    let message = CandidateMessage(held.candidate, sentAt: held.sentAt, policy: rules.policyVersion)
      .apart(in: try conversation(entry.conversationId))
    var push = self.push(
      message, entry.reason, .high, .alert, to: targets, at: entry.place, preferences,
      held.recipient?.context ?? RecipientContext(), words: try words(preferences), badge: badge,
      anew: .again, expiresAt: step.now + rules.policy.freshness)
    push.escalation = Escalation(pushedAt: entry.pushedAt)
    try emit(.push(push))
    let first = ownPushId(
      conversationId: entry.conversationId, messageId: held.candidate.messageId, senderId: message.apartFrom)
    try Resend.take(first, sentAt: held.sentAt, because: cause, in: step)
    try takeFromCatchUp(entry.key, in: entry.conversationId)
    return true
  }

  /// Writes the record that makes the dispatcher call the webhook. It has no text, because the receiver has the chat's
  /// own data.
  private mutating func emitEscalation(
    _ entry: EscalationsRow.Entry, _ held: HeldMessageRow, _ preferences: EffectivePreferences
  ) throws {
    let candidate = held.candidate
    try emit(
      .push(
        Push(
          pushId: rules.pushId(
            userId: userId, kind: .escalation,
            cause: .message(conversationId: candidate.conversationId, messageId: candidate.messageId)),
          kind: .escalation, userId: userId, targets: [], priority: .high, presentation: .badge,
          mentioned: held.recipient?.context.mentioned == true ? true : nil, sentAt: held.sentAt, reason: entry.reason,
          badge: user.badge(preferences.badgeMode), conversationId: candidate.conversationId,
          messageId: candidate.messageId, senderId: candidate.sender.userId,
          escalation: Escalation(
            pushedAt: entry.pushedAt, pushedAgainAt: entry.pushedAgainAt, senderName: candidate.sender.displayName,
            groupName: candidate.conversation.kind == .group ? candidate.conversation.name : nil),
          ttlSeconds: 0, expiresAt: step.now + rules.policy.freshness, decidedAt: step.now)))
  }

  // MARK: The row

  private func escalations() throws -> EscalationsRow {
    if case .escalations(let row) = try step.row(AnalyzerRow.escalationsKey(userId)) { return row }
    return EscalationsRow()
  }

  /// Writes the row and sets a timer for the earliest step, or removes both. An earlier timer stays; when it fires,
  /// nothing is due.
  private func keep(_ row: inout EscalationsRow) throws {
    let key = AnalyzerRow.escalationsKey(userId)
    let name = PersonTimer.escalation.name(of: userId)
    guard let due = row.entries.lazy.map(\.due).min() else {
      if let armed = row.timerAt { step.cancelTimer(name, due: armed) }
      return try step.remove(key)
    }
    if row.timerAt.map({ due < $0 }) ?? true {
      if let armed = row.timerAt { step.cancelTimer(name, due: armed) }
      row.timerAt = due
      try step.setTimer(
        name, due: due, key: userId, eventId: cause.envelope.eventId, origin: cause.ownOrigin, source: cause.source)
    }
    try step.set(.escalations(row), for: key)
  }
}
