import NudgeSchema
import StreamRuntime

extension PersonContext {
  /// How long after one badge push the next may be made for messages that are not shown, in milliseconds.
  static let badgeInterval: Milliseconds = 60_000
  private static let timerPrefix = "badge/"

  static func badgeTimerName(_ userId: String) -> String { timerPrefix + userId }

  static func isBadgeTimer(_ name: String) -> Bool { name.utf8.starts(with: timerPrefix.utf8) }

  /// A message that is not shown has raised the badge. Pushes it when quiet hours end, and at most once a minute.
  mutating func raiseBadge(_ preferences: EffectivePreferences, zones: inout TimeZones) throws {
    guard user.badgeDueAt == nil, !user.devices.isEmpty else { return }
    var due = user.badgeRaisedAt.map { $0 + Self.badgeInterval } ?? step.now
    if let end = preferences.quietHoursEnd(at: step.now, zones: &zones) { due = max(due, end) }
    guard due > step.now else {
      user.badgeRaisedAt = step.now
      return try pushBadge()
    }
    user.badgeDueAt = due
    try step.setTimer(
      Self.timerPrefix + userId, due: due, key: userId, eventId: cause.envelope.eventId, origin: cause.ownOrigin,
      source: cause.source)
  }

  /// `timer.fired`: pushes the raised badge, unless quiet hours have begun since.
  mutating func badgeTimerFired(_ fired: TimerFired, zones: inout TimeZones) throws {
    guard user.badgeDueAt == fired.dueAt else { return }
    user.badgeDueAt = nil
    let preferences = EffectivePreferences(try preferences(), rules: rules)
    guard preferences.enabled, user.toldBadge != user.badge(preferences.badgeMode) else { return }
    try raiseBadge(preferences, zones: &zones)
  }
}

extension EffectivePreferences {
  /// When the quiet hours end that hold at a time, to the minute; nil: none hold.
  ///
  /// A change of daylight saving before the end moves it, so a timer set by it checks again when it fires.
  func quietHoursEnd(at time: Milliseconds, zones: inout TimeZones) -> Milliseconds? {
    guard let quietHours, let span = QuietSpan(quietHours) else { return nil }
    let minute = QuietSpan.minuteOfDay(time, in: zones.zone(named: quietHours.timeZone) ?? TimeZones.utc)
    guard span.contains(minute) else { return nil }
    let minutes = (span.end - minute + 1_440) % 1_440
    return time - time % 60_000 + Milliseconds(minutes) * 60_000
  }
}
