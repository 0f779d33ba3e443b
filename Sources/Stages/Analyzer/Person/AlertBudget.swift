import Foundation
import NudgeCodec
import NudgeSchema
import StreamRuntime

/// The most alerts in a person's day, and the messages they are spent on (decision 92).
///
/// Messages come one by one, and nobody knows what the day still brings. That is the online knapsack problem with items of one size. The
/// threshold is Ψ(z) = (U·e/L)^z · L/e of Chakrabarty, Zhou and Lukose, "Budget Constrained Bidding in Keyword Auctions and Online Knapsack
/// Problems" (2007), for values between L and U. Its z, the share that is spent, is here the share of what the rest of the day
/// should have that is spent already.
struct AlertBudget: Equatable {
  /// L: what a message of low priority is worth by the simple rules.
  static let least = 0.1
  /// U.
  static let most = 1.0
  /// The share of what a value lacks to `most` that high priority adds.
  static let highBonus = 0.5

  /// Alerts in a day.
  let limit: Int

  /// The value, in thousandths, from which a message alerts; nil: no alert is left. 0: any does, because no more is spent than the day
  /// so far allows.
  ///
  /// - Parameter elapsed: The share of the day that has gone, 0 to 1.
  func threshold(used: Int, elapsed: Double) -> Int? {
    guard used < limit else { return nil }
    let spent = Double(used) / Double(limit)
    guard spent > elapsed else { return 0 }
    let ahead = (spent - elapsed) / (1 - elapsed)
    return Int((Self.least * exp(ahead * (1 + log(Self.most / Self.least)) - 1) * 1_000).rounded())
  }
}

/// The alerts that a person's budget has paid for, by the dates of their own calendar. Part of the person's row, absent until the first.
///
/// Each date has one budget. A person who travels west over the date line has a date twice, and spends the rest of it.
struct SpentAlerts: Encodable, Sendable, Equatable {
  /// Dates that are kept: no two places on earth are more than two dates apart.
  static let maxDays = 3

  /// The latest date, as `LocalDay.number`.
  private(set) var day: Int
  /// Alerts of that date, and of the dates before it, as far as there were some.
  private(set) var used: [Int] = [0]

  /// Alerts spent on a date.
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

  /// nil: the date is no longer kept. The clock of this machine went back, and the oldest that is kept stands for it.
  private func place(of date: Int) -> Int? { day - date < Self.maxDays ? day - date : nil }
}

extension SpentAlerts: PackedFields {
  static var blank: Self { Self(day: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&day)
    try row.field(&used)
  }
}

/// The answer of a budget to an alert that asks for one.
struct BudgetAnswer: Equatable {
  /// Whether the alert may sound. It is spent then.
  var allows: Bool
  /// Alerts spent that day before.
  var used: Int
  var limit: Int
  /// The message's worth, in thousandths.
  var value: Int
  /// The worth from which it alerts; nil: no alert is left.
  var threshold: Int?
}

extension UserRow {
  /// Asks for an alert of today.
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
  /// Asks for the sound of a catch-up: the person chose its time, so that it gets one while any is left.
  mutating func spendCatchUp(_ preferences: EffectivePreferences, zones: inout TimeZones) -> Bool {
    guard let limit = preferences.dailyAlerts else { return true }
    let today = preferences.localDay(at: step.now, zones: &zones)
    return user.spendAlert(of: limit, today: today, value: Int(AlertBudget.most * 1_000)).allows
  }
}

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
