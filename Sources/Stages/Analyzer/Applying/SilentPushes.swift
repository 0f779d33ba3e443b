import NudgeSchema
import StreamRuntime

extension PersonContext {
  /// Tells the person's devices that a conversation was read: its notifications go, and the badge falls (D7).
  ///
  /// - Parameters:
  ///   - messageId: The last message that was read; nil: all that had been written by `time`.
  ///   - time: When that message was written. Apps never remove later ones.
  mutating func pushRead(
    _ conversationId: String, upTo messageId: String?, at time: Milliseconds, except excluded: [String]
  ) throws {
    try showRead(conversationId, upTo: messageId, at: time)
    try withdrawNotifications(of: conversationId, upTo: time, except: excluded)
    try pushSilently(.read, conversationId: conversationId, messageId: messageId, sentAt: time, except: excluded)
  }

  /// Tells the person's devices the badge, unless that is what they show.
  mutating func pushBadge() throws { try pushSilently(.badge, conversationId: nil, except: []) }

  /// Tells the person's devices that a message was taken back: what is shown of it goes (D13).
  mutating func pushDeleted(_ messageId: String, in conversationId: String) throws {
    try pushSilently(.deleted, conversationId: conversationId, messageId: messageId, except: [])
  }

  /// The devices that get a push which shows nothing. A browser shows something for each push, so that one goes there only while the app is
  /// open.
  mutating func silentTargets(except excluded: [String] = []) throws -> [PushTarget] {
    try targets(except: excluded).filter { $0.platform != .web || $0.foreground == true }
  }

  private mutating func pushSilently(
    _ kind: Push.Kind, conversationId: String?, messageId: String? = nil, sentAt: Milliseconds? = nil,
    except excluded: [String]
  ) throws {
    let targets = try silentTargets(except: excluded)
    let badge = user.badge(try effectivePreferences().badgeMode)
    if kind == .badge, user.toldBadge == badge { return }
    // Also where the only device is the one that read: it knows what it shows.
    user.toldBadge = badge
    guard !targets.isEmpty else { return }
    try emit(
      .push(
        Push(
          pushId: rules.pushId(userId: userId, kind: kind, cause: .record(cause.position)), kind: kind,
          userId: userId, targets: targets, priority: .low, presentation: .badge,
          sentAt: sentAt, badge: badge, conversationId: conversationId, messageId: messageId,
          ttlSeconds: rules.ttlSeconds,
          // A badge is true when it is decided, however old the event that changed it.
          expiresAt: step.now + rules.policy.freshness, decidedAt: step.now)))
  }
}
