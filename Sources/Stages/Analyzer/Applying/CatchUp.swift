import NudgeSchema
import StreamRuntime
import Wording

extension PersonContext {
  /// The most conversations in one catch-up, which limits what a step reads. The rest follows in another catch-up.
  static let maxCatchUpConversations = 200

  /// `timer.fired`: makes one push for all waiting messages, unless quiet hours have begun or no device can be reached.
  mutating func catchUpTimerFired(_ fired: TimerFired, zones: inout TimeZones) throws {
    guard user.catchUpAt == fired.dueAt else { return }
    user.catchUpAt = nil
    let preferences = try effectivePreferences()
    let isWanted = preferences.enabled && preferences.digestTimes?.isEmpty != true
    if isWanted, let end = preferences.quietHoursEnd(at: step.now, zones: &zones) {
      return try armCatchUp(at: spread(end, preferences, zones: &zones))
    }
    let ordinary = catchUpTime(preferences, zones: &zones) ?? step.now + 86_400_000
    let targets = try targets()
    // The catch-up waits for a device.
    if isWanted, targets.isEmpty { return }
    let parent = AnalyzerRow.missedKey(userId)
    var page = try step.page(below: parent, limit: Self.maxCatchUpConversations)
    // The store may still have rows that the previous catch-up removed.
    while page.rows.isEmpty, let next = page.next {
      page = try step.page(below: parent, from: next, limit: Self.maxCatchUpConversations)
    }
    var covered: [(conversationId: String, row: MissedRow)] = []
    // When to check the remaining messages; nil if none remain.
    var next: Milliseconds?
    func leave(_ row: MissedRow, _ holds: [Hold] = []) {
      next = min(next ?? .max, row.waitsUntil(holds, after: step.now) ?? ordinary)
    }
    for case (let key, .missed(var row)) in page.rows {
      guard let conversationId = key.parts.last else { continue }
      if isWanted, !preferences.isUnwanted(conversationId, named: row.group) {
        if preferences.mutesForATime(conversationId, at: step.now) {
          leave(row)
          continue
        }
        let before = try conversation(conversationId)
        var conversation = before
        row.removeMessages(of: preferences.mutedSenders) { before.message($0)?.sender.map { MessageKey(value: $0) } }
        // The badge does not yet reflect whether some of these were read, or another device may still get the message's
        // push.
        let taken = row.take { entry in
          entry.isPending
            ? step.now < entry.pendingUntil + Self.lateGrace : before.holds.contains { $0.key == entry.key }
        }
        if !taken.isEmpty {
          covered.append((conversationId, taken))
          conversation.recordCatchUp(taken.entries)
          try keep(conversation, was: before, for: conversationId)
        }
        if !row.isEmpty {
          leave(row, before.holds)
          try step.set(.missed(row), for: key)
          continue
        }
      }
      try step.remove(key)
    }
    if page.next == nil, covered.count == 1, let part = covered.first, let only = part.row.only {
      try push(only.entry, only.line, from: only.senderId, part, to: targets, preferences, zones: &zones)
    } else if !covered.isEmpty {
      try push(covered, to: targets, preferences, zones: &zones)
    }
    user.hasMissed = nil
    if page.next != nil {
      // The time is later than this catch-up's, so that a repeat of this one is recognised.
      try armCatchUp(at: max(step.now, fired.dueAt) + 1)
    } else if let next {
      try armCatchUp(at: next)
    }
  }

  private mutating func push(
    _ covered: [(conversationId: String, row: MissedRow)], to targets: [PushTarget],
    _ preferences: EffectivePreferences,
    zones: inout TimeZones
  ) throws {
    let words = try words(preferences)
    let lines = preferences.showPreviews ? Self.lines(of: covered, words) : []
    let digest = Digest(
      messages: covered.reduce(0) { $0 + $1.row.count }, conversations: covered.count, lines: lines,
      parts: covered.map { part in
        Digest.Part(
          conversationId: part.conversationId, messages: part.row.count,
          keys: part.row.entries.map { Digest.key($0.key.bits) })
      })
    let alerts = sounds(covered.contains { $0.row.alerts }, preferences, zones: &zones)
    let badge = user.badge(preferences.badgeMode)
    user.toldBadge = badge
    let pushId = rules.pushId(userId: userId, kind: .digest, cause: .record(cause.position))
    try saveShownCatchUp(covered, pushId, words)
    try emit(
      .push(
        Push(
          pushId: pushId, kind: .digest,
          userId: userId, targets: targets,
          title: words.catchUp(messages: digest.messages, conversations: digest.conversations),
          body: lines.isEmpty ? nil : lines.map { "\($0.title): \($0.text)" }.joined(separator: "\n"),
          priority: .medium, presentation: alerts ? .alert : .silent, quietHours: preferences.quietHours,
          badge: badge, language: words.tag, digest: digest, ttlSeconds: rules.ttlSeconds,
          expiresAt: step.now + rules.policy.freshness, decidedAt: step.now)))
  }

  /// A catch-up with one message is sent as that message's push, so that later reads, edits and deletions reach it like
  /// any other.
  private mutating func push(
    _ entry: MissedRow.Entry, _ line: MissedRow.Line, from senderId: String,
    _ part: (conversationId: String, row: MissedRow), to targets: [PushTarget], _ preferences: EffectivePreferences,
    zones: inout TimeZones
  ) throws {
    let before = try conversation(part.conversationId)
    var conversation = before
    conversation.mark(entry.key) { $0.formUnion([.notified, .shown]) }
    try keep(conversation, was: before, for: part.conversationId)
    let words = try words(preferences)
    let group = part.row.group
    let alerts = sounds(entry.alerts, preferences, zones: &zones)
    let badge = user.badge(preferences.badgeMode)
    user.toldBadge = badge
    try emit(
      .push(
        Push(
          pushId: rules.pushId(userId: userId, kind: .message, cause: .record(cause.position)), kind: .message,
          userId: userId, targets: targets, title: group.map { words.title(of: line.sender, in: $0) } ?? line.sender,
          body: preferences.showPreviews
            ? line.text.cut(toCharacters: rules.policy.bodyCharacters) : words.newMessage(from: line.sender),
          avatarUrl: line.avatarUrl, priority: .medium, presentation: alerts ? .alert : .silent,
          quietHours: preferences.quietHours, sentAt: entry.place.at,
          reason: preferences.reason(in: part.conversationId, isGroup: group != nil), badge: badge,
          conversationId: part.conversationId, messageId: line.messageId, senderId: senderId,
          conversation: PushConversation(
            senderName: line.sender, kind: group == nil ? .direct : .group, name: group), language: words.tag,
          ttlSeconds: rules.ttlSeconds, expiresAt: step.now + rules.policy.freshness, decidedAt: step.now)))
  }

  /// Whether a catch-up sounds. A person whose app is open needs no sound.
  private mutating func sounds(
    _ alerts: Bool, _ preferences: EffectivePreferences, zones: inout TimeZones
  ) -> Bool {
    alerts && !user.isInApp(at: step.now, horizon: rules.activityHorizon) && spendCatchUp(preferences, zones: &zones)
  }

  /// The most relevant messages, the most relevant first.
  private static func lines(
    of covered: [(conversationId: String, row: MissedRow)], _ words: Wording
  ) -> [Digest.Line] {
    let all = covered.flatMap { part in part.row.entries.map { (part.conversationId, part.row.group, $0) } }
      .filter { $0.2.line != nil }.sorted { $1.2.isLess(than: $0.2) }
    return all.prefix(Digest.maxLines).compactMap { conversationId, group, entry in
      entry.line.map { line in
        Digest.Line(
          conversationId: conversationId, messageId: line.messageId,
          title: group.map { words.title(of: line.sender, in: $0) } ?? line.sender,
          text: MissedRow.Line.short(line.text))
      }
    }
  }
}

extension EffectivePreferences {
  /// Whether the person has since chosen to see nothing of a conversation. If a mute excepts mentions, a waiting
  /// message may be one.
  fileprivate func isUnwanted(_ conversationId: String, named group: String?) -> Bool {
    showsNothing(of: conversationId, isGroup: group == nil ? nil : true)
      || muted.contains {
        sameId($0.conversationId, conversationId) && $0.until == nil && $0.exceptMentions != true
      }
  }

  /// Whether the person muted a conversation until a later time.
  fileprivate func mutesForATime(_ conversationId: String, at time: Milliseconds) -> Bool {
    mute(of: conversationId, at: time).map { $0.until != nil } ?? false
  }
}

/// Held-back messages wait in one row per conversation, with one timer for the person (decision 91). Reads, deletions
/// and edits reach them there.
extension PersonContext {
  /// Adds a message to the catch-up. Returns when that is due; nil if the message is not kept.
  mutating func holdBack(
    _ facts: Case, _ missed: Missed, zones: inout TimeZones
  ) throws -> Milliseconds? {
    let (message, preferences) = (facts.message, facts.person.preferences)
    // A catch-up that waits for a device does not grow, because no device may ever come.
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

  /// A conversation changed: removes waiting messages that were read or deleted.
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

  /// An edit changes the waiting message, so that the catch-up shows its last text. Returns whether the message waits
  /// there instead of a push.
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

  /// Removes all waiting messages of a conversation.
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

  /// When the person catches up next; nil if they never do.
  func catchUpTime(_ preferences: EffectivePreferences, zones: inout TimeZones) -> Milliseconds? {
    let offset = rules.catchUpOffset(of: userId)
    guard let time = preferences.catchUpTime(after: step.now - offset, zones: &zones) else { return nil }
    let due = spread(time, preferences, zones: &zones)
    // The time without the offset may already have passed.
    return due > step.now ? due : preferences.catchUpTime(after: step.now, zones: &zones)
  }

  /// A time with the person's offset, or without it if quiet hours would have begun again by then. The time between
  /// quiet hours may be shorter than the spread.
  func spread(_ time: Milliseconds, _ preferences: EffectivePreferences, zones: inout TimeZones) -> Milliseconds {
    let later = time + rules.catchUpOffset(of: userId)
    return preferences.quietHoursEnd(at: later, zones: &zones) == nil ? later : time
  }

  /// Sets the timer that makes the catch-up. It replaces a timer that is set.
  mutating func armCatchUp(at due: Milliseconds) throws {
    let name = PersonTimer.catchUp.name(of: userId)
    if let armed = user.catchUpAt { step.cancelTimer(name, due: armed) }
    user.catchUpAt = due
    user.hasMissed = true
    try step.setTimer(
      name, due: due, key: userId, eventId: cause.envelope.eventId, origin: cause.ownOrigin, source: cause.source)
  }

  /// The person changed when they catch up. If they no longer do, or their quiet hours have just ended, waiting
  /// messages are sent soon.
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
    if isOver { try bringBadgeForward(to: soon + 1) }
  }
}

/// When one of its messages is read, deleted or edited, a catch-up on the devices is updated without a sound (D18).
extension PersonContext {
  /// Stores a catch-up of several messages in place of the former one.
  func saveShownCatchUp(_ covered: [(conversationId: String, row: MissedRow)], _ pushId: String, _ words: Wording)
    throws
  {
    let all = covered.flatMap { part in part.row.entries.map { (part.conversationId, part.row.group, $0) } }
    let lines = all.filter { $0.2.line != nil }.sorted { $1.2.isLess(than: $0.2) }.prefix(ToldRow.maxLines)
    let row = ToldRow(
      pushId: pushId, toldAt: step.now, messages: covered.reduce(0) { $0 + $1.row.count }, conversations: covered.count,
      keys: all.suffix(ToldRow.maxKeys).map(\.2.key),
      lines: lines.compactMap { conversationId, group, entry in
        entry.line.map { line in
          ToldRow.Line(
            key: entry.key, conversationId: conversationId, messageId: line.messageId,
            title: group.map { words.title(of: line.sender, in: $0) } ?? line.sender,
            text: MissedRow.Line.short(line.text))
        }
      })
    try step.set(.told(row), for: AnalyzerRow.toldKey(userId))
  }

  /// A conversation changed: removes read and deleted messages from the catch-up.
  mutating func settleShownCatchUp(_ after: PersonConversationRow, was before: PersonConversationRow) throws {
    guard let covered = before.late?.told, after.unread < before.unread || after.withdrawnUpTo != before.withdrawnUpTo
    else { return }
    func waits(_ key: MessageKey) -> Bool {
      guard let known = after.message(key) else { return before.message(key).map { after.isUnread($0.place) } ?? false }
      return known.marks.contains(.unread)
    }
    let gone = covered.filter { !waits($0) }
    guard !gone.isEmpty, var row = try toldRow(), row.remove(gone, leaving: covered.filter(waits)) else { return }
    try replaceShownCatchUp(row)
  }

  /// A message of the catch-up was edited. Returns whether the catch-up shows its text.
  mutating func editShownCatchUp(_ key: MessageKey, text: String) throws -> Bool {
    guard var row = try toldRow(), row.keys.contains(key) else { return false }
    guard let index = row.lines.firstIndex(where: { $0.key == key }) else { return true }
    row.lines[index].text = MissedRow.Line.short(MissedRow.Line.cut(text))
    try replaceShownCatchUp(row)
    return true
  }

  private func toldRow() throws -> ToldRow? {
    if case .told(let row)? = try step.row(AnalyzerRow.toldKey(userId)) { return row }
    return nil
  }

  /// Pushes the current catch-up in place of the one shown. Without messages it is removed from the screen.
  private mutating func replaceShownCatchUp(_ row: ToldRow) throws {
    let isEmpty = row.messages == 0
    if isEmpty {
      try step.remove(AnalyzerRow.toldKey(userId))
    } else {
      try step.set(.told(row), for: AnalyzerRow.toldKey(userId))
    }
    let preferences = try effectivePreferences()
    guard preferences.enabled, step.now < row.toldAt + ToldRow.shownFor else { return }
    let targets = isEmpty ? try silentTargets() : try targets()
    guard !targets.isEmpty else { return }
    let words = try words(preferences)
    let lines = preferences.showPreviews ? Array(row.lines.prefix(Digest.maxLines)) : []
    let badge = user.loweredBadge(preferences.badgeMode)
    user.toldBadge = badge
    try emit(
      .push(
        Push(
          pushId: row.pushId, kind: .digest, userId: userId, targets: targets,
          title: isEmpty ? nil : words.catchUp(messages: row.messages, conversations: max(1, row.conversations)),
          body: lines.isEmpty ? nil : lines.map { "\($0.title): \($0.text)" }.joined(separator: "\n"),
          priority: isEmpty ? .low : .medium, presentation: isEmpty ? .badge : .silent, replaces: true, badge: badge,
          language: words.tag,
          digest: Digest(
            messages: row.messages, conversations: isEmpty ? 0 : max(1, row.conversations),
            lines: lines.map {
              Digest.Line(
                conversationId: $0.conversationId, messageId: $0.messageId, title: $0.title, text: $0.text)
            }), ttlSeconds: rules.ttlSeconds, expiresAt: step.now + rules.policy.freshness, decidedAt: step.now)))
  }
}
