import Foundation
import NudgeSchema

/// The requirement on budgets, without its implementation: it knows dates by the calendar, and looks at each minute of a day.
struct BudgetOracle {
  /// How often it was about what.
  struct Tally {
    var paid = 0
    var free = 0
    /// Silent while an alert was left.
    var saved = 0
    /// Silent because none was left.
    var over = 0
    var told = 0

    static func += (a: inout Tally, b: Tally) {
      a.paid += b.paid
      a.free += b.free
      a.saved += b.saved
      a.over += b.over
      a.told += b.told
    }
  }

  var limit = 0
  var zone = "Europe/Berlin"
  /// In `zone`.
  var quiet: QuietHours?
  private(set) var tally = Tally()
  /// Messages that would have alerted and did not, until they are told or read: their conversations.
  private(set) var owed: [String: String] = [:]
  private var told: Set<String> = []
  /// Alerts that are not free, by date.
  private var alerts: [DateComponents: Int] = [:]

  private func parts(_ time: Milliseconds, _ wanted: Set<Calendar.Component>) -> DateComponents {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: zone)!
    return calendar.dateComponents(wanted, from: Date(timeIntervalSince1970: Double(time) / 1_000))
  }

  private func date(_ time: Milliseconds) -> DateComponents { parts(time, [.year, .month, .day]) }

  private func isQuiet(_ minute: Int) -> Bool {
    guard let quiet else { return false }
    func minutes(_ text: String) -> Int { Int(text.prefix(2))! * 60 + Int(text.suffix(2))! }
    let (start, end) = (minutes(quiet.start), minutes(quiet.end))
    return start <= end ? start <= minute && minute < end : minute >= start || minute < end
  }

  /// A message that would have alerted without a budget was shown.
  mutating func shown(
    _ id: String, in conversation: String, isFree: Bool, alerts sounds: Bool, at time: Milliseconds
  ) -> String? {
    if isFree {
      tally.free += 1
      return sounds ? nil : "\(id) is free, and silent"
    }
    let used = alerts[date(time)] ?? 0
    if sounds {
      tally.paid += 1
      alerts[date(time)] = used + 1
      return used < limit ? nil : "\(id) is alert \(used + 1) of \(limit)"
    }
    owed[id] = conversation
    if used >= limit {
      tally.over += 1
      return nil
    }
    tally.saved += 1
    // Alerts are saved only where more of them are spent than of the day.
    let clock = parts(time, [.hour, .minute])
    let now = clock.hour! * 60 + clock.minute!
    let awake = (0..<1_440).filter { !isQuiet($0) }
    let gone = awake.count { $0 < now }
    return used * awake.count > gone * limit
      ? nil : "\(id) is silent, with \(used) of \(limit) spent after \(gone) of \(awake.count) minutes"
  }

  mutating func read(_ conversation: String) { owed = owed.filter { $0.value != conversation } }

  /// A catch-up came.
  mutating func caughtUp(on keys: [String], alerts sounds: Bool, at time: Milliseconds) -> String? {
    let ids = owed.keys.filter { keys.contains(Digest.key($0)) }
    for id in ids { owed[id] = nil }
    tally.told += ids.count
    if let again = keys.first(where: { told.contains($0) }) { return "\(again) is told twice" }
    told.formUnion(keys)
    guard sounds else { return nil }
    let used = alerts[date(time)] ?? 0
    alerts[date(time)] = used + 1
    return used < limit ? nil : "a catch-up is alert \(used + 1) of \(limit)"
  }
}
