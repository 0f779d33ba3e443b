import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Replays: what the analyzer allows them")
struct ReplayTests {
  private func rules(_ change: (inout AnalyzerRules) -> Void = { _ in }) -> AnalyzerRules {
    var rules = AnalyzerRules(hash: standInHash)
    change(&rules)
    return rules
  }

  @discardableResult
  private func redecide(
    _ scene: Scene, _ messageId: String, to userIds: [String] = ["ann"], replay: String? = "replay-1",
    forced: Bool? = nil, at time: Milliseconds = noon, now: Milliseconds? = nil
  ) throws -> Written {
    scene.driver.now = now ?? time
    var candidate = Scene.candidate(messageId, to: userIds, replayId: replay)
    candidate.forced = forced
    return try scene.send(.redecide(candidate), at: time)
  }

  /// A phone, notifications off, messages that were therefore suppressed, notifications on again.
  private func suppressed(_ messages: [String], _ rules: AnalyzerRules? = nil) throws -> Scene {
    let scene = try Scene.withPhone(rules ?? self.rules())
    try scene.prefer(PreferencesPatch(enabled: false), eventId: "off")
    for message in messages { try scene.message(message) }
    try scene.prefer(PreferencesPatch(enabled: true), at: noon - hour + 1, eventId: "on")
    return scene
  }

  @Test("a redecided message does not use up the hourly limit, and nobody is told that it is reached")
  func window() throws {
    let scene = try suppressed(
      ["a", "b", "c"],
      rules {
        $0.policy.analysesPerHour = 2
        $0.policy.directLevel = .smart
      })
    for message in ["a", "b", "c"] {
      let written = try redecide(scene, message)
      #expect(written.decision?.outcome == .notify)
      #expect(written.decision?.analysis?.used == 1, "as if it were the first")
      #expect(written.notices.isEmpty)
    }
    #expect(try scene.message("d").decision?.analysis?.used == 1)
    #expect(try scene.message("e").decision?.analysis?.used == 2)
    // Now the limit is reached: the fallback decides, and says so to people only for what is written to them now.
    let past = try redecide(scene, "c", replay: "replay-2", forced: true)
    #expect(past.decision?.reason == .simpleRules && past.notices.isEmpty)
    #expect(try scene.message("f").notices.count == 1)
  }

  @Test("a redecided message counts on the badge as it did, once")
  func badge() throws {
    let scene = try Scene.withPhone(rules())
    try scene.prefer(PreferencesPatch(enabled: false, badgeMode: .messages), eventId: "off")
    try scene.message("a")
    #expect(try scene.message("b").decision?.badge == 2)
    try scene.prefer(PreferencesPatch(enabled: true), at: noon - hour + 1, eventId: "on")
    #expect(try redecide(scene, "a").push?.badge == 2)
    #expect(try redecide(scene, "b").push?.badge == 2)
    #expect(try redecide(scene, "b", forced: true).push?.badge == 2)
    #expect(try scene.message("c").decision?.badge == 3)
  }

  @Test("one replay notifies one person no more often than the limit; another replay begins anew")
  func personLimit() throws {
    let scene = try suppressed(["a", "b", "c"], rules { $0.replayPerPerson = 2 })
    #expect(try redecide(scene, "a").push != nil)
    #expect(try redecide(scene, "b").push != nil)
    let third = try redecide(scene, "c")
    #expect(third.decision?.reason == .replayLimit && third.push == nil)
    try scene.driver.restart()
    #expect(try redecide(scene, "c").decision?.reason == .replayLimit, "the count survives a restart")
    #expect(try redecide(scene, "c", replay: "replay-2").push != nil)
  }

  @Test("what suppresses anyway does not count towards the limit")
  func onlyNotificationsCount() throws {
    let scene = try suppressed(["a", "b"], rules { $0.replayPerPerson = 1 })
    #expect(try redecide(scene, "a", now: noon + 2 * hour).decision?.reason == .expired)
    #expect(try redecide(scene, "b").push != nil)
  }

  @Test("a stopped replay notifies nobody any more, across restarts; other replays and live messages go on")
  func stop() throws {
    let scene = try suppressed(["a", "b"])
    #expect(try redecide(scene, "a").push != nil)
    let stopped = try scene.send(.replayStopped(ReplayStopped(replayId: "replay-1")), at: noon)
    #expect(stopped.isEmpty && stopped.rejection == nil)
    try scene.driver.restart()
    let after = try redecide(scene, "b")
    #expect(after.decision?.reason == .replayStopped && after.push == nil && after.decision?.replayId == "replay-1")
    #expect(try redecide(scene, "b", replay: "replay-2").push != nil)
    #expect(try scene.message("live").push != nil)
  }

  @Test("by force who was notified is notified again, by a push with an id of its own, the same for the same replay")
  func force() throws {
    let scene = try Scene.withPhone(rules())
    let first = try #require(try scene.message("a").push)
    #expect(try redecide(scene, "a").decision?.reason == .duplicate)
    let forced = try #require(try redecide(scene, "a", replay: "replay-2", forced: true).push)
    #expect(forced.pushId != first.pushId && forced.messageId == first.messageId)
    let again = try #require(try redecide(scene, "a", replay: "replay-3", forced: true).push)
    #expect(![first.pushId, forced.pushId].contains(again.pushId))
    #expect(try redecide(scene, "a", replay: "replay-2", forced: true).push?.pushId == forced.pushId)
  }

  @Test("by force nobody gets what they do not want, have read, is taken back, or is too old")
  func forceSpares() throws {
    func reason(_ change: (Scene) throws -> Void, now: Milliseconds? = nil) throws -> DecisionReason? {
      let scene = try Scene.withPhone(rules())
      try scene.message("a")
      try change(scene)
      let written = try redecide(scene, "a", forced: true, now: now)
      #expect(written.push == nil)
      return written.decision?.reason
    }
    #expect(try reason { try $0.prefer(PreferencesPatch(enabled: false)) } == .notificationsDisabled)
    #expect(
      try reason { try $0.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "c1")])) }
        == .conversationMuted)
    #expect(try reason { try $0.read(upTo: "a", at: noon + 1) } == .alreadyRead)
    #expect(try reason { try $0.withdraw("a", at: noon + 1) } == .withdrawn)
    #expect(try reason({ _ in }, now: noon + hour + 1) == .expired)
  }

  @Test("by force one replay notifies no more often in a task than the limit, whoever they are")
  func forceLimit() throws {
    let scene = Scene(rules { $0.replayForced = 3 })
    let people = (0..<5).map { "person-\($0)" }
    for person in people { try scene.gain("phone-\(person)", user: person) }
    let first = try redecide(scene, "a", to: Array(people[0..<2]), forced: true)
    #expect(first.pushes.count == 2)
    let second = try redecide(scene, "a", to: Array(people[2..<5]), forced: true)
    #expect(second.pushes.count == 1)
    #expect(second.decisions.map(\.body.reason).filter { $0 == .replayLimit }.count == 2)
  }

  @Test("a message to decide again must name its replay, by an id that can be part of a key")
  func names() throws {
    let scene = try Scene.withPhone(rules())
    for replay in [nil, "", "a\u{0}b", String(repeating: "x", count: 65)] {
      #expect(try redecide(scene, "a", replay: replay).rejection?.code == .schemaViolation)
    }
  }

  @Test("the rows of a replay go when it can no longer ask for anything")
  func cleanUp() throws {
    let scene = try suppressed(["a"])
    try redecide(scene, "a")
    #expect(try scene.driver.row(RowKey("r", "replay-1")) != nil)
    #expect(try scene.driver.row(RowKey("r", "replay-1", "ann")) != nil)
    scene.driver.now = noon + 28 * 24 * hour - 1
    try scene.driver.fireTimers()
    #expect(try scene.driver.row(RowKey("r", "replay-1")) != nil)
    scene.driver.now = noon + 28 * 24 * hour
    try scene.driver.fireTimers()
    #expect(try scene.driver.row(RowKey("r", "replay-1")) == nil)
    #expect(try scene.driver.row(RowKey("r", "replay-1", "ann")) == nil)
  }
}
