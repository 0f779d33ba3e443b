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

  /// Cancels pushes that wait, where the person turned notifications off or muted a conversation.
  mutating func cancelUnwanted(_ after: PreferencesRow, was before: PreferencesRow) throws {
    if after.enabled?.value == false, before.enabled?.value != false {
      for deviceId in user.devices {
        try emit(.cancelled(PushCancelled(userId: userId, deviceId: deviceId, kind: .message)))
        // Anybody may have one, of pushes that were too late.
        try emit(.cancelled(PushCancelled(userId: userId, deviceId: deviceId, kind: .digest)))
      }
      return
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

  /// Whether a push of an unread message may still wait: it was made, perhaps once more, and its freshness, or what a replay
  /// allowed instead, has not ended.
  private func mayWait(in conversation: PersonConversationRow, upTo place: MessagePlace?) throws -> Bool {
    let longest = rules.policy.freshness + rules.policy.escalationSpan
    if conversation.mayWait(upTo: place, since: step.now - longest) { return true }
    return try conversation.mayWait(upTo: place, since: step.now - Resend.longestAge)
      && Resend.wasMade(for: userId, now: step.now, in: step)
  }

  /// The badge as the person has it now.
  private func badge() throws -> Int { user.badge(EffectivePreferences(try preferences(), rules: rules).badgeMode) }
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
