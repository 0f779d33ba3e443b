import NudgeSchema
import StreamRuntime

extension PersonStep {
  /// Tells the person's devices that a conversation was read: its notifications go, and the badge falls (D7).
  mutating func pushRead(_ conversationId: String, except excluded: [String]) throws {
    try pushSilently(.read, conversationId: conversationId, except: excluded)
  }

  /// Tells the person's devices the badge, unless that is what they show.
  mutating func pushBadge() throws { try pushSilently(.badge, conversationId: nil, except: []) }

  /// Tells the person's devices that a message was taken back: what is shown of it goes (D13).
  mutating func pushDeleted(_ messageId: String, in conversationId: String) throws {
    try pushSilently(.deleted, conversationId: conversationId, messageId: messageId, except: [])
  }

  private mutating func pushSilently(
    _ kind: Push.Kind, conversationId: String?, messageId: String? = nil, except excluded: [String]
  ) throws {
    let targets = try targets(except: excluded)
    let badge = user.badge(EffectivePreferences(try preferences(), rules: rules).badgeMode)
    if kind == .badge, user.toldBadge == badge { return }
    // Also where the only device is the one that read: it knows what it shows.
    user.toldBadge = badge
    guard !targets.isEmpty else { return }
    try emit(
      .push(
        Push(
          pushId: rules.pushId(userId: userId, kind: kind, cause: .record(cause.position)), kind: kind,
          userId: userId, targets: targets, priority: .low, presentation: .badge,
          badge: badge, conversationId: conversationId, messageId: messageId, ttlSeconds: rules.ttlSeconds,
          // A badge is true when it is decided, however old the event that changed it.
          expiresAt: step.now + rules.freshness, decidedAt: step.now)))
  }
}
