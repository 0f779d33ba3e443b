import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

/// What people live through, in ordinary words and with nothing set but what a sentence names (issue 62).
@Suite("A person's day")
struct PersonsDayTests {
  private let night = QuietHours(start: "11:00", end: "13:00", timeZone: "UTC")
  private let mentioned = RecipientContext(mentioned: true)
  private let answered = RecipientContext(answered: true)
  private let named = RecipientContext(named: true)

  private func fire(_ scene: Scene, at time: Milliseconds) throws -> [Written] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }
  }

  // MARK: Urgency is one notion

  @Test("D2: in quiet hours only what cannot wait alerts, in groups and direct conversations, at each level")
  func quietHours() throws {
    for level in [NotificationLevel.all, .smart] {
      let scene = try Scene.withPhone()
      try scene.prefer(
        PreferencesPatch(quietHours: .set(night), defaultLevels: DefaultLevels(direct: level, group: level)))
      let urgent = try scene.message(
        "m1", in: "g", group: "House", body: "EMERGENCY, water is pouring into the basement")
      #expect(urgent.push?.presentation == .alert && urgent.push?.priority == .high, "\(level)")
      #expect(urgent.push?.quietHours == nil)
      let direct = try scene.message("m2", in: "c1", at: noon + minute, body: "it is urgent, call me")
      #expect(direct.push?.presentation == .alert, "\(level)")
      // Neither who is meant nor who wrote wakes anybody.
      for (number, context) in [answered, mentioned, named].enumerated() {
        let held = try scene.message(
          "h\(number)", in: "g", at: noon + 2 * minute + Int64(number), context, group: "House", body: "hahaha yes 😂")
        #expect(held.decision?.reason == .quietHours && held.pushes.isEmpty, "\(level)")
      }
      let chat = try scene.message("m3", in: "c2", at: noon + 3 * minute, body: "see you tomorrow")
      #expect(chat.decision?.reason == .quietHours)
    }
  }

  @Test("a message that matters more than the one that alerted before it always sounds")
  func soundsInABurst() throws {
    let scene = try Scene.withPhone()
    #expect(try scene.message("m1", body: "hello").push?.presentation == .alert)
    #expect(try scene.message("m2", at: noon + second, body: "how are you").push?.presentation == .silent)
    let help = try scene.message("m3", at: noon + 3 * second, body: "emergency, accident, call me")
    #expect(help.push?.presentation == .alert)
    // One like it does not: it is one alarm.
    let more = try scene.message("m4", at: noon + 4 * second, body: "emergency, please")
    #expect(more.push?.presentation == .silent)
  }

  // MARK: What addresses a person costs no analysis

  @Test(
    "D4: eleven lines of chatter later, the answer to one's own question still alerts, and so do mention, name, keyword and star"
  )
  func addressedPastTheLimit() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(starredSenders: ["eve"], keywords: ["harbour"]))
    for number in 0..<11 {
      try scene.message("m\(number)", in: "g", at: noon + Int64(number) * second, group: "Hikers")
    }
    guard case .user(let before)? = try scene.driver.row(AnalyzerRow.userKey("ann")) else { throw CancellationError() }
    #expect(before.window?.used == 10)
    let contexts = [answered, mentioned, named]
    for (number, context) in contexts.enumerated() {
      let written = try scene.message(
        "a\(number)", in: "g", at: noon + minute + Int64(number) * second, context, group: "Hikers")
      #expect(written.push?.presentation == .alert && written.decision?.analysis == nil, "\(context)")
    }
    let keyword = try scene.message(
      "k", in: "g2", at: noon + 2 * minute, group: "Sailors", body: "who comes to the harbour")
    #expect(keyword.push?.presentation == .alert && keyword.decision?.analysis == nil)
    var starred = Scene.candidate("s", in: "g3", group: "Family")
    starred.sender = Member(userId: "eve", displayName: "Eve")
    let star = try scene.send(.candidate(starred), at: noon + 2 * minute, origin: scene.nextOrigin())
    #expect(star.push?.presentation == .alert && star.decision?.analysis == nil)
    guard case .user(let after)? = try scene.driver.row(AnalyzerRow.userKey("ann")) else { throw CancellationError() }
    #expect(after.window == before.window)
  }

  @Test("the second call by name counts as the first")
  func calledTwice() throws {
    let scene = try Scene.withPhone()
    for (number, body) in ["Tom, can you look?", "Tom, are you there?"].enumerated() {
      let written = try scene.message(
        "m\(number)", in: "g", at: noon + Int64(number) * minute, named, group: "Six", members: 6, body: body)
      #expect(written.push?.presentation == .alert, "\(body)")
    }
  }

  // MARK: Muted senders

  @Test(
    "a muted sender raises no badge and shows nothing, in direct conversations too",
    arguments: [nil, "Hikers"] as [String?])
  func mutedSender(_ group: String?) throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(quietHours: .set(night), mutedSenders: ["bob"]))
    try scene.activity("phone", in: nil, at: noon)
    let written = try scene.message("m1", mentioned, group: group, body: "this is urgent")
    #expect(written.decision?.reason == .mutedSender && written.decision?.badge == 0)
    #expect(written.decision?.text == "you muted Bob")
    #expect(written.pushes.isEmpty && written.banners.isEmpty)
    #expect(try fire(scene, at: noon + 25 * hour).flatMap(\.pushes).isEmpty)
  }

  // MARK: Quiet hours

  @Test("D2: quiet hours without a zone go by the person's time zone, then by UTC")
  func quietHoursWithoutAZone() throws {
    let hours = QuietHours(start: "20:00", end: "23:00", timeZone: nil)
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(quietHours: .set(hours)))
    #expect(try scene.message("m1").decision?.outcome == .notify)
    // It is 21:00 in Tokyo.
    try scene.prefer(PreferencesPatch(timeZone: "Asia/Tokyo"), at: noon - minute)
    #expect(try scene.message("m2", in: "c2", at: noon + second).decision?.reason == .quietHours)
  }

  @Test("D18: quiet hours that are moved while messages wait: over now means told now, and the badge with it")
  func movedQuietHours() throws {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 0
    let changes: [PreferencesPatch] = [
      PreferencesPatch(quietHours: .set(QuietHours(start: "22:00", end: "07:00", timeZone: "UTC"))),
      PreferencesPatch(quietHours: .set(nil)), PreferencesPatch(timeZone: "Asia/Tokyo"),
    ]
    for change in changes {
      let scene = try Scene.withPhone(rules)
      try scene.prefer(PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "13:00", timeZone: nil))))
      try scene.message("m1")
      try scene.message("m2", in: "c2", at: noon + second)
      scene.driver.now = noon + minute
      try scene.prefer(change, at: noon + minute)
      let told = try fire(scene, at: noon + minute).flatMap(\.pushes)
      #expect(told.map(\.kind) == [.digest] && told.first?.digest?.messages == 2 && told.first?.badge == 2)
    }
  }

  // MARK: The catch-up

  @Test("D18: a catch-up of one message is that message; what happens to it then reaches the phones")
  func catchUpOfOne() throws {
    func caughtUp() throws -> (Scene, Push) {
      var rules = AnalyzerRules(hash: standInHash)
      rules.policy.catchUpSpreadSeconds = 0
      let scene = try Scene.withPhone(rules)
      try scene.prefer(PreferencesPatch(quietHours: .set(night)))
      try scene.message("m1", in: "g", mentioned, group: "Hikers", body: "who brings the tent?")
      return (scene, try #require(try fire(scene, at: noon + hour).flatMap(\.pushes).first))
    }
    let (scene, push) = try caughtUp()
    #expect(push.kind == .message && push.presentation == .alert && push.digest == nil)
    #expect(push.title == "Bob in Hikers" && push.body == "who brings the tent?" && push.senderId == "bob")
    #expect(push.avatarUrl == "https://example.com/bob.png" && push.conversationId == "g" && push.messageId == "m1")
    let later = noon + hour + minute
    scene.driver.now = later
    let edited = try scene.edit("m1", in: "g", body: "who brings the tents?", at: later)
    #expect(edited.push?.body == "who brings the tents?" && edited.push?.replaces == true)
    #expect(try scene.withdraw("m1", in: "g", at: later + second).pushes.map(\.kind) == [.deleted])
    let (other, _) = try caughtUp()
    other.driver.now = later
    #expect(try other.read("g", at: later, on: "laptop").pushes.map(\.kind) == [.read])
  }

  @Test("D18: a catch-up that is shown changes with its messages: deleted, edited or read, silently and in its place")
  func shownCatchUp() throws {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 0
    let scene = try Scene.withPhone(rules)
    try scene.prefer(PreferencesPatch(quietHours: .set(night)))
    for (number, conversation) in ["c1", "c1", "c2", "c3"].enumerated() {
      try scene.message("m\(number)", in: conversation, at: noon + Int64(number) * second, body: "text \(number)")
    }
    let first = try #require(try fire(scene, at: noon + hour).flatMap(\.pushes).first)
    #expect(first.digest?.messages == 4 && first.digest?.conversations == 3)
    func changed(_ written: Written) throws -> Push {
      let push = try #require(written.pushes.first { $0.kind == .digest })
      #expect(push.pushId == first.pushId && push.presentation == .silent && push.replaces == true)
      return push
    }
    scene.driver.now = noon + hour + minute
    let deleted = try scene.withdraw("m3", in: "c3", at: noon + hour + minute)
    let three = try changed(deleted)
    #expect(three.title == "3 messages in 2 conversations" && three.badge == 2)
    #expect(three.body?.contains("text 3") == false && deleted.pushes.last?.kind == .deleted)
    let edited = try changed(try scene.edit("m2", in: "c2", body: "the right place", at: noon + hour + 2 * minute))
    #expect(edited.digest?.messages == 3 && edited.body?.contains("Bob: the right place") == true)
    try scene.driver.restart()
    let read = try scene.read("c1", at: noon + hour + 3 * minute, on: "phone")
    #expect(try changed(read).title == "1 message in 1 conversation")
    // Nothing is left: it goes off the screens.
    let last = try scene.withdraw("m2", in: "c2", at: noon + hour + 4 * minute)
    #expect(last.pushes.map(\.kind) == [.digest, .deleted])
    let gone = try #require(last.push)
    #expect(gone.pushId == first.pushId && gone.presentation == .badge && gone.title == nil && gone.body == nil)
    #expect(gone.digest == Digest(messages: 0, conversations: 0, lines: []) && gone.badge == 0)
    #expect(try scene.driver.row(AnalyzerRow.toldKey("ann")) == nil)
  }

  // MARK: Late, and long ago

  @Test("D18: what comes later than its freshness is in everybody's catch-up, within minutes")
  func lateForEverybody() throws {
    let scene = try Scene.withPhone()
    // The analyzer was away: the messages had arrived in time.
    for number in 0..<3 {
      let written = try scene.message("m\(number)", at: noon + Int64(number), decidedAt: noon + 2 * hour)
      #expect(written.decision?.reason == .expired && written.decision?.badge == 1)
    }
    let told = try fire(scene, at: noon + 2 * hour + 6 * minute).flatMap(\.pushes).filter { $0.kind == .digest }
    #expect(told.count == 1 && told.first?.digest?.messages == 3)
    // Who wants no catch-up gets none.
    let never = try Scene.withPhone()
    try never.prefer(PreferencesPatch(digestTimes: .set([])))
    try never.message("m1", decidedAt: noon + 2 * hour)
    #expect(try fire(never, at: noon + 3 * hour).flatMap(\.pushes).allSatisfy { $0.kind == .badge })
  }

  @Test("a message that was sent more than a day before it arrived is shown, counted and caught up nowhere")
  func history() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(quietHours: .set(night)))
    func arrive(_ id: String, sentAt: Milliseconds) throws -> Written {
      scene.driver.now = noon
      let event = TimelineEvent(
        Envelope(eventId: "event-\(id)", occurredAt: sentAt), origin: scene.nextOrigin(),
        source: RecordPosition(topic: "chat.events", partition: 0, offset: 1), arrivedAt: noon,
        .candidate(Scene.candidate(id, mentioned, group: "Hikers", body: "this is urgent")))
      return try scene.written(scene.driver.send(event, to: .timeline, key: "any"))
    }
    let old = try arrive("m1", sentAt: noon - 24 * hour - 1)
    #expect(old.decision?.reason == .history && old.decision?.badge == 0 && old.pushes.isEmpty && old.banners.isEmpty)
    #expect(old.decision?.text == "it was written at 2026-03-01T11:59:59.999Z, long before it arrived")
    #expect(try fire(scene, at: noon + 48 * hour).flatMap(\.pushes).isEmpty)
    #expect(try arrive("m2", sentAt: noon - 24 * hour).decision?.reason == .expired)
  }

  // MARK: Edits

  @Test("D13: an edit in quiet hours replaces what is shown, without a sound")
  func editInQuietHours() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(quietHours: .set(night)))
    try scene.message("m1", at: noon - 2 * hour)
    scene.driver.now = noon - 2 * hour
    #expect(try scene.message("m1b", at: noon - 90 * minute).push != nil)
    scene.driver.now = noon - 50 * minute
    let edited = try scene.edit("m1b", body: "the right place", at: noon - 50 * minute)
    #expect(edited.push?.body == "the right place" && edited.push?.presentation == .silent)
    #expect(edited.push?.replaces == true)
  }
}
