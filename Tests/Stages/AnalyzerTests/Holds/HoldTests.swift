import NudgeCodec
import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Presence is a claim, a read is a fact")
struct HoldTests {
  private static let wait = 2 * minute

  private func fire(_ scene: Scene, at time: Milliseconds) throws -> [Written] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }
  }

  /// ann's phone says at noon that c1 is open; the message comes a second later.
  private func held(_ patch: PreferencesPatch? = nil) throws -> (scene: Scene, first: Written) {
    let scene = try Scene.withPhone()
    try scene.gain("tablet")
    if let patch { try scene.prefer(patch) }
    try scene.activity("phone", in: "c1", at: noon)
    return (scene, try scene.message("m1", at: noon + second))
  }

  private func unread(_ scene: Scene) throws -> Int {
    guard case .user(let row)? = try scene.driver.row(AnalyzerRow.userKey("ann")) else { return 0 }
    return row.unreadMessages
  }

  private func heldRows(_ scene: Scene) throws -> Int {
    try scene.driver.allRows().count { $0.0.parts[0] == "h" }
  }

  @Test("D1: a message of an open conversation is deferred: no push, no badge, and the record says until when")
  func deferred() throws {
    let (scene, first) = try held()
    let decision = try #require(first.decision)
    #expect(decision.outcome == .deferred && decision.reason == .activeConversation && !decision.outcome.isFinal)
    #expect(decision.heldUntil == noon + second + Self.wait && decision.badge == 0 && decision.pushId == nil)
    #expect(first.pushEvents.isEmpty && first.banners.isEmpty)
    #expect(try heldRows(scene) == 1)
  }

  /// The end of a wait, and the final decision.
  struct End: Sendable, CustomTestStringConvertible {
    let name: String
    let reason: DecisionReason
    let act: @Sendable (Scene) throws -> Written
    var testDescription: String { name }
  }

  static let endings: [End] = [
    End(name: "a read of the message", reason: .alreadyRead) {
      try $0.read(upTo: "m1", at: noon + minute, on: "tablet")
    },
    End(name: "a read of all", reason: .alreadyRead) { try $0.read(at: noon + minute) },
    End(name: "a message of their own", reason: .alreadyRead) { try $0.wrote("mine", at: noon + minute) },
    End(name: "the device says it again", reason: .activeConversation) {
      try $0.activity("phone", in: "c1", at: noon + minute)
    },
    End(name: "another device says it", reason: .activeConversation) {
      try $0.activity("tablet", in: "c1", at: noon + 2 * second)
    },
    End(name: "the message is deleted", reason: .withdrawn) { try $0.withdraw("m1", at: noon + minute) },
    End(name: "the person leaves", reason: .withdrawn) { try $0.withdraw(nil, cause: .left, at: noon + minute) },
    End(name: "the conversation is deleted", reason: .withdrawn) {
      try $0.withdraw(nil, cause: .conversationDeleted, at: noon + minute)
    },
  ]

  @Test("D1: a wait ends with one final decision and no push, and nothing comes later", arguments: endings)
  func oneFinalDecision(_ end: End) throws {
    let (scene, first) = try held()
    scene.driver.now = noon + minute
    let written = try end.act(scene)
    let decision = try #require(written.decisions.first)
    #expect(written.decisions.count == 1 && decision.body.messageId == "m1")
    #expect(decision.body.outcome == .suppress && decision.body.reason == end.reason && decision.body.badge == 0)
    #expect(written.pushes.allSatisfy { $0.kind != .message })
    #expect(decision.source == first.decisions.first?.source && decision.origin != first.decisions.first?.origin)
    #expect(try heldRows(scene) == 0)
    #expect(try fire(scene, at: noon + hour).allSatisfy { $0.isEmpty })
    #expect(try unread(scene) == 0)
  }

  static let others: [End] = [
    End(name: "another conversation is read", reason: .relevant) { try $0.read("c2", at: noon + minute) },
    End(name: "a read before the message", reason: .relevant) { try $0.read(at: noon + second - 1) },
    End(name: "a message of their own elsewhere", reason: .relevant) {
      try $0.wrote("mine", in: "c2", at: noon + minute)
    },
    End(name: "the background", reason: .relevant) { try $0.activity("phone", .background, at: noon + minute) },
    End(name: "the background, whichever conversation it names", reason: .relevant) {
      try $0.activity("phone", .background, in: "c1", at: noon + minute)
    },
    End(name: "the list of conversations", reason: .relevant) { try $0.activity("phone", in: nil, at: noon + minute) },
    End(name: "another conversation is opened", reason: .relevant) {
      try $0.activity("tablet", in: "c2", at: noon + minute)
    },
    End(name: "a report made before the message", reason: .relevant) {
      try $0.activity("tablet", in: "c1", at: noon + second - 1)
    },
    End(name: "the same report again", reason: .relevant) { try $0.activity("phone", in: "c1", at: noon) },
    End(name: "another message is deleted", reason: .relevant) { try $0.withdraw("m0", at: noon + minute) },
    End(name: "the person leaves elsewhere", reason: .relevant) {
      try $0.withdraw(nil, in: "c2", cause: .left, at: noon + minute)
    },
  ]

  @Test("D1: what proves nothing about the message leaves it held", arguments: others)
  func provesNothing(_ other: End) throws {
    let (scene, _) = try held()
    scene.driver.now = noon + minute
    #expect(try other.act(scene).decisions.isEmpty)
    let fired = try fire(scene, at: noon + second + Self.wait)
    #expect(fired.flatMap(\.decisions).map(\.body.outcome) == [.notify])
  }

  @Test("D1: if nothing comes, the person is told after all, once, on all devices, and the badge counts")
  func toldAfterAll() throws {
    let (scene, first) = try held()
    #expect(try fire(scene, at: noon + second + Self.wait - 1).isEmpty)
    let fired = try fire(scene, at: noon + second + Self.wait)
    let written = try #require(fired.first)
    let decision = try #require(written.decisions.first)
    #expect(fired.count == 1 && written.decisions.count == 1)
    #expect(decision.body.outcome == .notify && decision.body.reason == .notifyAll && decision.body.badge == 1)
    #expect(decision.body.presentation == .alert && decision.body.mode == .live)
    #expect(decision.source == first.decisions.first?.source)
    let push = try #require(written.push)
    #expect(push.kind == .message && push.badge == 1 && push.body == "hello there" && push.title == "Bob")
    #expect(push.sentAt == noon + second && push.targets.map(\.deviceId) == ["phone", "tablet"])
    #expect(push.pushId == decision.body.pushId)
    #expect(try fire(scene, at: noon + hour).isEmpty)
    // Read later, it goes from the screens as any other.
    let read = try scene.read(at: noon + hour, on: "phone")
    #expect(read.decisions.isEmpty && read.pushes.map(\.kind) == [.read])
    #expect(try heldRows(scene) == 0)
  }

  @Test("D1: the same message again, the same timer again, and a crash in between decide nothing twice")
  func repeats() throws {
    let (scene, _) = try held()
    try scene.driver.restart()
    scene.driver.now = noon + second + Self.wait
    let origin = Origin(topic: "chat.events", partition: 0, offset: 1)
    #expect(try scene.message("m1", at: noon + second, decidedAt: noon + minute, origin: origin).decisions.isEmpty)
    scene.driver.now = noon + second + Self.wait
    let results = try scene.driver.fireTimers()
    #expect(results.count == 1)
    try scene.driver.restart()
    let timer = TimelineEventBody.timerFired(
      TimerFired(timer: PersonTimer.hold(conversationId: "c1").name(of: "ann"), dueAt: noon + second + Self.wait))
    #expect(try scene.send(timer, at: noon + 3 * minute, key: "ann").isEmpty)
    #expect(try scene.driver.fireTimers().isEmpty)
  }

  @Test("D1: what holds at the end of the wait decides: mute, quiet hours, off, no device, an edit, level and previews")
  func decidedByThen() throws {
    func end(_ change: (Scene) throws -> Void) throws -> Written {
      let (scene, _) = try held()
      scene.driver.now = noon + minute
      try change(scene)
      return try #require(try fire(scene, at: noon + second + Self.wait).first)
    }
    let muted = try end {
      try $0.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "c1")]), at: noon + minute)
    }
    #expect(muted.decision?.reason == .conversationMuted && muted.decision?.badge == 1)
    #expect(muted.pushes.map(\.kind) == [.badge])
    let quiet = try end {
      try $0.prefer(
        PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "13:00"))), at: noon + minute)
    }
    #expect(quiet.decision?.reason == .quietHours && quiet.pushes.isEmpty)
    let off = try end { try $0.prefer(PreferencesPatch(enabled: false), at: noon + minute) }
    #expect(off.decision?.reason == .notificationsDisabled && off.pushes.isEmpty)
    let edited = try end { try $0.edit("m1", body: "at six", at: noon + minute) }
    #expect(edited.push?.body == "at six" && edited.push?.replaces == nil)
    let hidden = try end { try $0.prefer(PreferencesPatch(showPreviews: false), at: noon + minute) }
    #expect(hidden.push?.body == "New message from Bob")
  }

  @Test("D1, D8: a muted conversation that is open is decided at once, and its badge waits for a read")
  func mutedAndOpen() throws {
    let mute = PreferencesPatch(muted: [MutedConversation(conversationId: "c1")])
    let (scene, first) = try held(mute)
    #expect(first.decision?.outcome == .suppress && first.decision?.reason == .conversationMuted)
    #expect(try heldRows(scene) == 0)
    #expect(try unread(scene) == 0)
    let fired = try fire(scene, at: noon + second + Self.wait)
    #expect(fired.flatMap(\.decisions).isEmpty && fired.flatMap(\.pushes).map(\.kind) == [.badge])
    #expect(fired.first?.push?.badge == 1)
    let (read, _) = try held(mute)
    try read.read(at: noon + minute)
    #expect(try fire(read, at: noon + hour).allSatisfy { $0.isEmpty })
  }

  @Test("D1: a message after 16 that are held is decided at once, and none of them is buried without a push")
  func bounded() throws {
    let scene = try Scene.withPhone()
    try scene.activity("phone", in: "c1", at: noon)
    let count = PersonConversationRow.maxHolds
    for number in 0..<count {
      #expect(try scene.message("m\(number)", at: noon + Int64(number) + 1).decisions.count == 1)
    }
    let one = try scene.message("more", at: noon + minute)
    #expect(one.decisions.map(\.body.outcome) == [.notify] && one.push?.presentation == .alert)
    #expect(one.decision?.checks.contains { $0.inputs["held"] == .number(16) } == true)
    #expect(try heldRows(scene) == count)
    #expect(try unread(scene) == 1)
    let fired = try fire(scene, at: noon + hour / 2)
    #expect(fired.flatMap(\.decisions).map(\.body.outcome) == Array(repeating: .notify, count: count))
    #expect(try unread(scene) == count + 1)
    #expect(fired.flatMap(\.pushes).count { $0.kind == .message } == count)
  }

  @Test("D1: one timer a conversation; it is set again for what came later, and for nothing else")
  func timers() throws {
    let (scene, _) = try held()
    try scene.message("m2", at: noon + minute)
    #expect(try fire(scene, at: noon + second + Self.wait).flatMap(\.decisions).map(\.body.messageId) == ["m1"])
    #expect(try fire(scene, at: noon + minute + Self.wait - 1).isEmpty)
    #expect(try fire(scene, at: noon + minute + Self.wait).flatMap(\.decisions).map(\.body.messageId) == ["m2"])
    // Confirmed again and again, as an app that is open does.
    let open = try Scene.withPhone()
    var fired = 0
    for number in 0..<60 {
      let time = noon + Int64(number) * minute
      open.driver.now = time
      try open.activity("phone", in: "c1", at: time)
      try open.message("m\(number)", at: time + second)
      fired += try fire(open, at: time + 30 * second).count
    }
    #expect(fired <= 31)
  }

  @Test("O1: a replay leaves a held message alone; by force it notifies, and the final decision is a duplicate")
  func replays() throws {
    let (scene, _) = try held()
    let asked = try scene.redecide("m1", at: noon + second, now: noon + minute)
    #expect(asked.decision?.reason == .duplicate && asked.decision?.outcome == .suppress && asked.pushes.isEmpty)
    var candidate = Scene.candidate("m1", replayId: "replay-2")
    candidate.forced = true
    try scene.activity("phone", .background, at: noon + 2 * second)
    let forced = try scene.send(.redecide(candidate), at: noon + second)
    #expect(forced.decision?.outcome == .notify)
    let end = try fire(scene, at: noon + second + Self.wait)
    #expect(end.flatMap(\.decisions).map(\.body.reason) == [.duplicate] && end.flatMap(\.pushes).isEmpty)
  }

  @Test("D16: nothing that was held outlives the erasure of its person")
  func erased() throws {
    let (scene, _) = try held()
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

  @Test("D15: a policy without the wait counts the message as read at once, as former releases did")
  func off() throws {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.presenceSeconds = 0
    let scene = try Scene.withPhone(rules)
    try scene.gain("tablet")
    #expect(try scene.message("m1").decision?.badge == 1)
    try scene.activity("phone", in: "c1", at: noon + 1)
    let written = try scene.message("m2", at: noon + 2)
    #expect(written.decision?.outcome == .suppress && written.decision?.badge == 0)
    #expect(written.pushes.map(\.kind) == [.read] && written.push?.targets.map(\.deviceId) == ["tablet"])
    #expect(try fire(scene, at: noon + hour).isEmpty)
  }

  @Test("a row of a held message is at most 16 kB, with the longest names, addresses and text")
  func size() throws {
    let long = String(repeating: "ä", count: 1_024)
    var candidate = Scene.candidate("m", group: long, body: String(repeating: "ö", count: 20_000), title: long + long)
    candidate.sender = Member(userId: String(repeating: "u", count: 256), displayName: long, avatarUrl: long)
    candidate.attachment = Attachment(kind: .image, url: long)
    let row = HeldMessageRow(
      candidate, for: candidate.recipients[0], sentAt: noon, heldAt: noon,
      source: RecordPosition(topic: "chat.events", partition: 0, offset: 1), headers: [])
    #expect(row.packed().count <= StateLimits.maxRowBytes && !row.candidate.body.isEmpty)
  }
}
