import NudgeSchema
import StreamRuntime
import Wording

/// Messages that were held back wait in one row a conversation, with one timer of the person (decision 91). Reads, deletions and edits reach it
/// there.
extension PersonContext {
  /// Keeps a message for the catch-up. Returns when that is due; nil: it is not kept.
  mutating func holdBack(
    _ facts: Case, _ missed: Missed, zones: inout TimeZones
  ) throws -> Milliseconds? {
    let (message, preferences) = (facts.message, facts.person.preferences)
    // A catch-up that waits for a device does not grow: nobody knows whether one comes.
    if user.catchUpAt == nil, user.hasMissed == true { return nil }
    if missed.isLate {
      let due = lateTime(preferences, zones: &zones)
      if user.catchUpAt.map({ due < $0 }) ?? true { try armCatchUp(at: due) }
    } else if user.catchUpAt == nil {
      guard let due = catchUpTime(preferences, zones: &zones) else { return nil }
      try armCatchUp(at: due)
    }
    let conversation = message.candidate.conversation
    let key = AnalyzerRow.missedKey(userId, message.candidate.conversationId)
    var row = try missedRow(key) ?? MissedRow(group: conversation.kind == .group ? conversation.name : nil)
    let words = try words(preferences)
    row.add(
      MissedRow.Entry(
        key: message.key, place: facts.place, rank: missed.rank, alerts: missed.alerts,
        line: MissedRow.Line(
          message.candidate.messageId, from: message.candidate.sender.displayName,
          saying: message.body(showText: true, words), senderId: message.candidate.sender.userId,
          avatarUrl: message.candidate.sender.avatarUrl)))
    try step.set(.missed(row), for: key)
    return user.catchUpAt
  }

  // MARK: What happens to it meanwhile

  /// A conversation changed: what was read or taken back there waits no longer.
  mutating func settleMissed(
    _ after: PersonConversationRow, was before: PersonConversationRow, for conversationId: String
  ) throws {
    guard
      after.readUpTo != before.readUpTo || after.withdrawnUpTo != before.withdrawnUpTo || after.unread < before.unread
    else { return }
    try changeMissed(in: conversationId) { row in
      row.keep({ after.isMissed($0, $1) }, olderUpTo: { after.isUnread($0) })
    }
  }

  /// A message was deleted, or a replay showed it.
  mutating func dropMissed(_ key: MessageKey, in conversationId: String) throws {
    try changeMissed(in: conversationId) { $0.remove(key) }
  }

  /// An edit changes the waiting message: the catch-up has its last text. Returns whether the message waits there instead of its push.
  mutating func editMissed(
    _ key: MessageKey, in conversationId: String, body: String, from sender: Member?
  ) throws -> Bool {
    var isLate = false
    try changeMissed(in: conversationId) {
      isLate = $0.hasLate(key)
      $0.edit(key, body, from: sender)
    }
    return isLate
  }

  /// Nothing of a conversation waits any more.
  mutating func forgetMissed(in conversationId: String) throws {
    guard user.hasMissed == true, try missedRow(AnalyzerRow.missedKey(userId, conversationId)) != nil else { return }
    try step.remove(AnalyzerRow.missedKey(userId, conversationId))
  }

  private mutating func changeMissed(in conversationId: String, _ change: (inout MissedRow) -> Void) throws {
    guard user.hasMissed == true else { return }
    let key = AnalyzerRow.missedKey(userId, conversationId)
    guard let before = try missedRow(key) else { return }
    var row = before
    change(&row)
    guard row != before else { return }
    if row.isEmpty { try step.remove(key) } else { try step.set(.missed(row), for: key) }
  }

  func missedRow(_ key: RowKey) throws -> MissedRow? {
    if case .missed(let row) = try step.row(key) { return row }
    return nil
  }

  // MARK: Its time

  /// When the person catches up next; nil: never.
  func catchUpTime(_ preferences: EffectivePreferences, zones: inout TimeZones) -> Milliseconds? {
    let offset = rules.catchUpOffset(of: userId)
    guard let time = preferences.catchUpTime(after: step.now - offset, zones: &zones) else { return nil }
    let due = spread(time, preferences, zones: &zones)
    // Without its offset it may be over.
    return due > step.now ? due : preferences.catchUpTime(after: step.now, zones: &zones)
  }

  /// A time with the person's offset, or without it where quiet hours have begun again by then: they may leave less than the spread.
  func spread(_ time: Milliseconds, _ preferences: EffectivePreferences, zones: inout TimeZones) -> Milliseconds {
    let later = time + rules.catchUpOffset(of: userId)
    return preferences.quietHoursEnd(at: later, zones: &zones) == nil ? later : time
  }

  /// Sets the timer, in place of one that is set. The catch-up is made when it fires.
  mutating func armCatchUp(at due: Milliseconds) throws {
    let name = PersonTimer.catchUp.name(of: userId)
    if let armed = user.catchUpAt { step.cancelTimer(name, due: armed) }
    user.catchUpAt = due
    user.hasMissed = true
    try step.setTimer(
      name, due: due, key: userId, eventId: cause.envelope.eventId, origin: cause.ownOrigin, source: cause.source)
  }

  /// The person changed when they catch up. Where they no longer do, or their quiet hours are over now, they are told soon of what waits.
  mutating func moveCatchUp(
    _ after: PreferencesRow, was before: PreferencesRow, zones: inout TimeZones
  ) throws {
    guard
      after.quietHours?.value != before.quietHours?.value || after.digestTimes?.value != before.digestTimes?.value
        || after.timeZone?.value != before.timeZone?.value || after.dailyAlerts?.value != before.dailyAlerts?.value
    else { return }
    let (preferences, former) = (
      EffectivePreferences(after, rules: rules), EffectivePreferences(before, rules: rules)
    )
    let isOver =
      former.quietHoursEnd(at: step.now, zones: &zones) != nil
      && preferences.quietHoursEnd(at: step.now, zones: &zones) == nil
    let soon = step.now + rules.catchUpOffset(of: userId)
    if let armed = user.catchUpAt {
      let next = isOver && preferences.digestTimes == nil ? nil : catchUpTime(preferences, zones: &zones)
      let due = next ?? soon
      if due != armed { try armCatchUp(at: due) }
    }
    if isOver { try moveBadge(to: soon + 1) }
  }
}
