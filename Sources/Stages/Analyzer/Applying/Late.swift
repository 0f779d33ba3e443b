import NudgeSchema
import StreamRuntime

/// Pushes that the dispatcher could not send in time wait for the catch-up, together with held-back messages (decision
/// 96).
extension PersonContext {
  /// How long further messages are collected before the person's offset begins.
  static let lateCollection: Milliseconds = 5_000
  /// How long after a push ends its last device may report that it missed it.
  static let lateGrace: Milliseconds = 60_000

  /// `push.missed`: if all devices missed the message and it is unread, it waits for the catch-up.
  mutating func miss(_ missed: PushMissed, zones: inout TimeZones) throws {
    let preferences = try effectivePreferences()
    guard preferences.enabled, preferences.digestTimes?.isEmpty != true else { return }
    let key = MessageKey(missed.messageId)
    let before = try conversation(missed.conversationId)
    // An unknown conversation was deleted. If a catch-up contains the message or has shown it, the record is a repeat.
    guard before != PersonConversationRow(), !before.isLeftToCatchUp(key) else { return }
    let known = before.message(key)
    let place =
      known?.place
      ?? MessagePlace(at: missed.sentAt, order: OriginOrder(offset: cause.source.offset, index: 0))
    guard before.isMissed(key, place) else { return }
    // The text of a push made before an edit is outdated.
    let isOutdated = before.wasEdited(key) && missed.edited != true
    let entry = MissedRow.Entry(
      key: key, place: place, rank: known?.judged.map { Int($0.score) } ?? missed.priority.rank,
      alerts: missed.presentation == .alert,
      line: isOutdated
        ? nil
        : MissedRow.Line(
          missed.messageId, from: missed.senderName, saying: missed.text, senderId: missed.senderId,
          avatarUrl: missed.avatarUrl))
    let rowKey = AnalyzerRow.missedKey(userId, missed.conversationId)
    let rowBefore = try missedRow(rowKey)
    var row = rowBefore ?? MissedRow(group: missed.groupName)
    let late = MissedRow.Late(missed)
    let isMissedByAll = row.miss(entry, late)
    guard row != rowBefore else { return }
    try step.set(.missed(row), for: rowKey)
    if isMissedByAll {
      var conversation = before
      conversation.missPush(of: key)
      try keep(conversation, was: before, for: missed.conversationId)
    }
    // Without a device the catch-up waits for one.
    if user.catchUpAt == nil, user.hasMissed == true { return }
    let due =
      isMissedByAll ? lateTime(preferences, zones: &zones) : max(late.until, step.now) + Self.lateGrace
    if user.catchUpAt.map({ due < $0 }) ?? true { try armCatchUp(at: due) }
  }

  /// When a catch-up shows late messages: at the next of the person's own times, or else soon, but never in quiet
  /// hours.
  func lateTime(_ preferences: EffectivePreferences, zones: inout TimeZones) -> Milliseconds {
    let offset = rules.catchUpOffset(of: userId)
    let soon = step.now + Self.lateCollection + offset
    if preferences.digestTimes != nil { return catchUpTime(preferences, zones: &zones) ?? soon }
    return preferences.quietHoursEnd(at: soon, zones: &zones).map { $0 + offset } ?? soon
  }

  /// Whether the catch-up contains a message, or has shown it, instead of its push.
  func isLeftToCatchUp(_ key: MessageKey, _ conversation: PersonConversationRow, in conversationId: String) throws
    -> Bool
  {
    if conversation.isLeftToCatchUp(key) { return true }
    guard user.hasMissed == true else { return false }
    return try missedRow(AnalyzerRow.missedKey(userId, conversationId))?.hasLate(key) ?? false
  }

  /// A message whose push was missed is pushed again. A message that was silent because of a limit on alerts stays in
  /// the catch-up.
  mutating func takeFromCatchUp(_ key: MessageKey, in conversationId: String) throws {
    let before = try conversation(conversationId)
    guard before.isLeftToCatchUp(key) else { return }
    try dropMissed(key, in: conversationId)
    var conversation = before
    conversation.mark(key) { $0.insert(.shown) }
    try keep(conversation, was: before, for: conversationId)
  }
}

extension MissedRow {
  /// When the first reason ends for which a catch-up left these messages: the wait for a read, or their pushes. Nil for
  /// messages that wait like others, for example those that are no longer pending but stay because of a mute.
  func waitsUntil(_ holds: [Hold], after now: Milliseconds) -> Milliseconds? {
    // The hold's own timer comes first.
    let held = holds.filter { hold in entries.contains { $0.key == hold.key } }.map { max($0.due, now) + 1 }.min()
    let pending = pendingUntil.map { $0 + PersonContext.lateGrace }.flatMap { $0 > now ? $0 : nil }
    return [held, pending].compactMap { $0 }.min()
  }
}

extension Priority {
  /// The value of a message without a score, in thousandths.
  fileprivate var rank: Int {
    switch self {
    case .high: 900
    case .medium: 500
    case .low: 100
    }
  }
}
