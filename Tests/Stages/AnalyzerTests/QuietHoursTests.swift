import Foundation
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("Quiet hours")
struct QuietHoursTests {
  /// The reason to suppress; nil: notified.
  private func reason(
    _ hours: QuietHours?, at time: Milliseconds, _ context: RecipientContext = RecipientContext()
  ) throws -> DecisionReason? {
    let scene = Scene(now: time)
    try scene.gain("phone", at: time)
    try scene.prefer(PreferencesPatch(quietHours: .set(hours)), at: time - 1)
    let decision = try scene.message("m1", at: time, context).decision
    return decision?.outcome == .notify ? nil : decision?.reason
  }

  @Test("D2: from the first minute inclusive to the last exclusive, in the person's own time")
  func bounds() throws {
    // 12:00 UTC is 13:00 in Berlin.
    let hours = QuietHours(start: "13:00", end: "14:00", timeZone: "Europe/Berlin")
    #expect(try reason(hours, at: noon - 1) == nil)
    #expect(try reason(hours, at: noon) == .quietHours)
    #expect(try reason(hours, at: noon + hour - 1) == .quietHours)
    #expect(try reason(hours, at: noon + hour) == nil)
  }

  @Test("D2: overnight spans, UTC without a zone, and none where start and end are alike")
  func spans() throws {
    let night = QuietHours(start: "22:00", end: "07:00")
    #expect(try reason(night, at: noon) == nil)
    #expect(try reason(night, at: noon + 10 * hour) == .quietHours)
    #expect(try reason(night, at: noon + 15 * hour) == .quietHours)
    #expect(try reason(night, at: noon + 19 * hour) == nil)
    #expect(try reason(QuietHours(start: "12:00", end: "12:00"), at: noon) == nil)
    #expect(try reason(nil, at: noon) == nil)
  }

  @Test("D2: what cannot wait passes, and nothing else; the reason's text says quiet hours")
  func priority() throws {
    let hours = QuietHours(start: "00:00", end: "23:59")
    #expect(try reason(hours, at: noon, RecipientContext(mentioned: true)) == .quietHours)
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(quietHours: .set(hours)))
    #expect(try scene.message("m0", in: "c0", body: "this is urgent").decision?.outcome == .notify)
    let medium = try scene.message("m1")
    #expect(medium.decision?.priority == .medium && medium.decision?.reason == .quietHours)
    #expect(medium.decision?.text.contains("quiet hours") == true)
    #expect(medium.decision?.badge == 2)
    let low = try scene.message("m2", in: "c2", group: "Hikers")
    #expect(low.decision?.priority == .low && low.decision?.reason == .quietHours)
  }

  @Test("D11: quiet hours are judged by the wall clock, not by the message's time")
  func wallClock() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(quietHours: .set(QuietHours(start: "12:30", end: "13:00"))))
    #expect(try scene.message("m1", at: noon, decidedAt: noon + 30 * minute).decision?.reason == .quietHours)
    #expect(try scene.message("m2", at: noon + 40 * minute, decidedAt: noon + hour).decision?.outcome == .notify)
  }

  /// The oracle walks the span minute by minute and asks the calendar what a clock in that zone shows: no arithmetic on
  /// offsets in it.
  @Test("D2: agrees with a naive minute walk across changes of daylight saving in many zones")
  func minuteWalk() throws {
    let seed: UInt64 = 20_260_302
    var random = SeededGenerator(seed: seed)
    let names = [
      "Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Cairo",
      "Pacific/Chatham", "America/Sao_Paulo", "Asia/Tehran", "Pacific/Apia", "Europe/London", "America/Caracas",
      "Antarctica/Troll", "Africa/Casablanca", "Pacific/Kiritimati", "UTC",
    ]
    var zones = TimeZones()
    for name in names {
      let known = zones.zone(named: name)
      let zone = try #require(known)
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = zone
      // Every change of the offset from 2010 to 2030, and as many other days.
      var changes: [Date] = []
      var date = Date(timeIntervalSince1970: 1_262_304_000)
      while let next = zone.nextDaylightSavingTimeTransition(after: date), next.timeIntervalSince1970 < 1_893_456_000 {
        changes.append(next)
        date = next.addingTimeInterval(1)
      }
      for _ in 0..<8 {
        changes.append(
          Date(timeIntervalSince1970: Double(Int64.random(in: 1_262_304_000..<1_893_456_000, using: &random))))
      }
      for change in changes.shuffled(using: &random).prefix(16) {
        let start = Int.random(in: 0..<1440, using: &random)
        let end = Int.random(in: 0..<8, using: &random) == 0 ? start : Int.random(in: 0..<1440, using: &random)
        let span = try #require(QuietSpan(QuietHours(start: QuietSpan.text(start), end: QuietSpan.text(end))))
        var quiet: Set<Int> = []
        var walked = start
        while walked != end {
          quiet.insert(walked)
          walked = (walked + 1) % 1440
        }
        let first = Int64(change.timeIntervalSince1970) * 1000 - 4 * hour
        for step in 0..<(8 * 60) {
          let time = first + Int64(step) * minute + Int64.random(in: 0..<minute, using: &random)
          let clock = calendar.dateComponents([.hour, .minute], from: Date(timeIntervalSince1970: Double(time) / 1000))
          let shown = (clock.hour ?? 0) * 60 + (clock.minute ?? 0)
          let found = QuietSpan.minuteOfDay(time, in: zone)
          guard found == shown, span.contains(found) == quiet.contains(shown) else {
            Issue.record("seed \(seed), \(name), \(RFC3339.text(time)), \(start)–\(end): \(found), not \(shown)")
            return
          }
        }
      }
    }
  }

  @Test("a zone by an abbreviation or an offset, which ingest took before, is read as ever")
  func formerZones() throws {
    var zones = TimeZones()
    for name in ["PST", "GMT+02:30"] {
      #expect(zones.zone(named: name) != nil, "\(name)")
      let scene = try Scene.withPhone()
      let hours = QuietHours(start: "22:00", end: "07:00", timeZone: name)
      let written = try scene.prefer(PreferencesPatch(quietHours: .set(hours), timeZone: name))
      #expect(written.rejection == nil, "\(name)")
    }
  }

  @Test("D8: quiet hours that cannot be read are refused with the reason, and nothing of the patch is taken")
  func refused() throws {
    let scene = try Scene.withPhone()
    for hours in [
      QuietHours(start: "24:00", end: "07:00"), QuietHours(start: "7:00", end: "08:00"),
      QuietHours(start: "22:00", end: "07:60"), QuietHours(start: "22:00", end: "07:00", timeZone: "Mars/Olympus"),
      QuietHours(start: "٢٢:٠٠", end: "07:00"),
    ] {
      let written = try scene.prefer(PreferencesPatch(enabled: false, quietHours: .set(hours)))
      #expect(written.rejection?.code == .schemaViolation)
    }
    #expect(try scene.message("m1").decision?.outcome == .notify)
  }
}
