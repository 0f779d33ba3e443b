import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

/// Issue 62, row 1: a reader can have seen only what was there.
@Suite("The order of a conversation is the order in which it reached Nudge")
struct ArrivalTests {
  /// A message dated `time` that reaches Nudge at `arrival`.
  @discardableResult
  private func message(
    _ scene: Scene, _ messageId: String, at time: Milliseconds, arriving arrival: Milliseconds, now: Milliseconds? = nil
  ) throws -> Written {
    scene.driver.now = now ?? max(arrival, scene.driver.now)
    return try scene.send(
      .candidate(Scene.candidate(messageId)), at: time, origin: scene.nextOrigin(),
      arrivedAt: arrival - time > 2_000 ? arrival : nil)
  }

  private func decided(_ written: [Written]) -> [String] {
    written.flatMap(\.decisions).map { "\($0.body.messageId) \($0.body.outcome.rawValue) \($0.body.reason.rawValue)" }
  }

  private func fire(_ scene: Scene, at time: Milliseconds) throws -> [Written] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }
  }

  @Test("what arrives after the answer, or after a read of everything, alerts, whenever it was written")
  func late() throws {
    for isRead in [false, true] {
      let scene = try Scene.withPhone()
      try scene.message("m1", at: noon - 5 * minute)
      scene.driver.now = noon
      if isRead { try scene.read(at: noon) } else { try scene.wrote("own", at: noon) }
      let written = try message(scene, "lift", at: noon - 110 * second, arriving: noon + 5 * second)
      #expect(written.decision?.outcome == .notify && written.push?.presentation == .alert)
      #expect(written.decision?.badge == 1)
    }
  }

  @Test("D7: a later read up to what came before it takes no late message back: pushes have its place, not its date")
  func lateMessageThatWaits() throws {
    let scene = try Scene.withPhone()
    try message(scene, "m1", at: noon, arriving: noon)
    let late = try message(scene, "lift", at: noon - 110 * second, arriving: noon + 5 * second)
    #expect(late.push?.sentAt == noon + 5 * second)
    let read = try scene.read(upTo: "m1", at: noon + 20 * second, on: "laptop")
    #expect(read.cancelled.map(\.sentUpTo) == [noon] && read.pushes.map(\.sentAt) == [noon])
    #expect(try message(scene, "m2", at: noon + 21 * second, arriving: noon + 22 * second).push?.sentAt == nil)
  }

  @Test("after an answer this holds whatever the clocks and the records' times say")
  func answered() throws {
    let scene = try Scene.withPhone()
    try scene.wrote("own", at: noon)
    // Its record has the time at which it was written, as importers and some outboxes do.
    let written = try message(scene, "lift", at: noon - 110 * second, arriving: noon - 110 * second, now: noon + second)
    #expect(written.decision?.outcome == .notify && written.decision?.badge == 1)
  }

  @Test("what had arrived by the time of a read without a message is read, also where the read is processed first")
  func readOvertakes() throws {
    let scene = try Scene.withPhone()
    scene.driver.now = noon + minute
    try scene.read(at: noon)
    let before = try message(scene, "seen", at: noon - minute, arriving: noon - 50 * second)
    #expect(before.decision?.reason == .alreadyRead && before.decision?.badge == 0)
    let after = try message(scene, "new", at: noon - minute, arriving: noon + second)
    #expect(after.decision?.outcome == .notify)
  }

  @Test("a read of a message that Nudge never saw reads what had arrived by then, and nothing after it")
  func systemMessage() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1", at: noon)
    try scene.message("m2", at: noon + second)
    let read = try scene.read(upTo: "bob-joined", at: noon + 2 * second)
    #expect(read.push?.kind == .read && read.push?.badge == 0)
    // Live messages do not wait.
    #expect(try scene.message("m3", at: noon + 10 * second).decision?.outcome == .notify)
    // The id is remembered: when its message comes after all, what is before it is read.
    let late = try message(scene, "bob-joined", at: noon + 11 * second, arriving: noon + 11 * second)
    #expect(late.decision?.reason == .alreadyRead && late.decision?.badge == 0)
    #expect(try scene.message("m4", at: noon + 20 * second).decision?.badge == 1)
  }

  @Test("while a read waits for its message, what may come before that is held, then settled as read")
  func readAhead() throws {
    let scene = try Scene.withPhone()
    scene.driver.now = noon + minute
    #expect(try scene.read(upTo: "m9", at: noon + 50 * second).isEmpty)
    var written: [Written] = []
    for (number, time) in [(7, noon), (8, noon + 10 * second)] {
      written.append(
        try message(scene, "m\(number)", at: time, arriving: noon + minute + Int64(number), now: noon + minute))
    }
    #expect(decided(written) == ["m7 deferred already_read", "m8 deferred already_read"])
    #expect(written.allSatisfy { $0.decision?.heldUntil == noon + minute + 10 * second && $0.pushEvents.isEmpty })
    #expect(written.last?.decision?.badge == 0)
    let last = try message(scene, "m9", at: noon + 20 * second, arriving: noon + minute + 9, now: noon + minute)
    #expect(
      Set(decided([last])) == ["m7 suppress already_read", "m8 suppress already_read", "m9 suppress already_read"])
    #expect(last.pushEvents.isEmpty)
    #expect(try fire(scene, at: noon + 10 * minute).allSatisfy { $0.isEmpty })
    #expect(try scene.message("m10", at: noon + 11 * minute).decision?.badge == 1)
  }

  @Test("where the message of a read does not come, what was held is decided after ten seconds")
  func readAheadInVain() throws {
    let scene = try Scene.withPhone()
    scene.driver.now = noon + minute
    try scene.read(upTo: "m9", at: noon + 50 * second)
    let held = try message(scene, "m7", at: noon, arriving: noon + minute + 1, now: noon + minute)
    #expect(held.decision?.outcome == .deferred)
    #expect(try fire(scene, at: noon + minute + 10 * second - 1).isEmpty)
    let fired = try fire(scene, at: noon + minute + 10 * second)
    #expect(decided(fired) == ["m7 notify notify_all"])
    #expect(fired.flatMap(\.pushes).first?.badge == 1)
    // The time is over: nothing is held any more.
    let next = try message(scene, "m8", at: noon, arriving: noon + 2 * minute)
    #expect(next.decision?.outcome == .notify)
  }

  @Test("an edit that is older than the last one changes nothing, whichever comes first; of equal times the ids decide")
  func edits() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1", at: noon)
    #expect(try scene.edit("m1", body: "newer", at: noon + 20).push?.body == "newer")
    #expect(try scene.edit("m1", body: "older", at: noon + 10).pushes.isEmpty)
    func edit(_ eventId: String, _ body: String) throws -> String? {
      try scene.send(
        .withdrawn(
          MessageWithdrawn(
            userIds: ["ann"], conversationId: "c1", messageId: "m1", cause: .edited, body: body, title: "Bob")),
        at: noon + 30, eventId: eventId, origin: scene.nextOrigin()
      ).push?.body
    }
    #expect(try edit("b", "second") == "second")
    #expect(try edit("a", "first") == nil)
    #expect(try edit("c", "third") == "third")
    try scene.driver.restart()
    #expect(try edit("bb", "late") == nil)
  }

  @Test("P2: an edit of a silent message makes no notification of its own where one stands for them all")
  func editsOfSilent() throws {
    let scene = try Scene.withPhone()
    try scene.send(
      .deviceGained(DeviceGained(userId: "ann", deviceId: "robot", token: "t", version: 1, platform: .android)),
      at: noon)
    for id in ["m1", "m2"] {
      #expect(try scene.message(id, group: "Launch", members: 20).push?.presentation == .silent)
    }
    try scene.driver.restart()
    let last = try scene.edit("m2", body: "hmm", title: "Bob in Launch", at: noon + minute).push
    #expect(last?.unread == 2 && last?.targets.map(\.deviceId) == ["phone", "robot"])
    let first = try scene.edit("m1", body: "hmmm", title: "Bob in Launch", at: noon + 2 * minute).push
    #expect(first?.targets.map(\.deviceId) == ["phone"] && first?.unread == nil)
    let alert = try scene.message("m3", RecipientContext(mentioned: true), group: "Launch", members: 20, body: "Ann?")
      .push
    #expect(alert?.presentation == .alert)
    let edited = try scene.edit("m3", body: "Ann, now?", title: "Bob in Launch", at: noon + 3 * minute).push
    #expect(edited?.targets.map(\.deviceId) == ["phone", "robot"] && edited?.unread == nil)
  }

  @Test("an older edit changes neither what is held nor what waits for the catch-up")
  func editsOfWaiting() throws {
    let scene = try Scene.withPhone()
    try scene.activity("desktop", in: "c1", at: noon)
    try scene.message("m1", at: noon, body: "one")
    try scene.edit("m1", body: "newer", at: noon + 20)
    try scene.edit("m1", body: "older", at: noon + 10)
    #expect(try fire(scene, at: noon + 3 * minute).flatMap(\.pushes).map(\.body) == ["newer"])
  }

  @Test(
    "D13: however many unread messages came after it, an edit replaces what is shown of a message, a deletion removes it"
  )
  func shownLongAgo() throws {
    let scene = try Scene.withPhone()
    #expect(try scene.message("shown").push != nil)
    for number in 0..<140 { try scene.message("m\(number)", at: noon + second + Int64(number)) }
    #expect(try scene.edit("shown", body: "later", at: noon + minute).push?.replaces == true)
    #expect(try scene.withdraw("shown", at: noon + 2 * minute).pushes.contains { $0.kind == .deleted })
  }

  @Test(
    "the badge counts by positions, however many messages are unread, and wherever among them the person has read to",
    arguments: [(60, 10), (40, 1), (96, 64), (200, 150), (1_000, 10), (1_000, 500), (1_000, 990)])
  func positions(count: Int, read: Int) throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(badgeMode: .messages))
    for number in 1...count { try scene.message("m\(number)", at: noon + Int64(number)) }
    try scene.driver.restart()
    let written = try scene.read(upTo: "m\(read)", at: noon + minute)
    #expect(written.push?.kind == .read && written.push?.badge == count - read)
    #expect(try scene.read(upTo: "m\(read)", at: noon + 2 * minute).pushes.isEmpty, "nothing more is read")
    if read > 1 { #expect(try scene.read(upTo: "m\(read - 1)", at: noon + 3 * minute).pushes.isEmpty) }
    let next = try scene.read(upTo: "m\(read + 1)", at: noon + 4 * minute)
    #expect(next.push?.badge == count - read - 1)
    #expect(try scene.read(at: noon + 5 * minute).push?.badge == 0)
    #expect(try scene.driver.rows(below: AnalyzerRow.olderKey("ann")).isEmpty)
  }

  @Test("reads, deletions and a time among many unread messages: the badge is what an ever patient counter says")
  func counting() throws {
    var random = SeededGenerator(announcedFor: "ArrivalTests.counting")
    for _ in 0..<6 {
      let scene = try Scene.withPhone()
      try scene.prefer(PreferencesPatch(badgeMode: .messages))
      var unread: [(id: String, at: Milliseconds)] = []
      var time = noon
      for step in 0..<400 {
        time += Int64(random.below(3_000))
        scene.driver.now = time
        switch random.below(60) {
        case 0 where !unread.isEmpty:
          let place = random.below(unread.count)
          let id = unread[place].id
          unread.removeFirst(place + 1)
          try scene.read(upTo: id, at: time)
        case 1:
          let at = time - Int64(random.below(600_000))
          unread.removeAll { $0.at <= at }
          try scene.read(at: at)
        case 2, 3:
          guard let gone = unread.indices.randomElement(using: &random) else { continue }
          try scene.withdraw(unread.remove(at: gone).id, at: time)
        case 4: try scene.driver.restart()
        case 5 where random.oneIn(8):
          unread = []
          try scene.wrote("own\(step)", at: time)
        default:
          unread.append(("m\(step)", time))
          let badge = try scene.message("m\(step)", at: time).decision?.badge
          guard badge == unread.count else {
            Issue.record("\(badge ?? -1) instead of \(unread.count)")
            return
          }
        }
      }
      let rows = try scene.driver.rows(below: AnalyzerRow.olderKey("ann")).count
      #expect(rows <= unread.count / OlderMessagesRow.size + 1, "no row is left behind")
    }
  }

  @Test("a read of an old message that was read long ago reads nothing, and its message is not waited for")
  func readBefore() throws {
    let scene = try Scene.withPhone()
    for number in 1...50 { try scene.message("m\(number)", at: noon + Int64(number)) }
    try scene.read(at: noon + second)
    try scene.message("new", at: noon + minute)
    #expect(try scene.read(upTo: "m20", at: noon + 2 * minute).pushes.isEmpty)
    #expect(try scene.message("newer", at: noon + 2 * minute + second).decision?.outcome == .notify)
  }
}
