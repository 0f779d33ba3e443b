import NudgeSchema
import StreamRuntime
import Wording

extension PersonContext {
  /// Conversations one catch-up tells of: what a step reads. The rest follows in another.
  static let maxCatchUpConversations = 200

  /// `timer.fired`: one push for all that still waits, unless quiet hours have begun since or no device can be reached.
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
    // It waits for a device.
    if isWanted, targets.isEmpty { return }
    let parent = AnalyzerRow.missedKey(userId)
    var page = try step.page(below: parent, limit: Self.maxCatchUpConversations)
    // Rows that the catch-up before this one removed may still be in the store.
    while page.rows.isEmpty, let next = page.next {
      page = try step.page(below: parent, from: next, limit: Self.maxCatchUpConversations)
    }
    var told: [(conversationId: String, row: MissedRow)] = []
    // When what is left is looked at; nil: nothing is left.
    var next: Milliseconds?
    func leave(_ row: MissedRow) {
      // A message that is no longer pending, and is left because of a mute, waits like the rest.
      let pendingUntil = row.pendingUntil.map { $0 + Self.lateGrace }.flatMap { $0 > step.now ? $0 : nil }
      next = min(next ?? .max, pendingUntil ?? ordinary)
    }
    for case (let key, .missed(var row)) in page.rows {
      guard let conversationId = key.parts.last else { continue }
      if isWanted, !preferences.isUnwanted(conversationId) {
        if preferences.mutesForATime(conversationId, at: step.now) {
          leave(row)
          continue
        }
        let before = try conversation(conversationId)
        var conversation = before
        // The badge does not know yet whether one of these is read, or another device may still get it.
        let taken = row.take { entry in
          entry.isPending
            ? step.now < entry.pendingUntil + Self.lateGrace : before.holds.contains { $0.key == entry.key }
        }
        if !taken.isEmpty {
          told.append((conversationId, taken))
          conversation.tell(taken.entries)
          try keep(conversation, was: before, for: conversationId)
        }
        if !row.isEmpty {
          leave(row)
          try step.set(.missed(row), for: key)
          continue
        }
      }
      try step.remove(key)
    }
    if page.next == nil, told.count == 1, let part = told.first, let only = part.row.only {
      try push(only.entry, only.line, from: only.senderId, part, to: targets, preferences, zones: &zones)
    } else if !told.isEmpty {
      try push(told, to: targets, preferences, zones: &zones)
    }
    user.hasMissed = nil
    if page.next != nil {
      // Later than this one, so that a repeat of it is told from the next.
      try armCatchUp(at: max(step.now, fired.dueAt) + 1)
    } else if let next {
      try armCatchUp(at: next)
    }
  }

  private mutating func push(
    _ told: [(conversationId: String, row: MissedRow)], to targets: [PushTarget], _ preferences: EffectivePreferences,
    zones: inout TimeZones
  ) throws {
    let words = try words(preferences)
    let lines = preferences.showPreviews ? Self.lines(of: told, words) : []
    let digest = Digest(
      messages: told.reduce(0) { $0 + $1.row.count }, conversations: told.count, lines: lines,
      parts: told.map { part in
        Digest.Part(
          conversationId: part.conversationId, messages: part.row.count,
          keys: part.row.entries.map { Digest.key($0.key.bits) })
      })
    let alerts = sounds(told.contains { $0.row.alerts }, preferences, zones: &zones)
    let badge = user.badge(preferences.badgeMode)
    user.toldBadge = badge
    let pushId = rules.pushId(userId: userId, kind: .digest, cause: .record(cause.position))
    try rememberTold(told, pushId, words)
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

  /// A catch-up of one message is that message: what happens to it later reaches it as it does others.
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
          quietHours: preferences.quietHours, sentAt: entry.place.at, badge: badge,
          conversationId: part.conversationId, messageId: line.messageId, senderId: senderId,
          conversation: PushConversation(
            senderName: line.sender, kind: group == nil ? .direct : .group, name: group), language: words.tag,
          ttlSeconds: rules.ttlSeconds, expiresAt: step.now + rules.policy.freshness, decidedAt: step.now)))
  }

  /// Whether a catch-up sounds. A person with the app open needs no sound.
  private mutating func sounds(
    _ alerts: Bool, _ preferences: EffectivePreferences, zones: inout TimeZones
  ) -> Bool {
    alerts && !user.isInApp(at: step.now, horizon: rules.activityHorizon) && spendCatchUp(preferences, zones: &zones)
  }

  /// The most relevant messages, the first before all.
  private static func lines(
    of told: [(conversationId: String, row: MissedRow)], _ words: Wording
  ) -> [Digest.Line] {
    let all = told.flatMap { part in part.row.entries.map { (part.conversationId, part.row.group, $0) } }
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
  /// Whether the person has chosen since to be told of nothing in a conversation. Where a mute excepts mentions, what waits may be one.
  fileprivate func isUnwanted(_ conversationId: String) -> Bool {
    let key = MessageKey(conversationId)
    return conversationLevels.contains { $0.conversation == key && $0.level == .none }
      || muted.contains {
        sameId($0.conversationId, conversationId) && $0.until == nil && $0.exceptMentions != true
      }
  }

  /// Whether the person muted a conversation until a later time.
  fileprivate func mutesForATime(_ conversationId: String, at time: Milliseconds) -> Bool {
    mute(of: conversationId, at: time).map { $0.until != nil } ?? false
  }
}
