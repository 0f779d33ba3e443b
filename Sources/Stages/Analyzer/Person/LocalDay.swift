import Foundation
import NudgeSchema

/// A day by the clocks of a time zone, and how much of it has gone.
struct LocalDay: Equatable {
  /// Days since 1970-01-01. A day that daylight saving makes 23 or 25 hours long is one day.
  var number: Int
  /// The share of its minutes outside of quiet hours that has gone, 0 to 1. An hour that the clocks skip counts as gone, one that they
  /// repeat counts once.
  var elapsed: Double
}

extension EffectivePreferences {
  /// The person's day at a time.
  func localDay(at now: Milliseconds, zones: inout TimeZones) -> LocalDay {
    let zone = zones.zone(named: timeZone) ?? TimeZones.utc
    let offset = zone.seconds(at: now)
    let seconds = Int((Double(now) / 1_000).rounded(.down)) + offset
    let number = Int((Double(seconds) / 86_400).rounded(.down))
    let minute = (seconds - number * 86_400) / 60
    guard let quietSpan else { return LocalDay(number: number, elapsed: Double(minute) / 1_440) }
    // Quiet hours may go by another zone's clocks: the same span by this one's.
    let shift = ((zones.zone(named: quietHours?.timeZone) ?? TimeZones.utc).seconds(at: now) - offset) / 60
    let start = (quietSpan.start - shift + 2_880) % 1_440
    let length = (quietSpan.end - quietSpan.start + 1_440) % 1_440
    // The parts of the span in this day: from its start, and where it goes over midnight what is left of the day before.
    let quiet =
      Self.overlap(start, start + length, with: minute)
      + Self.overlap(start - 1_440, start - 1_440 + length, with: minute)
    return LocalDay(number: number, elapsed: Double(minute - quiet) / Double(1_440 - length))
  }

  /// Minutes of a span that are in the day and before `minute`.
  private static func overlap(_ start: Int, _ end: Int, with minute: Int) -> Int {
    max(0, min(end, minute) - max(start, 0))
  }
}
