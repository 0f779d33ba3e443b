import NudgeSchema

/// The last look at a push before its request, at what may have changed while it waited.
struct LastLook {
  /// How a push ends that may not be sent.
  struct Ending {
    var result: OutcomeResult
    /// nil: that of the push stands.
    var errorCode: String?
  }

  let rules: DispatcherRules
  private var zones = TimeZones()

  init(rules: DispatcherRules) { self.rules = rules }

  /// nil: the push may be sent. `now`: the wall clock.
  mutating func ending(of item: WaitingPush, _ device: RecipientDeviceRow, now: Milliseconds) -> Ending? {
    if item.withdrawn != nil { return Ending(result: .cancelled) }
    if now > item.push.expiresAt { return Ending(result: item.attempts == 0 ? .expired : .gaveUp) }
    if let quarantine = device.quarantined, quarantine.version == item.target.version,
      quarantine.covers(item.target, hash: rules.hash)
    {
      return Ending(result: .quarantined)
    }
    if let revoked = device.revoked, revoked.covers(item.target, hash: rules.hash) {
      return Ending(result: .cancelled, errorCode: "token_revoked")
    }
    // Quiet hours count when the push is sent, not when it was decided (D11).
    if let hours = item.push.quietHours, let span = QuietSpan(hours),
      span.contains(QuietSpan.minuteOfDay(now, in: zones.zone(named: hours.timeZone) ?? TimeZones.utc))
    {
      return Ending(result: .cancelled, errorCode: WaitingPush.inQuietHours)
    }
    // The settings may have changed while it waited.
    return Destination(of: item, rules).refusal(of: item, rules)
  }
}
