import NudgeSchema
import StreamRuntime
import Wording

extension PersonContext {
  /// The shortest time between two badge pushes for messages that are not shown, in milliseconds.
  static let badgeInterval: Milliseconds = 60_000

  /// Pushes the badge that a message raised without being shown: at once, or a minute after the last such push.
  ///
  /// Quiet hours delay the push until their end plus the person's own offset, because many people's quiet hours end at
  /// the same time. The push comes 1 ms after a catch-up that is due then, which carries the badge itself.
  mutating func raiseBadge(_ preferences: EffectivePreferences, zones: inout TimeZones) throws {
    guard user.badgeDueAt == nil, !user.devices.isEmpty else { return }
    var due = user.badgeRaisedAt.map { $0 + Self.badgeInterval } ?? step.now
    if let end = preferences.quietHoursEnd(at: step.now, zones: &zones) {
      due = max(due, spread(end, preferences, zones: &zones) + 1)
    }
    guard due > step.now else {
      user.badgeRaisedAt = step.now
      return try pushBadge()
    }
    try armBadge(at: due)
  }

  /// Brings a waiting badge push forward to `due`. Does nothing if none waits, or if it comes sooner anyway.
  mutating func bringBadgeForward(to due: Milliseconds) throws {
    guard let armed = user.badgeDueAt, due < armed else { return }
    step.cancelTimer(PersonTimer.badge.name(of: userId), due: armed)
    try armBadge(at: due)
  }

  private mutating func armBadge(at due: Milliseconds) throws {
    user.badgeDueAt = due
    try step.setTimer(
      PersonTimer.badge.name(of: userId), due: due, key: userId, eventId: cause.envelope.eventId,
      origin: cause.ownOrigin,
      source: cause.source)
  }

  /// `timer.fired`: pushes the badge unless the devices already show it. If quiet hours have begun since, the push waits
  /// for their end.
  mutating func badgeTimerFired(_ fired: TimerFired, zones: inout TimeZones) throws {
    guard user.badgeDueAt == fired.dueAt else { return }
    user.badgeDueAt = nil
    let preferences = try effectivePreferences()
    guard preferences.enabled, user.toldBadge != user.badge(preferences.badgeMode) else { return }
    try raiseBadge(preferences, zones: &zones)
  }
}

extension EffectivePreferences {
  /// When the quiet hours in force at `time` end; nil if none are in force. The end is a wall-clock time in the person's
  /// zone, whatever the clocks do before it.
  func quietHoursEnd(at time: Milliseconds, zones: inout TimeZones) -> Milliseconds? {
    guard let quietHours, let span = QuietSpan(quietHours) else { return nil }
    let zone = zones.zone(named: quietHours.timeZone) ?? TimeZones.utc
    guard span.contains(QuietSpan.minuteOfDay(time, in: zone)) else { return nil }
    return zone.next(span.end, after: time)
  }
}

extension PersonContext {
  /// Tells the person's devices with a silent push that a conversation was read. They remove its notifications and lower
  /// the badge (D7).
  ///
  /// - Parameters:
  ///   - messageId: The last message read; nil if everything written until `time` was read.
  ///   - time: When that message was written. Apps do not remove later messages.
  mutating func pushRead(
    _ conversationId: String, upTo messageId: String?, at time: Milliseconds, except excluded: [String]
  ) throws {
    try showRead(conversationId, upTo: messageId, at: time)
    try withdrawNotifications(of: conversationId, upTo: time, except: excluded)
    try pushSilently(.read, conversationId: conversationId, messageId: messageId, sentAt: time, except: excluded)
  }

  /// Sends the badge to the person's devices in a silent push, unless they already show it.
  mutating func pushBadge() throws { try pushSilently(.badge, conversationId: nil, except: []) }

  /// Tells the person's devices with a silent push that a message was deleted. They remove its notification (D13).
  mutating func pushDeleted(_ messageId: String, in conversationId: String) throws {
    try pushSilently(.deleted, conversationId: conversationId, messageId: messageId, except: [])
  }

  /// The devices that receive a push without content. A browser shows something for every push, so a web device is
  /// included only while its app is open.
  mutating func silentTargets(except excluded: [String] = []) throws -> [PushTarget] {
    try targets(except: excluded).filter { $0.platform != .web || $0.foreground == true }
  }

  private mutating func pushSilently(
    _ kind: Push.Kind, conversationId: String?, messageId: String? = nil, sentAt: Milliseconds? = nil,
    except excluded: [String]
  ) throws {
    let targets = try silentTargets(except: excluded)
    let badge = user.loweredBadge(try effectivePreferences().badgeMode)
    if kind == .badge, user.shownBadge == badge { return }
    // Set even without a target: a device that read the messages itself already shows this badge.
    user.toldBadge = badge
    guard !targets.isEmpty else { return }
    try emit(
      .push(
        Push(
          pushId: rules.pushId(userId: userId, kind: kind, cause: .record(cause.position)), kind: kind,
          userId: userId, targets: targets, priority: .low, presentation: .badge,
          sentAt: sentAt, badge: badge, conversationId: conversationId, messageId: messageId,
          ttlSeconds: rules.ttlSeconds,
          // A badge is current when it is decided, even if the event that changed it is old.
          expiresAt: step.now + rules.policy.freshness, decidedAt: step.now)))
  }
}

/// Records of `nudge.banners` for a person whose app is open: badge, unread numbers, reads, edits and deletions. They
/// do not depend on whether the devices get a push.
extension PersonContext {
  /// Whether the person has the app open on any device.
  private var hasAppOpen: Bool { user.isInApp(at: step.now, horizon: rules.activityHorizon) }

  /// Tells an open app the badge, and the unread numbers that changed in this record (D6).
  mutating func showUnread() throws {
    guard !unread.isEmpty, hasAppOpen else { return }
    let badge = user.badge(try effectivePreferences().badgeMode)
    try emit(change: .badge(BadgeChange(userId: userId, badge: badge, conversations: unread)))
  }

  /// Tells an open app that the person has read a conversation, perhaps on another device (D7).
  mutating func showRead(_ conversationId: String, upTo messageId: String?, at time: Milliseconds) throws {
    guard hasAppOpen else { return }
    try emit(
      change: .read(
        ConversationRead(userId: userId, conversationId: conversationId, messageId: messageId, sentAt: time)))
  }

  /// Tells an open app the new text of an edited message (D13), unless the person has turned notifications or previews
  /// off.
  mutating func showEdited(_ messageId: String, in conversationId: String, body: String) throws {
    let preferences = try effectivePreferences()
    guard hasAppOpen, preferences.enabled, preferences.showPreviews else { return }
    try emit(
      change: .updated(
        MessageUpdate(
          userId: userId, conversationId: conversationId, messageId: messageId,
          preview: body.cut(toCharacters: rules.policy.previewCharacters))))
  }

  /// Tells an open app that a message was deleted (D13).
  mutating func showWithdrawn(_ messageId: String, in conversationId: String) throws {
    guard hasAppOpen else { return }
    try emit(change: .withdrawn(MessageRemoval(userId: userId, conversationId: conversationId, messageId: messageId)))
  }
}
