import NudgeCodec
import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("The catch-up of a person who wants to see less by then")
struct UnwantedTests {
  /// A person with a phone and quiet hours from 11:00 to 13:00 UTC; it is noon.
  private func asleep() throws -> Scene {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 0
    let scene = try Scene.withPhone(rules)
    try scene.prefer(PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "13:00"))), at: noon - 2 * hour)
    return scene
  }

  /// A message of a group that mentions the person.
  private func message(_ scene: Scene, _ messageId: String, from name: String, at time: Milliseconds) throws {
    scene.driver.now = time
    var candidate = Scene.candidate(
      messageId, in: "g", RecipientContext(mentioned: true), group: "House", body: "from \(name)")
    candidate.sender = Member(userId: name.lowercased(), displayName: name)
    try scene.send(.candidate(candidate), at: time, origin: scene.nextOrigin())
  }

  private func catchUps(_ scene: Scene, at time: Milliseconds = noon + hour) throws -> [Push] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }.flatMap(\.pushes).filter(\.isCatchUp)
  }

  private func mute(_ scene: Scene, _ senders: [String]) throws {
    try scene.prefer(PreferencesPatch(mutedSenders: senders), at: noon + 30 * minute)
  }

  /// A message's standing, as `nudge explain` shows it.
  private func standing(_ scene: Scene, of messageId: String, in conversationId: String) throws -> PersonView
    .MessageStanding?
  {
    var view = PersonView(userId: "ann")
    let coder = RecordCoder()
    for key in [
      AnalyzerRow.userKey("ann"), AnalyzerRow.conversationKey("ann", conversationId),
      AnalyzerRow.missedKey("ann", conversationId),
    ] {
      guard let row = try scene.driver.row(key), view.concerns(key) else { continue }
      try row.encoded(coder: coder, at: .latest).withUnsafeBytes { try view.take(key, $0, coder: coder) }
    }
    return view.standing(of: messageId, in: conversationId)
  }

  @Test("D8: nothing of a sender who was muted at night is in the morning's catch-up")
  func mutedSender() throws {
    let scene = try asleep()
    try scene.message("m1", in: "c1", at: noon, body: "answer me")
    try message(scene, "m2", from: "Eve", at: noon + 1)
    try message(scene, "m3", from: "Bob", at: noon + 2)
    try mute(scene, ["bob"])
    let waiting = try #require(try standing(scene, of: "m1", in: "c1"))
    #expect(waiting.waitsForCatchUp && waiting.catchUpAt == noon + hour && !waiting.wasToldByCatchUp)
    let pushes = try catchUps(scene)
    let kept = try #require(try standing(scene, of: "m1", in: "c1"))
    #expect(!kept.waitsForCatchUp && !kept.wasToldByCatchUp && !kept.wasNotified && kept.countsOnBadge)
    #expect(pushes.map(\.messageId) == ["m2"] && pushes.first?.body == "from Eve")
    #expect(try scene.driver.rows(below: AnalyzerRow.missedKey("ann")).isEmpty)
    #expect(try catchUps(scene, at: noon + 48 * hour).isEmpty)
    let forgiven = try asleep()
    try forgiven.message("m1", in: "c1", at: noon, body: "answer me")
    try mute(forgiven, ["bob"])
    try forgiven.prefer(PreferencesPatch(mutedSenders: []), at: noon + 40 * minute)
    #expect(try catchUps(forgiven).map(\.messageId) == ["m1"])
  }

  @Test("D8: nor do messages of a muted sender count whose words or entries are not kept")
  func mutedSenderOfMany() throws {
    // A catch-up keeps the words of six messages, and knows the writers of the last 32.
    let scene = try asleep()
    for number in 0..<20 { try message(scene, "b\(number)", from: "Bob", at: noon + Int64(number)) }
    try message(scene, "e1", from: "Eve", at: noon + 100)
    try message(scene, "e2", from: "Eve", at: noon + 101)
    try mute(scene, ["bob"])
    let digest = try #require(try catchUps(scene).first?.digest)
    #expect(digest.messages == 2 && Set(digest.lines.map(\.text)) == ["from Eve"])
    let alone = try asleep()
    for number in 0..<100 { try alone.message("m\(number)", in: "c1", at: noon + Int64(number) * second) }
    try mute(alone, ["bob"])
    #expect(try catchUps(alone).isEmpty)
    #expect(try alone.driver.rows(below: AnalyzerRow.missedKey("ann")).isEmpty)
  }

  @Test("D14: groups of which a person wants to see nothing any more are not in it")
  func defaultLevel() throws {
    let scene = try asleep()
    try scene.message("m1", in: "c1", at: noon)
    try message(scene, "m2", from: "Eve", at: noon + 1)
    try scene.prefer(PreferencesPatch(defaultLevels: DefaultLevels(group: NotificationLevel.none)), at: noon + minute)
    #expect(try catchUps(scene).map(\.messageId) == ["m1"])
  }

  @Test(
    "D13: a catch-up on the screen gets no new text of a sender or conversation that was muted since",
    arguments: [
      PreferencesPatch(mutedSenders: ["bob"]),
      PreferencesPatch(muted: [MutedConversation(conversationId: "c1")]),
      PreferencesPatch(conversationLevels: [ConversationLevel(conversationId: "c1", level: .none)]),
    ])
  func edits(patch: PreferencesPatch) throws {
    let scene = try asleep()
    try scene.message("m1", in: "c1", at: noon, body: "sorry")
    try message(scene, "m2", from: "Eve", at: noon + 1)
    #expect(try catchUps(scene).map(\.digest?.messages) == [2])
    scene.driver.now = noon + 2 * hour
    let edit = try scene.edit("m1", in: "c1", body: "sorry!", at: noon + 2 * hour)
    #expect(edit.push?.digest?.lines.contains { $0.text == "sorry!" } == true)
    try scene.prefer(patch, at: noon + 2 * hour + 1)
    #expect(try scene.edit("m1", in: "c1", body: "not sorry", at: noon + 2 * hour + 2).pushes.isEmpty)
  }
}
