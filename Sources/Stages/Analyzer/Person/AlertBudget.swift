import Foundation
import NudgeCodec
import NudgeSchema
import StreamRuntime

/// A person's budget of alerts for a day, and the messages for which it is spent (decision 92).
///
/// Messages arrive one by one, and the rest of the day is unknown. This is the online knapsack problem with items of one size. The
/// threshold is Ψ(z) = (U·e/L)^z · L/e of Chakrabarty, Zhou and Lukose, "Budget Constrained Bidding in Keyword Auctions and Online Knapsack
/// Problems" (2007), for values between L and U. In the paper z is the share of the budget that is spent. Here z is how far spending runs
/// ahead, as a share of the alerts that the rest of the day should have.
struct AlertBudget: Equatable {
  /// L, the value of a message of low priority by the simple rules.
  static let least = 0.1
  /// U, the highest value.
  static let most = 1.0
  /// High priority closes this fraction of the gap to `most`.
  static let highBonus = 0.5

  /// The most alerts per day.
  let limit: Int

  /// The value, in thousandths, from which a message alerts; nil if no alert is left. It is 0 while spending keeps pace with the day, so
  /// that every message alerts.
  ///
  /// - Parameter elapsed: The share of the day that has passed, 0 to 1.
  func threshold(used: Int, elapsed: Double) -> Int? {
    guard used < limit else { return nil }
    let spent = Double(used) / Double(limit)
    guard spent > elapsed else { return 0 }
    let ahead = (spent - elapsed) / (1 - elapsed)
    return Int((Self.least * exp(ahead * (1 + log(Self.most / Self.least)) - 1) * 1_000).rounded())
  }
}

/// The alerts spent from a person's budget, by dates of their own calendar. Part of the person's row; absent until the first alert is
/// spent.
///
/// Each date has one budget. A person who travels west over the date line has the same date twice, and the second time only the rest of its
/// budget.
struct SpentAlerts: Encodable, Sendable, Equatable {
  /// The number of dates kept. Two places on earth are at most two dates apart.
  static let maxDays = 3

  /// The latest date, as `LocalDay.number`.
  private(set) var day: Int
  /// The alerts spent on that date and on the dates before it, up to the first date with an alert.
  private(set) var used: [Int] = [0]

  /// The number of alerts spent on a date.
  func used(on date: Int) -> Int {
    date > day ? 0 : place(of: date).map { $0 < used.count ? used[$0] : 0 } ?? used.last ?? 0
  }

  mutating func spend(on date: Int) {
    if date > day {
      let gone = min(date - day, Self.maxDays)
      used = Array((Array(repeating: 0, count: gone) + used).prefix(Self.maxDays))
      day = date
    }
    let place = place(of: date) ?? Self.maxDays - 1
    while used.count <= place { used.append(0) }
    used[place] += 1
    while used.count > 1, used.last == 0 { used.removeLast() }
  }

  /// The index of a date; nil if it is no longer kept. If this machine's clock went back, the oldest kept date is used.
  private func place(of date: Int) -> Int? { day - date < Self.maxDays ? day - date : nil }
}

extension SpentAlerts: PackedFields {
  static var blank: Self { Self(day: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&day)
    try row.field(&used)
  }
}

/// The budget's answer to a message that wants to alert.
struct BudgetAnswer: Equatable {
  /// Whether the alert may sound. If so, it is spent.
  var allows: Bool
  /// The alerts spent that day before this one.
  var used: Int
  var limit: Int
  /// The message's value in thousandths.
  var value: Int
  /// The value from which it alerts; nil if no alert is left.
  var threshold: Int?
}

extension UserRow {
  /// Requests an alert of today.
  mutating func spendAlert(of limit: Int, today: LocalDay, value: Int) -> BudgetAnswer {
    let used = spentAlerts?.used(on: today.number) ?? 0
    let threshold = AlertBudget(limit: limit).threshold(used: used, elapsed: today.elapsed)
    let allows = threshold.map { value >= $0 } ?? false
    if allows {
      var spent = spentAlerts ?? SpentAlerts(day: today.number)
      spent.spend(on: today.number)
      spentAlerts = spent
    }
    return BudgetAnswer(allows: allows, used: used, limit: limit, value: value, threshold: threshold)
  }
}

extension PersonContext {
  /// Requests the sound of a catch-up. It gets one as long as any alert is left, because the person chose its time.
  mutating func spendCatchUp(_ preferences: EffectivePreferences, zones: inout TimeZones) -> Bool {
    guard let limit = preferences.dailyAlerts else { return true }
    let today = preferences.localDay(at: step.now, zones: &zones)
    return user.spendAlert(of: limit, today: today, value: Int(AlertBudget.most * 1_000)).allows
  }
}

/// A day by the clocks of a time zone, and how much of it has passed.
struct LocalDay: Equatable {
  /// Days since 1970-01-01. A day of 23 or 25 hours, because of daylight saving, is one day.
  var number: Int
  /// The share of the day's minutes outside of quiet hours that has passed, 0 to 1. An hour that the clocks skip counts as passed; an hour
  /// that they repeat counts once.
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
    // Quiet hours may use another zone's clock. This is the same span by this zone's clock.
    let shift = ((zones.zone(named: quietHours?.timeZone) ?? TimeZones.utc).seconds(at: now) - offset) / 60
    let start = (quietSpan.start - shift + 2_880) % 1_440
    let length = (quietSpan.end - quietSpan.start + 1_440) % 1_440
    // The parts of the span within this day: from its start and, if it goes over midnight, the end of the previous day's span.
    let quiet =
      Self.overlap(start, start + length, with: minute)
      + Self.overlap(start - 1_440, start - 1_440 + length, with: minute)
    return LocalDay(number: number, elapsed: Double(minute - quiet) / Double(1_440 - length))
  }

  /// The minutes of a span that are within the day and before `minute`.
  private static func overlap(_ start: Int, _ end: Int, with minute: Int) -> Int {
    max(0, min(end, minute) - max(start, 0))
  }
}
