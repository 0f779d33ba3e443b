import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("The attention budget: decisions")
struct BudgetTests {
  /// A person with a phone and a budget, for whom every message of a conversation may alert.
  private func scene(
    _ alerts: Int?, _ patch: PreferencesPatch = PreferencesPatch(),
    _ change: (inout NotificationPolicy) -> Void = { _ in }
  ) throws -> Scene {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 0
    rules.policy.directBurstSeconds = 0
    change(&rules.policy)
    let scene = try Scene.withPhone(rules)
    try scene.prefer(patch)
    if let alerts { try scene.prefer(PreferencesPatch(dailyAlerts: .set(alerts))) }
    return scene
  }

  private let midnight = noon - 12 * hour

  private func user(_ scene: Scene) throws -> UserRow? {
    guard case .user(let row)? = try scene.driver.row(AnalyzerRow.userKey("ann")) else { return nil }
    return row
  }

  private func check(_ written: Written) -> Check? { written.decision?.checks.first { $0.check == "budget" } }

  private func digests(_ scene: Scene, at time: Milliseconds) throws -> [Push] {
    scene.driver.now = time
    return try scene.driver.fireTimers().flatMap { try scene.written($0).pushes }.filter(\.isCatchUp)
  }

  @Test("D20: beyond the budget messages are shown without a sound, and the decision says so")
  func spent() throws {
    let scene = try scene(2)
    for number in 1...2 {
      let written = try scene.message("m\(number)", in: "c\(number)", at: noon + Int64(number))
      #expect(written.push?.presentation == .alert && check(written)?.inputs["used"] == .number(Int64(number - 1)))
    }
    let third = try scene.message("m3", in: "c3", at: noon + 3)
    let decision = try #require(third.decision)
    #expect(decision.outcome == .notify && decision.presentation == .silent && decision.reason == .notifyAll)
    #expect(third.push?.presentation == .silent && third.push?.kind == .message)
    #expect(decision.text.contains("shown without a sound because of your limit of 2 alerts a day"))
    let note = try #require(check(third))
    #expect(note.result == .pass && note.inputs["silent"] == true && note.inputs["threshold"] == nil)
    #expect(note.inputs["used"] == 2 && note.inputs["limit"] == 2 && note.inputs["value"] == 500)
    // The next day has a budget of its own.
    #expect(try scene.message("m4", in: "c4", at: noon + 12 * hour - 1).push?.presentation == .silent)
    #expect(try scene.message("m5", in: "c5", at: noon + 12 * hour).push?.presentation == .alert)
    #expect(try user(scene)?.spentAlerts == SpentAlerts(day: 20_515, used: [1, 2]))
  }

  @Test("D20: early in the day the last alerts are kept for what matters more")
  func threshold() throws {
    let scene = try scene(10)
    for number in 1...8 {
      #expect(try scene.message("m\(number)", in: "c\(number)", at: midnight + 1).push?.presentation == .alert)
    }
    let ninth = try scene.message("m9", in: "c9", at: midnight + 2)
    #expect(ninth.push?.presentation == .silent && check(ninth)?.inputs["threshold"] == 517)
    func fromStarred(_ id: String, at time: Milliseconds) throws -> Written {
      try scene.prefer(
        PreferencesPatch(starredSenders: ["bob"], defaultLevels: DefaultLevels(group: .all)), at: time - 1)
      let written = try scene.message(id, in: id, at: time, group: "Hikers")
      try scene.prefer(PreferencesPatch(starredSenders: []), at: time)
      return written
    }
    let worthIt = try fromStarred("m10", at: midnight + 4)
    #expect(worthIt.push?.presentation == .alert && check(worthIt)?.inputs["value"] == 950)
    // In the evening what is left is for anybody.
    #expect(try scene.message("m11", in: "c11", at: midnight + 22 * hour).push?.presentation == .alert)
    let late = try fromStarred("m12", at: midnight + 22 * hour + 1)
    #expect(late.push?.presentation == .silent)
  }

  @Test("D20: an urgent message sounds where no alert is left, in quiet hours too, and costs nothing")
  func urgent() throws {
    let spent = try scene(0)
    let written = try spent.message("m1", at: noon, body: "this is urgent")
    #expect(written.push?.presentation == .alert && check(written) == nil)
    #expect(try user(spent)?.spentAlerts == nil)
    let asleep = try scene(0, PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "13:00"))))
    #expect(
      try asleep.message("m1", in: "g", at: noon, group: "Hikers", body: "this is urgent").push?.presentation == .alert)
    #expect(try asleep.message("m2", in: "c2", at: noon + 1).decision?.reason == .quietHours)
    // Nothing is left in the catch-up: it was told.
    #expect(try digests(asleep, at: noon + hour).map(\.conversationId) == ["c2"])
  }

  @Test("D20: mentions, and direct messages of starred senders, are free; a starred sender's message in a group is not")
  func free() throws {
    let scene = try scene(0)
    let mention = RecipientContext(mentioned: true)
    #expect(try scene.message("m1", in: "g", at: noon, mention, group: "Hikers").push?.presentation == .alert)
    #expect(try scene.message("m2", in: "c", at: noon + 1, mention).push?.presentation == .alert)
    #expect(try scene.message("m3", in: "c2", at: noon + 2).push?.presentation == .silent)
    try scene.prefer(PreferencesPatch(starredSenders: ["bob"]), at: noon)
    #expect(try scene.message("m4", in: "c3", at: noon + 3).push?.presentation == .alert)
    let group = try scene.message("m5", in: "h", at: noon + 4, group: "Runners")
    #expect(group.push?.presentation == .silent && check(group)?.inputs["silent"] == true)
    #expect(try user(scene)?.spentAlerts == nil)
  }

  @Test("D20: a person without a budget has nothing of it in row or decision; the policy's is for who did not choose")
  func default_() throws {
    let none = try scene(nil)
    let written = try none.message("m1", at: noon)
    #expect(written.push?.presentation == .alert && check(written) == nil)
    #expect(try user(none)?.spentAlerts == nil)
    let operators = try scene(nil) { $0.dailyAlerts = 1 }
    #expect(try operators.message("m1", at: noon).push?.presentation == .alert)
    #expect(try operators.message("m2", in: "c2", at: noon + 1).push?.presentation == .silent)
    try operators.prefer(PreferencesPatch(dailyAlerts: .set(2)), at: noon + 2)
    #expect(try operators.message("m3", in: "c3", at: noon + 3).push?.presentation == .alert)
    try operators.prefer(PreferencesPatch(dailyAlerts: .set(nil)), at: noon + 4)
    #expect(try operators.message("m4", in: "c4", at: noon + 5).push?.presentation == .silent)
    for number in [-1, 1_001] {
      #expect(
        try none.prefer(PreferencesPatch(dailyAlerts: .set(number)), at: noon).rejection?.code == .schemaViolation)
    }
  }

  @Test("D20: what is not shown, repeats, replays and edits cost nothing")
  func costless() throws {
    let scene = try scene(3)
    try scene.prefer(PreferencesPatch(defaultLevels: DefaultLevels(group: .smart)))
    let origin = scene.nextOrigin()
    for _ in 0..<2 { try scene.message("m1", at: noon, origin: origin) }
    // Published again under another origin: a duplicate.
    try scene.message("m1", at: noon)
    #expect(try user(scene)?.spentAlerts?.used == [1])
    try scene.edit("m1", body: "another text", at: noon + 1)
    try scene.message("m2", in: "g", at: noon, group: "Hikers")
    try scene.message("m3", in: "late", at: noon - 2 * hour, decidedAt: noon)
    #expect(try user(scene)?.spentAlerts?.used == [1])
    scene.driver.now = noon + 2
    var candidate = Scene.candidate("m1", body: "another text", replayId: "replay-1")
    candidate.forced = true
    #expect(try scene.send(.redecide(candidate), at: noon).push?.presentation == .alert)
    #expect(try user(scene)?.spentAlerts?.used == [1])
    let bare = Scene(now: noon)
    try bare.prefer(PreferencesPatch(dailyAlerts: .set(3)))
    #expect(try bare.message("m1").decision?.reason == .noDevice)
    #expect(try user(bare)?.spentAlerts == nil)
  }

  @Test("D20: an alert that waits costs when it sounds, not when it waits")
  func held() throws {
    let scene = try scene(1)
    // It gets no pushes, so that nothing sounds at once.
    try scene.activity("tablet", in: nil, at: noon)
    let waiting = try scene.message("m1", at: noon + 1)
    #expect(waiting.decision?.outcome == .deferred && check(waiting) == nil)
    #expect(try user(scene)?.spentAlerts == nil)
    try scene.read(at: noon + second)
    scene.driver.now = noon + minute
    #expect(try scene.driver.fireTimers().flatMap { try scene.written($0).pushes }.isEmpty)
    #expect(try user(scene)?.spentAlerts == nil)
    try scene.activity("tablet", in: nil, at: noon + minute)
    try scene.message("m2", in: "c2", at: noon + minute + 1)
    scene.driver.now = noon + 2 * minute
    #expect(try scene.driver.fireTimers().flatMap { try scene.written($0).pushes }.map(\.presentation) == [.alert])
    #expect(try user(scene)?.spentAlerts?.used == [1])
    // The next one that waited finds nothing left.
    try scene.activity("tablet", in: nil, at: noon + 2 * minute)
    try scene.message("m3", in: "c3", at: noon + 2 * minute + 1)
    scene.driver.now = noon + 3 * minute
    #expect(try scene.driver.fireTimers().flatMap { try scene.written($0).pushes }.map(\.presentation) == [.silent])
    #expect(try digests(scene, at: midnight + 18 * hour).first?.conversationId == "c3")
  }

  @Test("D20: a message that a burst silences costs nothing, and one the budget silences begins no burst")
  func bursts() throws {
    let scene = try scene(1) { $0.directBurstSeconds = 60 }
    #expect(try scene.message("m1", at: noon).push?.presentation == .alert)
    let second = try scene.message("m2", at: noon + 1)
    #expect(second.push?.presentation == .silent && check(second) == nil)
    let other = try scene.message("m3", in: "c2", at: noon + 2)
    #expect(other.push?.presentation == .silent && check(other) != nil)
    let next = try scene.message("m4", in: "c2", at: noon + 3)
    #expect(check(next) != nil && next.decision?.checks.contains { $0.check == "burst" } == false)
  }

  @Test("D20: what the budget silenced is in one catch-up at 18:00 in the person's time zone, without a sound")
  func catchUp() throws {
    let scene = try scene(1, PreferencesPatch(timeZone: "Europe/Berlin"))
    try scene.message("m1", at: noon)
    for number in 2...4 {
      let silenced = try scene.message("m\(number)", in: "c\(number)", at: noon + Int64(number), body: "text \(number)")
      #expect(
        silenced.decision?.checks.last { $0.check == "catch_up" }?.inputs["dueAt"] == .number(midnight + 17 * hour))
    }
    try scene.read("c3", at: noon + minute)
    #expect(try digests(scene, at: midnight + 17 * hour - 1).isEmpty)
    let told = try digests(scene, at: midnight + 17 * hour)
    #expect(told.count == 1 && told.first?.digest?.parts?.map(\.conversationId) == ["c2", "c4"])
    #expect(told.first?.presentation == .silent)
    #expect(try digests(scene, at: midnight + 72 * hour).isEmpty)
    // A person who never wants to catch up does not, and a budget alone asks for nothing else.
    let never = try self.scene(0, PreferencesPatch(digestTimes: .set([])))
    try never.message("m1", at: noon)
    let alone = try self.scene(5)
    try alone.message("m1", at: noon - 2 * hour, decidedAt: noon)
    #expect(try digests(never, at: midnight + 72 * hour).isEmpty)
    // What came too late is in everybody's.
    #expect(try digests(alone, at: noon + 10 * minute).map(\.messageId) == ["m1"])
    // A person who takes the budget back is told at once.
    let ended = try self.scene(0)
    try ended.message("m1", at: noon)
    try ended.prefer(PreferencesPatch(dailyAlerts: .set(nil)), at: noon + minute)
    #expect(try digests(ended, at: noon + minute).count == 1)
  }

  @Test("D20, D18: a catch-up that sounds costs one; without one left it is silent")
  func catchUpCosts() throws {
    for (limit, presentation) in [(1, Presentation.alert), (0, .silent)] {
      let quiet = PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "13:00")))
      let scene = try scene(limit, quiet)
      #expect(try scene.message("m1", at: noon).decision?.reason == .quietHours)
      #expect(try digests(scene, at: noon + hour).map(\.presentation) == [presentation])
      #expect(try user(scene)?.spentAlerts?.used == (limit == 1 ? [1] : nil))
      #expect(try scene.message("m2", in: "c2", at: noon + 2 * hour).push?.presentation == .silent)
    }
  }

  @Test("D20: a person who travels has one budget for each date, and loses none")
  func travel() throws {
    let scene = try scene(1, PreferencesPatch(timeZone: "Pacific/Auckland"))
    // 01:00 on March 3 in Auckland.
    #expect(try scene.message("m1", at: noon).push?.presentation == .alert)
    #expect(try scene.message("m2", in: "c2", at: noon + 1).push?.presentation == .silent)
    // March 2 in Los Angeles has its own; on March 3 there nothing is left.
    try scene.prefer(PreferencesPatch(timeZone: "America/Los_Angeles"), at: noon + 2)
    #expect(try scene.message("m3", in: "c3", at: noon + hour).push?.presentation == .alert)
    #expect(try scene.message("m4", in: "c4", at: noon + 2 * hour).push?.presentation == .silent)
    #expect(try scene.message("m5", in: "c5", at: noon + 24 * hour).push?.presentation == .silent)
    #expect(try scene.message("m6", in: "c6", at: noon + 48 * hour).push?.presentation == .alert)
  }
}
