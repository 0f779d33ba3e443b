import Foundation
import NudgeSchema
import Testing

@testable import Analyzer

@Suite("The attention budget: threshold, value and day")
struct AlertBudgetTests {
  @Test(
    "D20: the threshold rises where more is spent than the day allows, up to the highest value",
    arguments: [
      (0, 0, 0), (1, 0, 51), (5, 0, 192), (8, 0, 517), (9, 0, 719), (5, 500, 0), (6, 500, 71), (9, 500, 517),
      (9, 890, 50),
      (9, 900, 0), (9, 1_000, 0),
    ])
  func threshold(used: Int, elapsed: Int, expected: Int) {
    #expect(AlertBudget(limit: 10).threshold(used: used, elapsed: Double(elapsed) / 1_000) == expected)
  }

  @Test("D20: nothing is left beyond the limit, and at the end of the day all of the rest is for anybody")
  func ends() {
    for limit in [0, 1, 3, 10, 1_000] {
      let budget = AlertBudget(limit: limit)
      for elapsed in stride(from: 0.0, through: 1, by: 0.01) {
        #expect(budget.threshold(used: limit, elapsed: elapsed) == nil)
        #expect(budget.threshold(used: limit + 3, elapsed: elapsed) == nil)
        var last = 0
        for used in 0..<min(limit, 50) {
          let threshold = budget.threshold(used: used, elapsed: elapsed)
          #expect(threshold.map { $0 >= last && $0 <= 1_000 } == true)
          last = threshold ?? 0
          // The later it is, the less a message has to be worth.
          if elapsed > 0 { #expect(last <= budget.threshold(used: used, elapsed: elapsed - 0.01) ?? 0) }
        }
      }
      if limit > 0 { #expect(budget.threshold(used: limit - 1, elapsed: 1) == 0) }
    }
  }

  @Test("D20: a message is worth its score, and one of high priority more than every other")
  func value() {
    func value(_ score: Double, _ priority: Priority) -> Int {
      AlertBudget.value(of: Assessment(score: score, priority: priority, signals: []))
    }
    // The simple rules' three values.
    #expect(value(0.9, .high) == 950 && value(0.5, .medium) == 500 && value(0.1, .low) == 100)
    #expect(value(0.4, .high) == 700 && value(1, .high) == 1_000 && value(0.399, .medium) == 399)
  }

  private func day(_ time: Milliseconds, _ zone: String?, quiet: QuietHours? = nil) -> LocalDay {
    var row = PreferencesRow()
    let stamp = EventStamp(occurredAt: 1, eventId: "e")
    row.timeZone = zone.map { Stamped(value: $0, stamp: stamp) }
    row.quietHours = quiet.map { Stamped(value: $0, stamp: stamp) }
    var zones = TimeZones()
    return EffectivePreferences(row, rules: AnalyzerRules(hash: standInHash)).localDay(at: time, zones: &zones)
  }

  @Test("D20: a day begins at midnight in the person's time zone; those with 23 and 25 hours are one day")
  func localDay() throws {
    #expect(day(noon, nil) == LocalDay(number: 20_514, elapsed: 0.5))
    #expect(day(noon, "Pacific/Auckland") == LocalDay(number: 20_515, elapsed: 1.0 / 24))
    let calendar = Calendar(identifier: .gregorian)
    // Around 2026-03-08 and 2026-11-01 in New York, 2026-03-29 and 2026-10-25 in Berlin.
    for (name, first) in [
      ("America/New_York", 1_772_841_600), ("America/New_York", 1_793_404_800), ("Europe/Berlin", 1_774_656_000),
      ("Europe/Berlin", 1_792_800_000),
    ] as [(String, Int64)] {
      var local = calendar
      local.timeZone = try #require(TimeZone(identifier: name))
      var days: [Int: (count: Int, first: DateComponents)] = [:]
      for minute in stride(from: 0, to: 3 * 1_440, by: 5) {
        let time = (first + Int64(minute) * 60) * 1_000
        let date = Date(timeIntervalSince1970: Double(time) / 1_000)
        let parts = local.dateComponents([.year, .month, .day], from: date)
        let found = day(time, name)
        #expect(days[found.number].map { $0.first == parts } ?? true)
        days[found.number, default: (0, parts)].count += 1
        let clock = local.dateComponents([.hour, .minute], from: date)
        #expect(found.elapsed == Double((clock.hour ?? 0) * 60 + (clock.minute ?? 0)) / 1_440)
      }
      #expect(days.values.contains { $0.count == 23 * 12 || $0.count == 25 * 12 }, "\(name)")
    }
  }

  @Test("D20: quiet hours are no part of the day, over midnight and in another time zone's clock too")
  func quietHours() {
    let midnight = noon - 12 * hour
    let night = QuietHours(start: "22:00", end: "07:00")
    #expect(day(midnight + 6 * hour, nil, quiet: night).elapsed == 0)
    #expect(day(midnight + 7 * hour, nil, quiet: night).elapsed == 0)
    #expect(day(midnight + 14 * hour + 30 * minute, nil, quiet: night).elapsed == 0.5)
    #expect(day(midnight + 22 * hour, nil, quiet: night).elapsed == 1)
    #expect(day(midnight + 24 * hour - 1, nil, quiet: night).elapsed == 1)
    let midday = QuietHours(start: "09:00", end: "21:00")
    #expect(day(midnight + 15 * hour, nil, quiet: midday).elapsed == 0.75)
    // 22:00 to 07:00 in Berlin is 21:00 to 06:00 in London.
    let elsewhere = QuietHours(start: "22:00", end: "07:00", timeZone: "Europe/Berlin")
    #expect(day(midnight + 6 * hour, "Europe/London", quiet: elsewhere).elapsed == 0)
    #expect(day(midnight + 13 * hour + 30 * minute, "Europe/London", quiet: elsewhere).elapsed == 0.5)
    #expect(day(midnight + 21 * hour, "Europe/London", quiet: elsewhere).elapsed == 1)
  }

  @Test("D20: each date has one budget, in whatever order somebody who travels has them")
  func dates() {
    var spent = SpentAlerts(day: 10)
    for date in [10, 10, 11, 10, 12, 11, 10, 12] { spent.spend(on: date) }
    #expect([9, 10, 11, 12, 13].map { spent.used(on: $0) } == [4, 4, 2, 2, 0])
    spent.spend(on: 13)
    #expect([11, 12, 13].map { spent.used(on: $0) } == [2, 2, 1] && spent.used.count == 3)
    spent.spend(on: 20)
    #expect([18, 19, 20].map { spent.used(on: $0) } == [0, 0, 1] && spent.used == [1])
  }
}
