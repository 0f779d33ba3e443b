import Foundation
import NudgeSchema

extension EffectivePreferences {
  /// Whether what is held back waits for a time: the person has quiet hours, said when they catch up, or has a budget of alerts. Nobody
  /// else has asked for a catch-up.
  var catchesUp: Bool { catchesUpOnAll || digestTimes == nil && dailyAlerts != nil }

  /// Whether that is more than what a budget silenced.
  var catchesUpOnAll: Bool { digestTimes.map { !$0.isEmpty } ?? (quietSpan != nil) }

  /// The person's quiet hours; nil: none.
  var quietSpan: QuietSpan? {
    quietHours.flatMap { QuietSpan($0) }.flatMap { $0.start == $0.end ? nil : $0 }
  }

  /// The first time after `now` at which the person catches up: one of theirs, else the end of quiet hours, else with a budget the
  /// policy's time. A time in quiet hours is moved to their end. nil: they never do.
  func catchUpTime(after now: Milliseconds, zones: inout TimeZones) -> Milliseconds? {
    var times: [Milliseconds] = []
    if let digestTimes {
      let zone = zones.zone(named: timeZone) ?? TimeZones.utc
      times = digestTimes.compactMap { QuietSpan.minutes($0) }.map { zone.next($0, after: now) }
    } else if let quietSpan {
      let zone = zones.zone(named: quietHours?.timeZone) ?? TimeZones.utc
      times = [zone.next(quietSpan.end, after: now)]
    } else if dailyAlerts != nil {
      let zone = zones.zone(named: timeZone) ?? TimeZones.utc
      times = [zone.next(budgetCatchUp, after: now)]
    }
    return times.min().map { quietHoursEnd(at: $0, zones: &zones) ?? $0 }
  }
}

extension AnalyzerRules {
  /// How much later than others somebody catches up, so that not everybody does in the same second. Always the same for a person.
  func catchUpOffset(of userId: String) -> Milliseconds {
    let window = UInt64(max(0, policy.catchUpSpreadSeconds)) * 1_000
    return window == 0 ? 0 : Milliseconds(FNV1a.spread(FNV1a.hash(userId)) % window)
  }
}

extension TimeZone {
  /// The next time after `now` at which a clock here shows a minute of the day. Where daylight saving leaves that out, a time within
  /// an hour of it.
  func next(_ minute: Int, after now: Milliseconds) -> Milliseconds {
    let ahead = (minute - QuietSpan.minuteOfDay(now, in: self) + 1_440) % 1_440
    let time = now - now % 60_000 + Milliseconds(ahead == 0 ? 1_440 : ahead) * 60_000
    // The clocks may be changed until then.
    let shifted = time + Milliseconds(seconds(at: now) - seconds(at: time)) * 1_000
    return shifted > now ? shifted : shifted + 86_400_000
  }

  /// How far the clocks here are ahead of UTC at a time, in seconds.
  func seconds(at time: Milliseconds) -> Int {
    secondsFromGMT(for: Date(timeIntervalSince1970: Double(time) / 1_000))
  }
}
