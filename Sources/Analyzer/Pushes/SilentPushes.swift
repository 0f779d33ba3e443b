import NudgeSchema
import StreamRuntime

extension PersonStep {
  /// Tells the person's devices that a conversation was read: its notifications go, and the badge falls (D7).
  mutating func pushRead(_ conversationId: String, except excluded: [String]) throws {
    try pushSilently(.read, conversationId: conversationId, except: excluded)
  }

  /// Tells the person's devices the badge.
  mutating func pushBadge() throws { try pushSilently(.badge, conversationId: nil, except: []) }

  private mutating func pushSilently(_ kind: Push.Kind, conversationId: String?, except excluded: [String]) throws {
    let targets = try targets(except: excluded)
    guard !targets.isEmpty else { return }
    let preferences = EffectivePreferences(try preferences(), rules: rules)
    try emit(
      .push(
        Push(
          pushId: rules.pushId(userId: userId, kind: kind, cause: .record(cause.position)), kind: kind,
          userId: userId, targets: targets, priority: .low, presentation: .badge,
          badge: user.badge(preferences.badgeMode), conversationId: conversationId, ttlSeconds: rules.ttlSeconds,
          // A badge is true when it is decided, however old the event that changed it.
          expiresAt: step.now + rules.freshness, decidedAt: step.now)))
  }
}
