import NudgeSchema
import StreamRuntime
import Wording

extension PersonContext {
  /// How long after one badge push the next may be made for messages that are not shown, in milliseconds.
  static let badgeInterval: Milliseconds = 60_000

  /// A message that is not shown has raised the badge. Pushes it at most once a minute, and after quiet hours at the person's moment
  /// in the spread: many people's end at once. A catch-up due then goes first, and shows the badge itself.
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

  /// A raised badge that waits is pushed at another time.
  mutating func moveBadge(to due: Milliseconds) throws {
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

  /// `timer.fired`: pushes the raised badge, unless quiet hours have begun since.
  mutating func badgeTimerFired(_ fired: TimerFired, zones: inout TimeZones) throws {
    guard user.badgeDueAt == fired.dueAt else { return }
    user.badgeDueAt = nil
    let preferences = try effectivePreferences()
    guard preferences.enabled, user.toldBadge != user.badge(preferences.badgeMode) else { return }
    try raiseBadge(preferences, zones: &zones)
  }
}

extension EffectivePreferences {
  /// When the quiet hours end that hold at a time, to the minute, by the clocks as they will be then; nil: none hold.
  func quietHoursEnd(at time: Milliseconds, zones: inout TimeZones) -> Milliseconds? {
    guard let quietHours, let span = QuietSpan(quietHours) else { return nil }
    let zone = zones.zone(named: quietHours.timeZone) ?? TimeZones.utc
    guard span.contains(QuietSpan.minuteOfDay(time, in: zone)) else { return nil }
    return zone.next(span.end, after: time)
  }
}

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

/// Records of `nudge.banners` for a person who has the app open: badge, unread numbers, reads, edits and deletions. They are written
/// whether or not a push goes to the devices.
extension PersonContext {
  /// Whether the person has the app open on some device.
  private var hasAppOpen: Bool { user.isInApp(at: step.now, horizon: rules.activityHorizon) }

  /// The set of unread messages has changed (D6).
  mutating func showUnread() throws {
    guard !unread.isEmpty, hasAppOpen else { return }
    let badge = user.badge(try effectivePreferences().badgeMode)
    try emit(change: .badge(BadgeChange(userId: userId, badge: badge, conversations: unread)))
  }

  /// The person has read a conversation, perhaps on another device (D7).
  mutating func showRead(_ conversationId: String, upTo messageId: String?, at time: Milliseconds) throws {
    guard hasAppOpen else { return }
    try emit(
      change: .read(
        ConversationRead(userId: userId, conversationId: conversationId, messageId: messageId, sentAt: time)))
  }

  /// A message has another text (D13): what the app shows of it changes, unless nothing of the text may be shown.
  mutating func showEdited(_ messageId: String, in conversationId: String, body: String) throws {
    let preferences = try effectivePreferences()
    guard hasAppOpen, preferences.enabled, preferences.showPreviews else { return }
    try emit(
      change: .updated(
        MessageUpdate(
          userId: userId, conversationId: conversationId, messageId: messageId,
          preview: body.cut(toCharacters: rules.policy.previewCharacters))))
  }

  /// A message was taken back (D13).
  mutating func showWithdrawn(_ messageId: String, in conversationId: String) throws {
    guard hasAppOpen else { return }
    try emit(change: .withdrawn(MessageRemoval(userId: userId, conversationId: conversationId, messageId: messageId)))
  }
}
