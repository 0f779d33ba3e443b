import Foundation
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

/// `NUDGE_BUDGET_SCHEDULES` says how many schedules (`Tests/trial schedules` runs more); `NUDGE_TEST_SEED` which.
@Suite("The attention budget, against an oracle of the requirement")
struct BudgetPropertyTests {
  private static let schedules: Int = runParameter("NUDGE_BUDGET_SCHEDULES") ?? 30

  @Test("D20: over random days, with daylight saving, no date has more alerts than the budget, and nothing is lost")
  func schedules() throws {
    var random = SeededGenerator(announcedFor: "budget")
    var total = BudgetOracle.Tally()
    for number in 0..<Self.schedules {
      let seed = random.next()
      var schedule = try BudgetSchedule(seed: seed)
      if let fault = try schedule.play() {
        Issue.record("schedule \(number), seed \(seed): \(fault)\n\(schedule.log.suffix(80).joined(separator: "\n"))")
        return
      }
      total += schedule.oracle.tally
    }
    // The schedules reach what they are about.
    print("budget: \(Self.schedules) schedules, \(total)")
    if Self.schedules >= 100 {
      #expect(
        total.paid > 500 && total.free > 500 && total.saved > 20 && total.over > 500 && total.told > 300, "\(total)")
    } else if Self.schedules >= 20 {
      let least = Self.schedules * 2
      #expect(
        total.paid > least && total.free > least && total.saved > 2 && total.over > least && total.told > least,
        "\(total)")
    }
  }
}

/// Some days of a person with a budget, and of a twin without one who gets the same messages, drawn from a seed.
private struct BudgetSchedule {
  private static let zones = [
    "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "Pacific/Honolulu",
  ]
  /// Days around which clocks are changed: 2026-03-07, 2026-03-28, 2026-10-24 and 2026-10-31, 12:00 UTC; and one without.
  private static let days: [Milliseconds] = [
    1_772_884_800_000, 1_774_699_200_000, 1_792_843_200_000, 1_793_448_000_000, noon,
  ]
  var random: SeededGenerator
  let scene: Scene
  let twin: Scene
  var oracle = BudgetOracle()
  var now: Milliseconds
  var count = 0
  var log: [String] = []

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    now = Self.days[random.below(Self.days.count)]
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 0
    rules.policy.directBurstSeconds = 0
    (scene, twin) = (Scene(rules, now: now), Scene(rules, now: now))
    for scene in [scene, twin] {
      try scene.gain("phone", at: now)
      try scene.prefer(
        PreferencesPatch(
          starredSenders: ["star"], keywords: ["boots"],
          conversationLevels: [ConversationLevel(conversationId: "g", level: .all)]), at: now)
    }
    try prefer()
  }

  mutating func play() throws -> String? {
    for _ in 0..<(30 + random.below(90)) {
      now += Int64(1 + random.below(random.oneIn(8) ? 20_000_000 : 1_500_000))
      if let fault = try pass() ?? act() { return fault }
      if random.oneIn(10) { try scene.driver.restart() }
    }
    // A catch-up tells of what is left. At the time itself: an hour later it may be quiet again.
    for _ in 0..<50 {
      guard case .user(let user)? = try scene.driver.row(AnalyzerRow.userKey("ann")), let due = user.catchUpAt
      else { break }
      now = max(now, due)
      if let fault = try pass() { return fault }
    }
    return oracle.owed.isEmpty ? nil : "never told of \(oracle.owed.keys.sorted())"
  }

  private mutating func pass() throws -> String? {
    for scene in [scene, twin] { scene.driver.now = now }
    _ = try twin.driver.fireTimers()
    for _ in 0..<3 {
      for push in try scene.driver.fireTimers().flatMap({ try scene.written($0).pushes }) where push.isCatchUp {
        log.append("\(now): a catch-up, \(push.presentation)")
        let keys = push.toldKeys ?? []
        if let fault = oracle.caughtUp(on: keys, alerts: push.presentation == .alert, at: now) { return fault }
      }
    }
    return nil
  }

  private mutating func act() throws -> String? {
    count += 1
    switch random.below(20) {
    case 0...15: return try message()
    case 16, 17:
      let conversation = ["c0", "c1", "star", "g"][random.below(4)]
      log.append("\(now): \(conversation) is read")
      oracle.read(conversation)
      for scene in [scene, twin] { try scene.read(conversation, at: now) }
    default: try prefer()
    }
    return nil
  }

  private mutating func message() throws -> String? {
    let id = "m\(count)"
    let conversation = ["c0", "c1", "star", "g", "g"][random.below(5)]
    let isMention = random.oneIn(8)
    let isUrgent = random.oneIn(6)
    let body = isUrgent ? "this is urgent" : random.oneIn(3) ? "my boots" : "hello"
    var candidate = Scene.candidate(
      id, in: conversation, RecipientContext(mentioned: isMention), group: conversation == "g" ? "Hikers" : nil,
      body: body)
    if conversation == "star" || conversation == "g" && random.oneIn(4) {
      candidate.sender = Member(userId: "star", displayName: "Star")
    }
    var written: [Written] = []
    for scene in [scene, twin] {
      scene.driver.now = now
      let origin = scene.nextOrigin()
      written.append(try scene.send(.candidate(candidate), at: now, origin: origin))
      // A repeat.
      if random.oneIn(10), try !scene.send(.candidate(candidate), at: now, origin: origin).isEmpty { return "a repeat" }
    }
    let (own, other) = (written[0], written[1])
    let isFree = isMention || isUrgent || conversation == "star"
    log.append(
      "\(now): \(id) in \(conversation), \(body), free \(isFree): \(own.push.map { "\($0.presentation)" } ?? "none") "
        + "instead of \(other.push.map { "\($0.presentation)" } ?? "none")")
    guard other.push?.presentation == .alert else {
      return own.decision?.reason == other.decision?.reason && own.push?.presentation == other.push?.presentation
        ? nil : "\(id) is decided otherwise, and does not alert"
    }
    guard let presentation = own.push?.presentation, presentation == .alert || presentation == .silent else {
      return "\(id) is not shown"
    }
    return oracle.shown(id, in: conversation, isFree: isFree, alerts: presentation == .alert, at: now)
  }

  private mutating func prefer() throws {
    let zone = Self.zones[random.below(Self.zones.count)]
    var quiet: QuietHours?
    if random.oneIn(2) {
      let (start, end) = (random.below(1_440), random.below(1_440))
      if start != end { quiet = QuietHours(start: QuietSpan.text(start), end: QuietSpan.text(end), timeZone: zone) }
    }
    // Times that daylight saving neither leaves out nor repeats.
    let times = random.oneIn(3) ? [QuietSpan.text((4 * 60 + random.below(20 * 60)) % 1_440)] : nil
    (oracle.zone, oracle.quiet, oracle.limit) = (zone, quiet, random.below(7))
    log.append(
      "\(now): \(oracle.limit) a day in \(zone), quiet \(quiet.map { "\($0)" } ?? "never"), times \(times ?? [])")
    for scene in [scene, twin] {
      scene.driver.now = now
      let isTwin = scene === twin
      try scene.prefer(
        PreferencesPatch(
          quietHours: .set(quiet), digestTimes: .set(times), timeZone: zone,
          dailyAlerts: isTwin ? .unchanged : .set(oracle.limit)), at: now)
    }
  }
}
