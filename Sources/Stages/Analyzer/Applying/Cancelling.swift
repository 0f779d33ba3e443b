import NudgeSchema
import StreamRuntime

extension PersonContext {
  /// Pushes that wait for another attempt are not sent once their message was read (D7): `last` and all before it, with nil all up to
  /// the time read up to. Says so only where a push may still wait.
  mutating func cancelRead(
    _ after: PersonConversationRow, was before: PersonConversationRow, for conversationId: String,
    last messageId: String?
  ) throws {
    guard let readUpTo = after.readUpTo, before.readUpTo != readUpTo || after.unread < before.unread,
      try mayWait(in: before, upTo: readUpTo)
    else { return }
    try emit(
      .cancelled(
        PushCancelled(
          userId: userId, messageId: messageId, conversationId: conversationId, sentUpTo: readUpTo.at,
          badge: try badge())))
  }

  /// What waits follows the person's wishes: pushes that they no longer want are cancelled, and the others lose what must not be shown any
  /// more, or wait by the quiet hours that they have now.
  mutating func cancelUnwanted(_ after: PreferencesRow, was before: PreferencesRow) throws {
    if after.enabled?.value == false, before.enabled?.value != false {
      for deviceId in user.devices {
        try emit(.cancelled(PushCancelled(userId: userId, deviceId: deviceId, kind: .message)))
        // Anybody may have one, of pushes that were too late.
        try emit(.cancelled(PushCancelled(userId: userId, deviceId: deviceId, kind: .digest)))
      }
      return
    }
    if after.showPreviews?.value == false, before.showPreviews?.value != false {
      try emit(.cancelled(PushCancelled(userId: userId, showPreviews: false)))
    }
    if let hours = after.quietHours, hours.value != before.quietHours?.value ?? nil {
      // Equal times are no quiet hours.
      let none = QuietHours(start: "00:00", end: "00:00", timeZone: nil)
      try emit(.cancelled(PushCancelled(userId: userId, quietHours: hours.value ?? none)))
    }
    let known = before.muted?.value ?? []
    for mute in after.muted?.value ?? [] where !known.contains(mute) && mute.until.map({ step.now < $0 }) ?? true {
      let muted = try conversation(mute.conversationId)
      guard try mayWait(in: muted, upTo: nil) else { continue }
      try emit(
        .cancelled(
          PushCancelled(
            userId: userId, conversationId: mute.conversationId, kind: .message,
            exceptMentions: mute.exceptMentions == true ? true : nil)))
    }
  }

  /// Cancels pushes that wait, of senders and by levels that the person has changed to see less. The ids of senders and conversations are
  /// those of the change: the row has no more than their keys.
  mutating func cancelUnwanted(
    by patch: PreferencesPatch, _ after: PreferencesRow, was before: PreferencesRow
  ) throws {
    guard after.enabled?.value != false else { return }
    let (muted, formerlyMuted) = (after.mutedSenders?.value ?? [], before.mutedSenders?.value ?? [])
    for sender in (patch.mutedSenders ?? []) + (patch.changes.mutedSenders?.add ?? []) {
      let key = MessageKey(sender)
      guard muted.contains(key), !formerlyMuted.contains(key) else { continue }
      try emit(.cancelled(PushCancelled(userId: userId, kind: .message, senderId: sender)))
    }
    let levels = after.conversationLevels?.value ?? []
    let formerLevels = before.conversationLevels?.value ?? []
    let change = patch.changes.conversationLevels
    for conversationId in ((patch.conversationLevels ?? []) + (change?.add ?? [])).map(\.conversationId) {
      let key = MessageKey(conversationId)
      guard let entry = levels.first(where: { $0.conversation == key }), entry.level.showsLess,
        !formerLevels.contains(entry)
      else { continue }
      try cancelUnwanted(in: conversationId, entry.level)
    }
    let defaults = EffectivePreferences(after, rules: rules)
    for conversationId in change?.remove ?? [] {
      // From here on the default holds.
      let key = MessageKey(conversationId)
      guard let former = formerLevels.first(where: { $0.conversation == key }),
        !levels.contains(where: { $0.conversation == key })
      else { continue }
      for (kind, level) in [
        (ConversationKind.direct, defaults.directLevel.level), (.group, defaults.groupLevel.level),
      ] where level.showsLess && level != former.level {
        try cancelUnwanted(in: conversationId, level, ofKind: kind)
      }
    }
    for (kind, level, former) in [
      (ConversationKind.direct, after.directLevel?.value, before.directLevel?.value),
      (.group, after.groupLevel?.value, before.groupLevel?.value),
    ] where level != former && level?.showsLess ?? false {
      try emit(
        .cancelled(
          PushCancelled(
            userId: userId, kind: .message, conversationKind: kind,
            exceptConversations: levels.isEmpty
              ? nil : levels.map { Digest.key(UInt64(bitPattern: $0.conversation.value)) },
            exceptAddressed: level == .mentions ? true : nil)))
    }
  }

  /// Cancels the pushes of a conversation that its level shows no longer.
  private mutating func cancelUnwanted(
    in conversationId: String, _ level: NotificationLevel, ofKind kind: ConversationKind? = nil
  ) throws {
    try emit(
      .cancelled(
        PushCancelled(
          userId: userId, conversationId: conversationId, kind: .message, conversationKind: kind,
          exceptAddressed: level == .mentions ? true : nil)))
  }

  /// Whether a push of an unread message may still wait: it was made, perhaps once more, and its freshness, or what a replay
  /// allowed instead, has not ended.
  private func mayWait(in conversation: PersonConversationRow, upTo place: MessagePlace?) throws -> Bool {
    let longest = rules.policy.freshness + rules.policy.escalationSpan
    if conversation.mayWait(upTo: place, since: step.now - longest) { return true }
    return try conversation.mayWait(upTo: place, since: step.now - Resend.longestAge)
      && Resend.wasMade(for: userId, now: step.now, in: step)
  }

  /// The badge as the person has it now.
  private func badge() throws -> Int { user.badge(try effectivePreferences().badgeMode) }
}

extension NotificationLevel {
  /// Whether it keeps back messages that address no one in particular.
  fileprivate var showsLess: Bool { self == .none || self == .mentions }
}

extension PersonConversationRow {
  /// Whether an unread message of after `time` has a push.
  fileprivate func mayWait(upTo place: MessagePlace?, since time: Milliseconds) -> Bool {
    recent.contains { message in
      message.marks.isSuperset(of: [.unread, .notified]) && message.place.at >= time
        && (place.map { message.place <= $0 } ?? true)
    }
  }
}
