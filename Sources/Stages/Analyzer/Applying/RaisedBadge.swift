import NudgeSchema
import StreamRuntime

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
