import NudgeSchema
import StreamRuntime

/// The alerts that a person's budget has paid for, by the dates of their own calendar. Part of the person's row, absent until the first.
///
/// Each date has one budget. A person who travels west over the date line has a date twice, and spends the rest of it.
struct SpentAlerts: Codable, Sendable, Equatable {
  /// Dates that are kept: no two places on earth are more than two dates apart.
  static let maxDays = 3

  /// The latest date, as `LocalDay.number`.
  private(set) var day: Int
  /// Alerts of that date, and of the dates before it, as far as there were some.
  private(set) var used: [Int]

  init(day: Int, used: [Int] = [0]) {
    self.day = day
    self.used = used
  }

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
