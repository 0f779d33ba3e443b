import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

/// Issue 61: a replay, whoever writes it, never brings back what is gone. `nudge replay` plans with the same rules.
@Suite("Replays: what is gone stays gone")
struct GoneTests {
  @discardableResult
  private func force(
    _ scene: Scene, _ messageId: String, to userIds: [String] = ["ann"], at time: Milliseconds,
    now: Milliseconds? = nil,
    replay: String = "replay-1"
  ) throws -> Written {
    scene.driver.now = now ?? time
    var candidate = Scene.candidate(messageId, to: userIds, body: "the old text", replayId: replay)
    candidate.forced = true
    return try scene.send(.redecide(candidate), at: time)
  }

  private func wakeUntilIdle(_ scene: Scene) {
    for _ in 0..<100 {
      scene.driver.now += 20
      if scene.driver.wake().wakeAt == nil { return }
    }
    Issue.record("the erasure goes on")
  }

  @Test(
    "a deleted message is served by no replay, however many messages came after it, and however many were deleted",
    arguments: [0, 31, 32, 40, 500])
  func deletedLongAgo(later: Int) throws {
    let scene = try Scene.withPhone()
    try scene.message("gone", at: noon)
    try scene.message("kept", at: noon)
    try scene.withdraw("gone", at: noon + 1)
    for number in 0..<later {
      try scene.message("m\(number)", at: noon + second + Int64(number))
      if later == 500 { try scene.withdraw("m\(number)", at: noon + second + Int64(number)) }
    }
    try scene.driver.restart()
    let written = try force(scene, "gone", at: noon, now: noon + minute)
    #expect(written.pushes.isEmpty && written.decision?.reason == .withdrawn)
    if later < 32 { #expect(try force(scene, "kept", at: noon, now: noon + minute).push?.body == "the old text") }
    // A message of which nothing says that it was deleted is served, unless so many were that nobody can tell.
    let last = try force(scene, "new", at: noon + 30 * second, now: noon + minute)
    #expect(last.push != nil)
  }

  @Test("a record written by hand with the text before an edit is served to nobody; one with the last text is")
  func formerText() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1", at: noon, body: "the old text")
    try scene.edit("m1", body: "the new text", at: noon + second)
    try scene.driver.restart()
    let old = try force(scene, "m1", at: noon, now: noon + minute)
    #expect(old.pushes.isEmpty && old.decision?.reason == .withdrawn)
    #expect(old.decision?.checks.last?.inputs == ["edited": true])
    try scene.edit("m1", body: "the old text", at: noon + 2 * second)
    #expect(try force(scene, "m1", at: noon, now: noon + minute, replay: "r2").push?.body == "the old text")
  }

  @Test("a message deleted when it was older than the last ones is served by no replay")
  func deletedWhenOld() throws {
    let scene = try Scene.withPhone()
    try scene.message("gone", at: noon)
    for number in 0..<40 { try scene.message("m\(number)", at: noon + second + Int64(number)) }
    try scene.withdraw("gone", at: noon + minute)
    #expect(try force(scene, "gone", at: noon, now: noon + minute).decision?.reason == .withdrawn)
  }

  @Test("a message that comes after its deletion is shown to nobody, counted nowhere, and served by no replay")
  func deletedBefore() throws {
    let scene = try Scene.withPhone()
    try scene.withdraw("m1", at: noon + 5)
    let written = try scene.message("m1", at: noon, decidedAt: noon + minute)
    #expect(written.decision?.reason == .withdrawn && written.pushes.isEmpty && written.banners.isEmpty)
    #expect(written.decision?.badge == 0)
    #expect(try scene.message("m2", at: noon + second, decidedAt: noon + minute).decision?.badge == 1)
    #expect(try force(scene, "m1", at: noon, now: noon + minute).decision?.reason == .withdrawn)
  }

  @Test("a deleted conversation is served by no replay; one that began again is, from then on")
  func deletedConversation() throws {
    let scene = try Scene.withPhone()
    try scene.message("old", at: noon)
    try scene.withdraw(nil, cause: .conversationDeleted, at: noon + minute)
    #expect(try force(scene, "old", at: noon, now: noon + minute).decision?.reason == .withdrawn)
    try scene.driver.restart()
    #expect(try force(scene, "old", at: noon, now: noon + 2 * minute).decision?.reason == .withdrawn)
    try scene.message("new", at: noon + 2 * minute)
    #expect(try force(scene, "old", at: noon, now: noon + 3 * minute).decision?.reason == .withdrawn)
    #expect(try force(scene, "new", at: noon + 2 * minute, now: noon + 3 * minute).push != nil)
    let rows = try scene.driver.allRows().map(\.0).filter { $0.parts[0] == "x" }
    #expect(rows.count == 1 && !rows.contains { $0.parts.contains("c1") }, "the row does not name the conversation")
  }

  @Test("who was deleted and registers again is served nothing from before, by a replay or late")
  func erasedPerson() throws {
    let scene = try Scene.withPhone()
    try scene.message("old", at: noon)
    scene.driver.now = noon + minute
    try scene.send(.user(.deleted(UserDeleted(userId: "ann"))), at: noon + minute)
    wakeUntilIdle(scene)
    #expect(try force(scene, "old", at: noon, now: noon + 2 * minute).isEmpty, "unknown until then")
    try scene.gain("new-phone", at: noon + 3 * minute)
    try scene.driver.restart()
    let forced = try force(scene, "old", at: noon, now: noon + 3 * minute)
    #expect(forced.pushes.isEmpty && forced.decision?.reason == .withdrawn)
    let late = try scene.message("late", at: noon + minute - 1, decidedAt: noon + 3 * minute)
    #expect(late.pushes.isEmpty && late.decision?.reason == .withdrawn && late.decision?.badge == 0)
    #expect(try scene.message("new", at: noon + 3 * minute).push != nil)
  }

  @Test("no row names an erased person, whatever replays have done for them; others' rows stay")
  func rowsOfReplays() throws {
    let scene = try Scene.withPhone()
    try scene.gain("ben-phone", user: "ben")
    for person in ["ann", "ben"] {
      let first = try #require(
        try scene.send(
          .candidate(Scene.candidate("m-\(person)", to: [person])), at: noon, origin: scene.nextOrigin()
        ).push)
      for replay in ["replay-1", "replay-10", "replay-2"] {
        try force(scene, "m-\(person)", to: [person], at: noon, replay: replay)
      }
      var candidate = Scene.candidate("m-\(person)", to: [person], replayId: "replay-3")
      candidate.failedPushes = [FailedPush(userId: person, pushId: first.pushId)]
      #expect(try scene.send(.redecide(candidate), at: noon).push != nil)
    }
    try scene.driver.commit()
    func named(_ id: String) throws -> [RowKey] {
      try scene.driver.allRows().map(\.0).filter { row in
        row.parts.contains { $0 == id || $0.hasSuffix("/\(id)") || $0.contains("/\(id)/") }
      }
    }
    #expect(try named("ann").filter { $0.parts[0] == "r" }.count == 5)
    let bens = try named("ben")
    scene.driver.now = noon + minute
    try scene.send(.user(.deleted(UserDeleted(userId: "ann"))), at: noon + minute)
    wakeUntilIdle(scene)
    try scene.driver.commit()
    #expect(try named("ann").isEmpty)
    #expect(try named("ben") == bens)
    let texts = try scene.driver.allRows().map { String(decoding: try $0.1.json(coder: RecordCoder()), as: UTF8.self) }
    #expect(!texts.contains { $0.contains("\"ann\"") })
  }

  // MARK: Told in another way

  @Test("a message that a catch-up told of is pushed by no resend-missing")
  func toldInCatchUp() throws {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 0
    let scene = try Scene.withPhone(rules)
    try scene.prefer(PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "12:30"))))
    #expect(try scene.message("m1", at: noon, body: "see you").decision?.reason == .quietHours)
    scene.driver.now = noon + 30 * minute
    let pushes = try scene.driver.fireTimers().flatMap { try scene.written($0).pushes }
    #expect(pushes.filter(\.isCatchUp).count == 1)
    let again = try scene.redecide("m1", at: noon, now: noon + 31 * minute)
    #expect(again.pushes.isEmpty && again.decision?.reason == .duplicate)
  }

  @Test("a message that was said again is not pushed a third time by resend-failed, although its first push failed")
  func saidAgain() throws {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.againSeconds = 300
    let scene = try Scene.withPhone(rules)
    let first = try #require(try scene.message("m1", body: "This is urgent").push)
    scene.driver.now = noon + 5 * minute
    #expect(try scene.driver.fireTimers().flatMap { try scene.written($0).pushes }.count == 1)
    var candidate = Scene.candidate("m1", replayId: "replay-1")
    candidate.failedPushes = [FailedPush(userId: "ann", pushId: first.pushId, presentation: .alert)]
    let written = try scene.send(.redecide(candidate), at: noon)
    #expect(written.pushes.isEmpty && written.decision?.reason == .duplicate)
  }
}

/// Issue 61: a message is known by its sender and its id.
@Suite("Messages of several senders with one id")
struct MessageIdentityTests {
  private func message(
    _ scene: Scene, _ messageId: String, from sender: String, at time: Milliseconds, body: String = "hello there"
  ) throws -> Written {
    var candidate = Scene.candidate(messageId, body: body)
    candidate.sender = Member(userId: sender, displayName: sender)
    scene.driver.now = max(scene.driver.now, time)
    return try scene.send(.candidate(candidate), at: time, origin: scene.nextOrigin())
  }

  @Test("an id that somebody else used first silences nothing; the same sender's second message with it is a duplicate")
  func usedFirst() throws {
    let scene = try Scene.withPhone()
    let taken = try #require(try message(scene, "m-100", from: "mallory", at: noon).push)
    let real = try message(scene, "m-100", from: "bob", at: noon + second)
    #expect(real.decision?.outcome == .notify)
    let push = try #require(real.push)
    #expect(push.pushId != taken.pushId && push.senderId == "bob", "the dispatcher sends a push of one id once")
    for sender in ["mallory", "bob"] {
      #expect(try message(scene, "m-100", from: sender, at: noon + 2 * second).decision?.reason == .duplicate)
    }
    try scene.driver.restart()
    #expect(try message(scene, "m-100", from: "bob", at: noon + 3 * second).decision?.reason == .duplicate)
    // Both of them are the message that the id names.
    let deleted = try scene.withdraw("m-100", at: noon + 4 * second)
    #expect(deleted.cancelled.map(\.messageId) == ["m-100"])
    #expect(try message(scene, "next", from: "bob", at: noon + 5 * second).decision?.badge == 1)
    try scene.prefer(PreferencesPatch(badgeMode: .messages), at: noon + 6 * second)
    #expect(try message(scene, "last", from: "bob", at: noon + 7 * second).decision?.badge == 2)
  }

  @Test("what is held of two senders with one id is decided twice")
  func held() throws {
    let scene = try Scene.withPhone()
    try scene.activity("desktop", in: "c1", at: noon)
    #expect(try message(scene, "m1", from: "mallory", at: noon, body: "first").decision?.outcome == .deferred)
    #expect(try message(scene, "m1", from: "bob", at: noon + 1, body: "second").decision?.outcome == .deferred)
    scene.driver.now = noon + 3 * minute
    let decided = try scene.driver.fireTimers().map { try scene.written($0) }
    #expect(decided.flatMap(\.pushes).filter { $0.kind == .message }.map(\.body) == ["first", "second"])
  }

  @Test("the person's own message with somebody else's id reads the conversation up to it")
  func own() throws {
    let scene = try Scene.withPhone()
    _ = try message(scene, "m1", from: "mallory", at: noon)
    try scene.wrote("m1", at: noon + second)
    #expect(try message(scene, "m2", from: "bob", at: noon + 2 * second).decision?.badge == 1)
    let read = try scene.read(upTo: "m1", at: noon + 3 * second)
    #expect(read.pushes.isEmpty, "nothing before it is unread")
  }
}
