import NudgeCodec
import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("The catch-up: what was held back, in one push")
struct CatchUpTests {
  /// A person with a phone and quiet hours from 11:00 to 13:00 UTC; it is noon.
  private func asleep(
    _ patch: PreferencesPatch? = nil, _ change: (inout NotificationPolicy) -> Void = { _ in }
  ) throws -> Scene {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 0
    change(&rules.policy)
    let scene = try Scene.withPhone(rules)
    try scene.prefer(PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "13:00"))), at: noon - 2 * hour)
    if let patch { try scene.prefer(patch) }
    return scene
  }

  private func fire(_ scene: Scene, at time: Milliseconds) throws -> [Written] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }
  }

  private func digests(_ scene: Scene, at time: Milliseconds = noon + hour) throws -> [Push] {
    try fire(scene, at: time).flatMap(\.pushes).filter(\.isCatchUp)
  }

  private func rows(_ scene: Scene) throws -> Int { try scene.driver.rows(below: AnalyzerRow.missedKey("ann")).count }

  private func due(_ written: Written) -> Milliseconds? {
    for case .number(let due)? in written.decision?.checks.map({ $0.check == "catch_up" ? $0.inputs["dueAt"] : nil })
      ?? []
    {
      return due
    }
    return nil
  }

  @Test(
    "an edit and a catch-up of one message are of the kind that the conversation's level gives its messages",
    arguments: [
      (NotificationLevel.all, DecisionReason.notifyAll), (.mentions, .simpleRules), (.smart, nil),
    ] as [(NotificationLevel, DecisionReason?)])
  func reasons(level: NotificationLevel, reason: DecisionReason?) throws {
    let levels = PreferencesPatch(conversationLevels: [ConversationLevel(conversationId: "c2", level: level)])
    let mentioned = RecipientContext(mentioned: true)
    let scene = try asleep(levels)
    try scene.message("m1", in: "c2", at: noon, mentioned, group: "Hikers")
    let push = try #require(try fire(scene, at: noon + hour).flatMap(\.pushes).first { $0.kind == .message })
    #expect(push.messageId == "m1" && push.reason == reason)
    let awake = try Scene.withPhone()
    try awake.prefer(levels)
    #expect(try awake.message("m1", in: "c2", at: noon, mentioned, group: "Hikers").push != nil)
    let edit = try awake.edit("m1", in: "c2", body: "at six", title: "Bob in Hikers", at: noon + minute).push
    #expect(edit?.replaces == true && edit?.reason == reason)
  }

  @Test("D18: what quiet hours held back is one push at their end, the most relevant messages first")
  func quietHours() throws {
    let scene = try asleep(
      PreferencesPatch(conversationLevels: [ConversationLevel(conversationId: "c2", level: .all)]))
    let first = try scene.message("m1", at: noon, body: "see you")
    #expect(first.decision?.reason == .quietHours && first.pushes.isEmpty && due(first) == noon + hour)
    try scene.message("m2", at: noon + 1, body: "and then?")
    try scene.message("m3", in: "c2", at: noon + 2, group: "Hikers", body: "tomorrow?")
    try scene.message("m4", at: noon + 3, body: "good\nnight")
    #expect(try fire(scene, at: noon + hour - 1).allSatisfy(\.pushes.isEmpty))
    let fired = try fire(scene, at: noon + hour).flatMap(\.pushes)
    let push = try #require(fired.first { $0.kind == .digest })
    #expect(fired.filter(\.isCatchUp).count == 1)
    #expect(push.title == "4 messages in 2 conversations")
    #expect(push.presentation == .alert && push.targets.map(\.deviceId) == ["phone"] && push.badge == 2)
    let digest = try #require(push.digest)
    #expect(digest.messages == 4 && digest.conversations == 2)
    #expect(digest.lines.count == 3 && Set(digest.lines.map(\.messageId)).isSubset(of: ["m1", "m2", "m3", "m4"]))
    #expect(digest.lines.contains { $0.messageId == "m4" && $0.title == "Bob" && $0.text == "good night" })
    #expect(push.body == digest.lines.map { "\($0.title): \($0.text)" }.joined(separator: "\n"))
    #expect(digest.parts?.map(\.conversationId) == ["c1", "c2"])
    #expect(digest.parts?.first?.keys == ["m1", "m2", "m4"].map { Digest.key($0) })
    #expect(try rows(scene) == 0 && digests(scene, at: noon + 48 * hour).isEmpty)
    // A message a day later is another one's.
    scene.driver.now = noon + 72 * hour
    try scene.message("m5", at: noon + 72 * hour)
    #expect(try digests(scene, at: noon + 73 * hour).map(\.title) == ["Bob"])
  }

  @Test("D18: what was read, deleted or left meanwhile is not in it; an edited message has its last text")
  func changes() throws {
    let scene = try asleep()
    for (number, conversation) in ["read", "later", "left", "gone", "c1", "c1"].enumerated() {
      try scene.message("m\(number)", in: conversation, at: noon + Int64(number), body: "text \(number)")
    }
    try scene.read("read", at: noon + minute)
    try scene.wrote("own", in: "later", at: noon + minute)
    try scene.withdraw(nil, in: "left", cause: .left, at: noon + minute)
    try scene.withdraw(nil, in: "gone", cause: .conversationDeleted, at: noon + minute)
    try scene.withdraw("m4", at: noon + minute)
    try scene.edit("m5", body: "the last text", at: noon + 2 * minute)
    let push = try #require(try digests(scene).first)
    #expect(push.kind == .message && push.body == "the last text" && push.messageId == "m5")
    let all = try asleep()
    try all.message("m1", at: noon)
    try all.read(at: noon + minute)
    #expect(try rows(all) == 0 && digests(all).isEmpty)
  }

  @Test("D18: previews off means counts alone; words come in the person's language")
  func previews() throws {
    let scene = try asleep(PreferencesPatch(showPreviews: false, locale: "de"))
    try scene.message("m1", at: noon, body: "a secret")
    try scene.message("m2", at: noon + 1, body: "another")
    let push = try #require(try digests(scene).first)
    #expect(push.title == "2 Nachrichten in 1 Unterhaltung" && push.body == nil)
    #expect(push.digest?.lines == [] && push.digest?.messages == 2)
    let german = try asleep(PreferencesPatch(locale: "de"))
    try german.message("m1", group: "Wandern", body: "Hallo")
    // A group's message of low priority would only have changed the badge.
    #expect(try digests(german).isEmpty)
  }

  @Test("D18: nothing waits for a person who has neither quiet hours nor times of their own")
  func default_() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1", at: noon, group: "Hikers")
    try scene.prefer(
      PreferencesPatch(muted: [MutedConversation(conversationId: "c3", until: noon + hour)]), at: noon)
    #expect(try scene.message("m3", in: "c3", at: noon + 1).decision?.reason == .conversationMuted)
    #expect(try rows(scene) == 0 && digests(scene, at: noon + 48 * hour).isEmpty)
  }

  @Test(
    "D18: at a person's own times also what only changed the badge, and what a burst silenced; none of them is never")
  func ownTimes() throws {
    func scene(_ times: [String]?) throws -> Scene {
      let scene = try asleep(
        PreferencesPatch(quietHours: .set(nil), digestTimes: .set(times), timeZone: "Europe/Berlin"))
      #expect(try scene.message("m1", at: noon).push?.presentation == .alert)
      #expect(try scene.message("m2", at: noon + 1).push?.presentation == .silent)
      #expect(try scene.message("m3", in: "c2", at: noon + 2, group: "Hikers").decision?.presentation == .badge)
      return scene
    }
    // 18:30 in Berlin is 17:30 UTC.
    let own = try scene(["08:00", "18:30"])
    #expect(try digests(own, at: noon + 5 * hour + 30 * minute - 1).isEmpty)
    let push = try #require(try digests(own, at: noon + 5 * hour + 30 * minute).first)
    #expect(push.digest?.messages == 2 && push.presentation == .silent)
    for times in [[], nil] as [[String]?] {
      let never = try scene(times)
      #expect(try rows(never) == 0 && digests(never, at: noon + 48 * hour).isEmpty)
    }
  }

  @Test("D18: a mute that ends by then; one without an end keeps its messages out")
  func mutes() throws {
    func mute(_ until: Milliseconds?) -> PreferencesPatch {
      PreferencesPatch(
        quietHours: .set(QuietHours(start: "02:00", end: "13:00")),
        muted: [MutedConversation(conversationId: "c1", until: until)])
    }
    let ended = try asleep(mute(noon + minute))
    #expect(try ended.message("m1", at: noon).decision?.reason == .conversationMuted)
    #expect(try digests(ended).map(\.messageId) == ["m1"])
    let lasting = try asleep(mute(noon + 2 * hour))
    try lasting.message("m1", at: noon)
    try lasting.message("m2", in: "c2", at: noon)
    #expect(try digests(lasting).map(\.conversationId) == ["c2"])
    #expect(try digests(lasting, at: noon + 25 * hour).map(\.conversationId) == ["c1"])
    let forever = try asleep(mute(nil))
    try forever.message("m1", at: noon)
    #expect(try rows(forever) == 0)
    let later = try asleep()
    try later.message("m1", at: noon)
    try later.prefer(mute(nil), at: noon + minute)
    #expect(try digests(later).isEmpty && rows(later) == 0)
  }

  @Test("D18: a mention that waits where mentions are excepted from a mute is told; so is what came before that mute")
  func exceptedMention() throws {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 0
    let scene = Scene(rules)
    try scene.prefer(PreferencesPatch(digestTimes: .set(["13:00"])))
    try scene.message("m1", at: noon, RecipientContext(mentioned: true), group: "Hikers")
    try scene.prefer(
      PreferencesPatch(muted: [MutedConversation(conversationId: "c1", exceptMentions: true)]), at: noon + minute)
    let mention = try scene.message(
      "m2", at: noon + 2 * minute, RecipientContext(mentioned: true), group: "Hikers")
    #expect(mention.decision?.reason == .noDevice && due(mention) == noon + hour)
    #expect(try scene.message("m3", at: noon + 3 * minute, group: "Hikers").decision?.reason == .conversationMuted)
    try scene.gain("phone", at: noon + 4 * minute)
    #expect(try digests(scene).map { $0.digest?.parts?.map(\.keys) } == [[["m1", "m2"].map { Digest.key($0) }]])
    #expect(try rows(scene) == 0)
  }

  @Test("D18: quiet hours that leave a minute a day: it comes in that minute, whatever the share of the spread")
  func narrowWindow() throws {
    let scene = try asleep(PreferencesPatch(quietHours: .set(QuietHours(start: "13:01", end: "13:00")))) {
      $0.catchUpSpreadSeconds = 3_600
    }
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 3_600
    #expect(rules.catchUpOffset(of: "ann") > minute)
    #expect(try due(scene.message("m1", at: noon)) == noon + hour)
    #expect(try digests(scene).count == 1 && rows(scene) == 0)
    // At 13:00:30 that minute is not over, and the next one is tomorrow's.
    #expect(try due(scene.message("m2", at: noon + hour + minute)) == noon + 25 * hour)
    // The person's own time is in quiet hours.
    try scene.prefer(PreferencesPatch(digestTimes: .set(["22:00"])), at: noon + hour + 2 * minute)
    #expect(try digests(scene, at: noon + 25 * hour).count == 1)
  }

  @Test("D18: without a device it waits for one, and is then shown without a sound; it does not grow meanwhile")
  func noDevice() throws {
    let scene = Scene(now: noon)
    try scene.prefer(PreferencesPatch(digestTimes: .set(["13:00"])))
    let first = try scene.message("m1", at: noon)
    #expect(first.decision?.reason == .noDevice && due(first).map { $0 >= noon + hour } == true)
    #expect(try digests(scene, at: noon + 2 * hour).isEmpty && rows(scene) == 1)
    #expect(try due(scene.message("m2", in: "c2", at: noon + 2 * hour)) == nil)
    scene.driver.now = noon + 3 * hour
    try scene.gain("phone", at: noon + 3 * hour)
    try scene.activity("phone", in: nil, at: noon + 3 * hour)
    let push = try #require(try digests(scene, at: noon + 3 * hour).first)
    #expect(push.messageId == "m1" && push.presentation == .silent && push.targets.count == 1)
    #expect(try rows(scene) == 0)
  }

  @Test("D18: who changes when they catch up is told then; who wants nothing any more is told nothing")
  func preferencesChange() throws {
    let moved = try asleep()
    try moved.message("m1", at: noon)
    try moved.prefer(PreferencesPatch(digestTimes: .set(["14:00"])), at: noon + minute)
    #expect(try digests(moved).isEmpty)
    #expect(try digests(moved, at: noon + 2 * hour).count == 1)
    let off = try asleep()
    try off.message("m1", at: noon)
    try off.prefer(PreferencesPatch(quietHours: .set(nil)), at: noon + minute)
    #expect(try digests(off, at: noon + minute).count == 1)
    for patch in [
      PreferencesPatch(enabled: false), PreferencesPatch(digestTimes: .set([])),
      PreferencesPatch(conversationLevels: [ConversationLevel(conversationId: "c1", level: .none)]),
    ] {
      let none = try asleep()
      try none.message("m1", at: noon)
      try none.prefer(patch, at: noon + minute)
      #expect(try digests(none).isEmpty && rows(none) == 0)
    }
    // Quiet hours that begin again before it is told move it to their end.
    let longer = try asleep()
    try longer.message("m1", at: noon)
    longer.driver.now = noon + minute
    try longer.prefer(
      PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "15:00")), digestTimes: .set(["13:30"])),
      at: noon + minute)
    #expect(try digests(longer, at: noon + 2 * hour).isEmpty)
    #expect(try digests(longer, at: noon + 3 * hour).count == 1)
  }

  @Test("D18: what came too late, and what the hourly limit suppressed, is in it; levels that show nothing are not")
  func reasons() throws {
    let scene = try asleep(PreferencesPatch(quietHours: .set(QuietHours(start: "02:00", end: "03:00"))))
    #expect(try scene.message("m1", at: noon - 2 * hour, decidedAt: noon).decision?.reason == .expired)
    let repeated = try scene.message("m2", in: "c2", at: noon - 2 * hour, decidedAt: noon, possibleRepeat: true)
    #expect(repeated.decision?.reason == .expired && due(repeated) == nil)
    try scene.prefer(
      PreferencesPatch(
        maxAnalysesPerHour: 0, fallback: .suppressAll, defaultLevels: DefaultLevels(direct: .smart),
        conversationLevels: [ConversationLevel(conversationId: "c4", level: .none)]), at: noon)
    #expect(try scene.message("m3", in: "c3", at: noon + 1).decision?.reason == .analysisLimit)
    #expect(try due(scene.message("m4", in: "c4", at: noon + 2)) == nil)
    #expect(try due(scene.message("m5", in: "c4", at: noon - 2 * hour, decidedAt: noon + 3)) == nil)
    let push = try #require(try digests(scene, at: noon + 15 * hour).first)
    #expect(push.digest?.parts?.map(\.conversationId) == ["c1", "c3"])
  }

  @Test("D18: whatever is read before, the three that are left are shown with their texts")
  func textsOfTheRest() throws {
    let scene = try asleep()
    // The last two matter least of more messages than texts are kept of.
    for number in 1...8 {
      try scene.message(
        "m\(number)", at: noon + Int64(number), RecipientContext(mentioned: number < 7), group: "Hikers", members: 3,
        body: "text \(number)")
    }
    try scene.read("c1", upTo: "m5", at: noon + minute)
    let push = try #require(try digests(scene, at: noon + 15 * hour).first)
    #expect(push.digest?.messages == 3 && push.digest?.lines.map(\.text).sorted() == ["text 6", "text 7", "text 8"])
  }

  @Test("D18: what a replay shows meanwhile is told once")
  func replay() throws {
    let scene = try asleep()
    try scene.message("m1", at: noon)
    try scene.message("m2", at: noon + 1)
    scene.driver.now = noon + minute
    var candidate = Scene.candidate("m1", body: "this is urgent", replayId: "replay-1")
    candidate.forced = true
    #expect(try scene.send(.redecide(candidate), at: noon).decision?.outcome == .notify)
    #expect(try digests(scene).map(\.messageId) == ["m2"])
  }

  @Test("D18: catch-ups of one time are spread over the policy's window, each person at the same place every day")
  func spread() {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 300
    let offsets = (0..<10_000).map { rules.catchUpOffset(of: "user-\($0)") }
    #expect(offsets.allSatisfy { (0..<300_000).contains($0) })
    var minutes = [Int](repeating: 0, count: 5)
    for offset in offsets { minutes[Int(offset / 60_000)] += 1 }
    #expect(minutes.allSatisfy { (1_800...2_200).contains($0) }, "\(minutes)")
    #expect(offsets == (0..<10_000).map { rules.catchUpOffset(of: "user-\($0)") })
    rules.policy.catchUpSpreadSeconds = 0
    #expect(rules.catchUpOffset(of: "user-1") == 0)
  }

  @Test("D18: a person's place in the window belongs to the time: what comes before it is in the same catch-up")
  func withinTheWindow() throws {
    let scene = try asleep(PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "12:10")))) {
      $0.catchUpSpreadSeconds = 3_600
    }
    let first = try scene.message("m1", at: noon)
    let time = try #require(due(first))
    #expect((noon + 10 * minute..<noon + 70 * minute).contains(time))
    #expect(try digests(scene, at: time - 1).isEmpty && digests(scene, at: time).count == 1)
  }

  @Test("D16, D18: nothing that waits outlives the erasure of its person")
  func erased() throws {
    let scene = try asleep()
    try scene.message("m1", at: noon)
    try scene.driver.commit()
    scene.driver.now = noon + minute
    try scene.send(.user(.deleted(UserDeleted(userId: "ann"))), at: noon + minute)
    for _ in 0..<10 {
      scene.driver.now += 20
      scene.driver.wake()
    }
    #expect(try scene.driver.allRows().map(\.0).filter { $0.parts.contains("ann") } == [])
    #expect(try fire(scene, at: noon + 365 * 24 * hour).isEmpty)
  }

  @Test("D18: a row is bounded; of too many messages in a conversation all are counted")
  func bounded() throws {
    let scene = try asleep()
    let long = String(repeating: "👩‍👩‍👧‍👦", count: 300)
    for number in 0..<200 {
      try scene.message("m\(number)" + String(repeating: "x", count: 240), at: noon + Int64(number), body: long)
    }
    let row = try #require(try scene.driver.row(AnalyzerRow.missedKey("ann", "c1")))
    #expect(try row.encoded(coder: RecordCoder(), at: .latest).count < 8_000)
    let push = try #require(try digests(scene).first)
    #expect(push.digest?.messages == 200 && push.digest?.parts?.first?.keys.count == MissedRow.maxEntries)
    #expect(push.digest?.lines.count == 3)
    // Read up to there, none of them counts.
    let read = try asleep()
    for number in 0..<200 { try read.message("m\(number)", at: noon + Int64(number)) }
    try read.read(upTo: "m199", at: noon + minute)
    #expect(try digests(read).isEmpty)
  }

  @Test("D18: a person with very many conversations is told of them in several pushes, each message once")
  func manyConversations() throws {
    let scene = try asleep()
    for number in 0..<450 { try scene.message("m\(number)", in: "c\(number)", at: noon + Int64(number)) }
    try scene.driver.commit()
    var told: [String] = []
    for number in 0..<5 {
      let pushes = try digests(scene, at: noon + hour + Int64(number))
      told += pushes.flatMap { $0.digest?.parts ?? [] }.map(\.conversationId)
    }
    #expect(told.count == 450 && Set(told).count == 450)
    #expect(try rows(scene) == 0)
  }

  @Test("D18: a timer that fires twice tells once")
  func repeated() throws {
    let scene = try asleep()
    try scene.message("m1", at: noon)
    #expect(try digests(scene).count == 1)
    let again = try scene.send(
      .timerFired(TimerFired(timer: PersonTimer.catchUp.name(of: "ann"), dueAt: noon + hour)), at: noon + hour,
      key: "ann")
    #expect(again.isEmpty)
  }
}
