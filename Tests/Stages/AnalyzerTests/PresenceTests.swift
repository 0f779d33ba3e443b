import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

/// Issue 62, row 3: presence is a person, not a screen.
@Suite("Presence: reports that only repeat are no sign of a person")
struct PresenceTests {
  private func report(
    _ scene: Scene, _ device: String = "desktop", _ state: Activity.State = .foreground,
    in conversation: String? = "c1",
    at time: Milliseconds, lastInputAt: Milliseconds? = nil, tab: String? = nil
  ) throws -> Written {
    scene.driver.now = max(scene.driver.now, time)
    return try scene.send(
      .user(
        .activity(
          Activity(
            userId: "ann", deviceId: device, state: state, conversationId: conversation, lastInputAt: lastInputAt,
            tabId: tab))), at: time)
  }

  private func fire(_ scene: Scene, at time: Milliseconds) throws -> [Written] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }
  }

  /// Somebody opened c1 on the desktop at noon and left it open; the app reports each minute, up to a time.
  private func leftOpen(until end: Milliseconds) throws -> Scene {
    let scene = try Scene.withPhone()
    for time in stride(from: noon, through: end, by: Int(minute)) { _ = try report(scene, at: time) }
    return scene
  }

  @Test("a desktop left open keeps messages from the phone for five minutes, and no longer")
  func leftOpen() throws {
    let scene = try leftOpen(until: noon + 4 * minute)
    #expect(try scene.message("m1", at: noon + 4 * minute + 1).decision?.outcome == .deferred)
    // The next report only repeats, and is the last that settles what is held.
    #expect(try report(scene, at: noon + 5 * minute).decision?.reason == .activeConversation)
    _ = try report(scene, at: noon + 6 * minute)
    let later = try scene.message("m2", at: noon + 6 * minute + 1)
    #expect(later.push?.presentation == .alert && later.push?.badge == 1)
    for hour in 1...3 {
      let time = noon + Int64(hour) * 60 * minute
      _ = try report(scene, at: time)
      #expect(try scene.message("h\(hour)", at: time + 1).push != nil)
      #expect(try report(scene, at: time + minute).isEmpty, "it reads nothing")
    }
  }

  @Test("what is held when the claim ends is pushed then")
  func pushedThen() throws {
    let scene = try leftOpen(until: noon + 4 * minute)
    let held = try scene.message("m1", at: noon + 4 * minute + 30 * second)
    #expect(held.decision?.heldUntil == noon + 5 * minute)
    let fired = try fire(scene, at: noon + 5 * minute)
    #expect(fired.flatMap(\.decisions).map(\.body.outcome) == [.notify])
    #expect(fired.flatMap(\.pushes).first?.badge == 1)
    // A late analyzer waits as long as one on time: reads may be behind the message.
    let late = try leftOpen(until: noon)
    let catchingUp = try late.message("m1", at: noon + second, decidedAt: noon + hour / 2)
    #expect(catchingUp.decision?.heldUntil == noon + hour / 2 + 2 * minute)
  }

  @Test("a read, an own message, a tap, input and a change are signs of a person")
  func signs() throws {
    func isHeld(_ sign: (Scene, Milliseconds) throws -> Void) throws -> Bool {
      let scene = try leftOpen(until: noon + 4 * minute)
      scene.driver.now = noon + 4 * minute
      try sign(scene, noon + 4 * minute + 1)
      for number in 5...8 { _ = try report(scene, at: noon + Int64(number) * minute) }
      return try scene.message("m", at: noon + 8 * minute + 1).decision?.outcome == .deferred
    }
    #expect(try !isHeld { _, _ in })
    #expect(try isHeld { try $0.read(at: $1, on: "desktop") })
    #expect(try isHeld { try $0.read(at: $1) }, "it is read where it is shown")
    #expect(
      try !isHeld { try $0.read(at: $1, on: "phone") }, "a read on the phone is no sign of somebody at the desktop")
    #expect(try isHeld { try $0.wrote("own", at: $1) })
    #expect(try !isHeld { try $0.wrote("own", in: "c2", at: $1) })
    func tap(_ scene: Scene, on device: String, at time: Milliseconds) throws {
      let report = NotificationReport(
        userId: "ann", deviceId: device, pushId: "p", conversationId: "c1", messageId: "m0")
      try scene.send(.user(.notificationOpened(report)), at: time)
    }
    #expect(try isHeld { try tap($0, on: "desktop", at: $1) })
    #expect(try !isHeld { try tap($0, on: "phone", at: $1) })
    #expect(try isHeld { _ = try report($0, at: $1, lastInputAt: $1) })
    #expect(try !isHeld { _ = try report($0, at: $1, lastInputAt: noon) })
    #expect(
      try isHeld {
        _ = try report($0, in: "c2", at: $1)
        _ = try report($0, at: $1 + 1)
      })
  }

  @Test("input that a clock dates ahead counts from its report")
  func inputAhead() throws {
    let scene = try Scene.withPhone()
    _ = try report(scene, at: noon, lastInputAt: noon + hour)
    for number in 1...6 { _ = try report(scene, at: noon + Int64(number) * minute) }
    #expect(try scene.message("m1", at: noon + 6 * minute + 1).decision?.outcome == .notify)
  }

  @Test("an idle device is nobody: messages alert, none of them waits, and none is read")
  func idle() throws {
    let scene = try Scene.withPhone()
    _ = try report(scene, at: noon)
    _ = try report(scene, "desktop", .idle, at: noon + minute)
    let written = try scene.message("m1", at: noon + minute + 1)
    #expect(written.push?.presentation == .alert && written.banners.isEmpty)
    #expect(try report(scene, "desktop", .idle, at: noon + 2 * minute).isEmpty)
    #expect(try report(scene, at: noon + 3 * minute).isEmpty, "coming back reads what an app reports as read")
    #expect(try scene.message("m2", at: noon + 3 * minute + 1).decision?.outcome == .deferred)
  }

  @Test("a screen that is left on makes no alert of another conversation wait, and shows no banner")
  func elsewhere() throws {
    let scene = try leftOpen(until: noon + 6 * minute)
    let written = try scene.message("m1", in: "c2", at: noon + 6 * minute + 1)
    #expect(written.decision?.outcome == .notify && written.banners.isEmpty)
    let before = try leftOpen(until: noon + minute)
    let waiting = try before.message("m1", in: "c2", at: noon + minute + 1)
    #expect(waiting.decision?.reason == .activeElsewhere && waiting.banners.count == 1)
  }

  @Test("the operator's policy says for how long")
  func policy() throws {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy = try NotificationPolicy(json: Array(#"{"presence": {"repeatMinutes": 1}}"#.utf8))
    let scene = try Scene.withPhone(rules)
    _ = try report(scene, at: noon)
    _ = try report(scene, at: noon + minute)
    #expect(try scene.message("m1", at: noon + minute + 1).decision?.outcome == .notify)
    #expect(throws: PolicyError.self) {
      try NotificationPolicy(json: Array(#"{"presence": {"repeatMinutes": 0}}"#.utf8))
    }
  }

  @Test("tabs with one device id end only their own activity")
  func tabs() throws {
    let scene = try Scene.withPhone()
    _ = try report(scene, at: noon, tab: "t1")
    _ = try report(scene, in: "c2", at: noon + 1, tab: "t2")
    #expect(try scene.message("m1", at: noon + 2).decision?.outcome == .deferred)
    #expect(try scene.message("m2", in: "c2", at: noon + 3).decision?.outcome == .deferred)
    _ = try report(scene, "desktop", .background, in: nil, at: noon + 4, tab: "t2")
    try scene.driver.restart()
    #expect(try scene.message("m3", at: noon + 5).decision?.outcome == .deferred)
    #expect(try scene.message("m4", in: "c2", at: noon + 6).decision?.reason != .activeConversation)
  }

  @Test("the badge counts what the policy says for people who did not choose")
  func badgeMode() throws {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy = try NotificationPolicy(json: Array(#"{"badgeMode": "messages"}"#.utf8))
    let scene = try Scene.withPhone(rules)
    try scene.message("m1")
    #expect(try scene.message("m2").decision?.badge == 2)
    try scene.prefer(PreferencesPatch(badgeMode: .conversations))
    #expect(try scene.message("m3").decision?.badge == 1)
  }
}
