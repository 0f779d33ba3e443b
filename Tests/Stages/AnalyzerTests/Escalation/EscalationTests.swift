import NudgeCodec
import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Said again: a message that neither arrives nor is read is pushed once more, and then the webhook is told")
struct EscalationTests {
  /// Pushed again after 5 minutes, and told to the webhook after 10 more.
  private func scene(
    phones: [String] = ["phone"], _ change: (inout NotificationPolicy) -> Void = { _ in }
  ) throws -> Scene {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.againSeconds = 300
    rules.policy.webhookSeconds = 600
    change(&rules.policy)
    let scene = Scene(rules)
    for phone in phones { try scene.gain(phone) }
    return scene
  }

  /// All that timers up to a time write, one time after the other.
  private func fire(_ scene: Scene, at time: Milliseconds) throws -> [Written] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }
  }

  private func pushes(_ scene: Scene, at time: Milliseconds) throws -> [Push] {
    try fire(scene, at: time).flatMap(\.pushes).filter { $0.kind != .badge }
  }

  private func report(
    _ scene: Scene, _ push: Push, on device: String = "phone", at time: Milliseconds,
    as body: (NotificationReport) -> UserEventBody = { .notificationReceived($0) }
  ) throws {
    scene.driver.now = time
    try scene.send(
      .user(
        body(
          NotificationReport(
            userId: "ann", deviceId: device, pushId: push.pushId, conversationId: push.conversationId,
            messageId: push.messageId))), at: time)
  }

  private func rows(_ scene: Scene) throws -> Int {
    try scene.driver.rows(below: AnalyzerRow.heldKey("ann")).count
      + (scene.driver.row(AnalyzerRow.escalationsKey("ann")) == nil ? 0 : 1)
  }

  private func due(_ written: Written) -> Check? { written.decision?.checks.first { $0.check == "escalation" } }

  @Test("issue 41: an urgent direct message is pushed again after the time, then told to the webhook, and no more")
  func story() throws {
    let scene = try scene()
    let first = try scene.message("m1", body: "This is urgent")
    let push = try #require(first.push)
    #expect(push.priority == .high && push.escalation == nil)
    #expect(due(first)?.inputs["dueAt"] == .number(noon + 5 * minute))
    #expect(try pushes(scene, at: noon + 5 * minute - 1).isEmpty)

    let written = try fire(scene, at: noon + 5 * minute)
    let again = try #require(written.flatMap(\.pushes).first)
    #expect(
      written.flatMap(\.pushes).count == 1 && written.flatMap(\.decisions).isEmpty, "the decision stays the only one")
    #expect(again.kind == .message && again.presentation == .alert && again.priority == .high)
    #expect(again.pushId != push.pushId && again.messageId == "m1" && again.conversationId == "c1")
    #expect((again.title, again.body) == (push.title, push.body) && again.targets == push.targets)
    #expect(again.escalation == Escalation(pushedAt: noon) && again.reason == push.reason && again.badge == push.badge)
    #expect(again.expiresAt == noon + 5 * minute + hour && again.sentAt == noon)

    #expect(try pushes(scene, at: noon + 15 * minute - 1).isEmpty)
    let told = try #require(try pushes(scene, at: noon + 15 * minute).first)
    #expect(told.kind == .escalation && told.targets.isEmpty && told.title == nil && told.body == nil)
    #expect((told.conversationId, told.messageId, told.senderId) == ("c1", "m1", "bob"))
    #expect(
      told.escalation == Escalation(pushedAt: noon, pushedAgainAt: noon + 5 * minute, senderName: "Bob"))
    #expect(told.sentAt == noon && told.priority == .high && told.mentioned == nil)
    #expect(try rows(scene) == 0)
    #expect(try pushes(scene, at: noon + 24 * hour).isEmpty)
  }

  @Test("issue 41: a mention in a group is said again; the webhook learns the group and that it is a mention")
  func mention() throws {
    let scene = try scene()
    try scene.message("m1", in: "g", RecipientContext(mentioned: true), group: "Hikers")
    #expect(try pushes(scene, at: noon + 5 * minute).map(\.mentioned) == [true])
    let told = try pushes(scene, at: noon + 15 * minute)
    #expect(told.map(\.escalation?.groupName) == ["Hikers"] && told.map(\.mentioned) == [true])
  }

  @Test("issue 62: what waits for the end of quiet hours is said again at the end of those that the person has now")
  func movedQuietHours() throws {
    for (hours, due) in [
      (nil, noon + 10 * minute), (QuietHours(start: "12:01", end: "12:30", timeZone: "UTC"), noon + 30 * minute),
      (QuietHours(start: "12:01", end: "14:00", timeZone: "UTC"), noon + 2 * hour),
    ] {
      let scene = try scene { $0.webhookSeconds = 0 }
      try scene.message("m1", in: "g", RecipientContext(mentioned: true), group: "Hikers")
      try scene.prefer(
        PreferencesPatch(quietHours: .set(QuietHours(start: "12:01", end: "13:00", timeZone: "UTC"))), at: noon + 1)
      #expect(try pushes(scene, at: noon + 5 * minute).isEmpty)
      scene.driver.now = noon + 10 * minute
      try scene.prefer(PreferencesPatch(quietHours: .set(hours)), at: noon + 10 * minute)
      #expect(try pushes(scene, at: due - 1).isEmpty)
      #expect(try pushes(scene, at: due).map(\.messageId) == ["m1"])
      #expect(try pushes(scene, at: noon + 3 * hour).isEmpty)
    }
  }

  @Test("issue 41: by default nothing is said again, and nothing is kept")
  func off() throws {
    let scene = try Scene.withPhone()
    let written = try scene.message("m1", body: "This is urgent")
    #expect(written.push?.priority == .high && due(written) == nil)
    #expect(try rows(scene) == 0 && fire(scene, at: noon + 24 * hour).isEmpty)
  }

  @Test("issue 41: only high priority, only mentions and direct messages, and never what a replay asked for")
  func others() throws {
    let scene = try scene()
    #expect(try due(scene.message("m1", body: "see you")) == nil)
    let group = try scene.message("m2", in: "g", RecipientContext(answered: true), group: "Hikers")
    #expect(group.push?.priority == .high && due(group) == nil)
    try scene.prefer(PreferencesPatch(enabled: false), at: noon + 1)
    try scene.message("m3", at: noon + 2, body: "This is urgent")
    try scene.prefer(PreferencesPatch(enabled: true), at: noon + 3)
    let replayed = try scene.send(
      .redecide(Scene.candidate("m3", body: "This is urgent", replayId: "replay-1")), at: noon + 2)
    #expect(replayed.push != nil && due(replayed) == nil)
    #expect(try rows(scene) == 0)
  }

  @Test("issue 41: never for what was read, deleted or left, whichever step is due", arguments: [1, 2])
  func read(steps: Int) throws {
    let ends: [(Scene, Milliseconds) throws -> Void] = [
      { try $0.read(at: $1) }, { try $0.read(upTo: "m1", at: $1) }, { try $0.wrote("own", at: $1) },
      { try $0.withdraw("m1", at: $1) }, { try $0.withdraw(nil, cause: .left, at: $1) },
      { try $0.withdraw(nil, cause: .conversationDeleted, at: $1) },
    ]
    for (number, end) in ends.enumerated() {
      let scene = try scene()
      try scene.message("m1", body: "This is urgent")
      if steps == 2 { #expect(try pushes(scene, at: noon + 5 * minute).count == 1) }
      let time = noon + (steps == 1 ? 4 : 14) * minute
      scene.driver.now = time
      try end(scene, time)
      #expect(try pushes(scene, at: noon + 24 * hour).isEmpty, "\(number)")
      #expect(try rows(scene) == 0, "\(number)")
    }
  }

  @Test("issue 41: what a device reported is not said again, whichever device and report", arguments: [1, 2])
  func arrived(steps: Int) throws {
    let reports: [(NotificationReport) -> UserEventBody] = [
      { .notificationReceived($0) }, { .notificationOpened($0) }, { .notificationDismissed($0) },
    ]
    for body in reports {
      let scene = try scene(phones: ["phone", "tablet"])
      var push = try #require(try scene.message("m1", body: "This is urgent").push)
      if steps == 2 { push = try #require(try pushes(scene, at: noon + 5 * minute).first) }
      try report(scene, push, on: "tablet", at: noon + (steps == 1 ? 4 : 14) * minute, as: body)
      #expect(try pushes(scene, at: noon + 24 * hour).isEmpty)
      #expect(try rows(scene) == 0)
    }
  }

  @Test("a device that has reported a hundred later pushes is on: nothing is said again")
  func fullMemory() throws {
    let scene = try scene()
    try scene.message("m1", body: "This is urgent")
    for number in 0..<101 {
      let time = noon + 1 + Int64(number) * second
      let push = try #require(try scene.message("later-\(number)", in: "c2", at: time).push)
      try report(scene, push, at: time)
    }
    #expect(try pushes(scene, at: noon + 5 * minute).isEmpty)
  }

  @Test("issue 41: who turned notifications off, muted or silenced the conversation meanwhile is left alone")
  func unwanted() throws {
    let patches = [
      PreferencesPatch(enabled: false), PreferencesPatch(muted: [MutedConversation(conversationId: "g")]),
      PreferencesPatch(conversationLevels: [ConversationLevel(conversationId: "g", level: .none)]),
      PreferencesPatch(defaultLevels: DefaultLevels(group: NotificationLevel.none)),
      PreferencesPatch(mutedSenders: ["bob"]),
    ]
    for patch in patches {
      let scene = try scene()
      try scene.message("m1", in: "g", RecipientContext(mentioned: true), group: "Hikers")
      try scene.prefer(patch, at: noon + minute)
      #expect(try pushes(scene, at: noon + 24 * hour).isEmpty && rows(scene) == 0)
    }
    let scene = try scene()
    try scene.message("m1", in: "g", RecipientContext(mentioned: true), group: "Hikers")
    try scene.prefer(
      PreferencesPatch(muted: [MutedConversation(conversationId: "g", exceptMentions: true)]), at: noon + minute)
    #expect(try pushes(scene, at: noon + 5 * minute).count == 1)
  }

  @Test("the second push has the last text, and today's preference about previews")
  func texts() throws {
    let scene = try scene()
    try scene.message("m1", body: "This is urgent")
    try scene.edit("m1", body: "This is urgent: room 7", at: noon + minute)
    #expect(try pushes(scene, at: noon + 5 * minute).map(\.body) == ["This is urgent: room 7"])
    let hidden = try self.scene()
    try hidden.message("m1", body: "This is urgent")
    try hidden.prefer(PreferencesPatch(showPreviews: false), at: noon + minute)
    #expect(try pushes(hidden, at: noon + 5 * minute).map(\.body) == ["New message from Bob"])
  }

  @Test("without a device the second push is left out, and the webhook is told all the same")
  func noDevice() throws {
    let scene = try scene()
    try scene.message("m1", body: "This is urgent")
    try scene.send(
      .deviceInvalidated(
        DeviceInvalidated(
          userId: "ann", deviceId: "phone", tokenHash: AnalyzerRules(hash: standInHash).tokenHash("token-phone"),
          version: 1, code: "UNREGISTERED")), at: noon + minute)
    #expect(try pushes(scene, at: noon + 5 * minute).isEmpty)
    let told = try pushes(scene, at: noon + 15 * minute)
    #expect(told.map(\.escalation?.pushedAgainAt) == [nil] && told.map(\.kind) == [.escalation])
  }

  @Test("webhookSeconds 0: pushed once more, and no webhook; a policy that is turned off ends what waits")
  func policies() throws {
    let scene = try scene { $0.webhookSeconds = 0 }
    try scene.message("m1", body: "This is urgent")
    #expect(try pushes(scene, at: noon + 5 * minute).count == 1)
    #expect(try pushes(scene, at: noon + 24 * hour).isEmpty && rows(scene) == 0)

    let ended = try self.scene()
    try ended.message("m1", body: "This is urgent")
    let rows = try ended.driver.allRows().map {
      (key: $0.0, bytes: try Optional($0.1.encoded(coder: RecordCoder(), at: .latest)))
    }
    let off = Scene(now: noon + minute)
    off.driver.load(rows)
    #expect(try off.send(.timerFired(fired(at: noon + 5 * minute)), at: noon + 5 * minute, key: "ann").pushes.isEmpty)
    #expect(try self.rows(off) == 0)
  }

  private func fired(at due: Milliseconds) -> TimerFired {
    TimerFired(timer: PersonTimer.escalation.name(of: "ann"), dueAt: due)
  }

  @Test("a timer that comes twice, or of another time, changes nothing; nor does a candidate that comes twice")
  func repeats() throws {
    let scene = try scene()
    let origin = scene.nextOrigin()
    for _ in 0..<2 { try scene.message("m1", body: "This is urgent", origin: origin) }
    scene.driver.now = noon + 5 * minute
    func send() throws -> Int {
      try scene.send(.timerFired(fired(at: noon + 5 * minute)), at: noon + 5 * minute, key: "ann").pushes.count
    }
    #expect(try send() == 1)
    #expect(try send() == 0)
    #expect(try scene.send(.timerFired(fired(at: noon)), at: noon, key: "ann").pushes.isEmpty)
    #expect(try pushes(scene, at: noon + 15 * minute).count == 1)
  }

  @Test("one timer for all of a person's messages, and sixteen messages at a time")
  func bound() throws {
    let scene = try scene()
    for number in 0..<20 {
      try scene.message("m\(number)", in: "c\(number)", at: noon + Int64(number) * second, body: "This is urgent")
    }
    guard case .escalations(let row)? = try scene.driver.row(AnalyzerRow.escalationsKey("ann")) else {
      Issue.record("there is no row")
      return
    }
    #expect(row.entries.count == EscalationsRow.maxEntries && row.timerAt == noon + 5 * minute)
    let longest = EscalationsRow(
      entries: row.entries.map {
        var entry = $0
        entry.conversationId = String(repeating: "c", count: 256)
        entry.pushedAgainAt = noon
        return entry
      }, timerAt: noon)
    #expect(longest.packed().count < 6_000)
    #expect(try pushes(scene, at: noon + 5 * minute).map(\.messageId) == ["m0"])
    #expect(try pushes(scene, at: noon + 6 * minute).compactMap(\.messageId) == (1..<16).map { "m\($0)" })
  }

  @Test("a read after the webhook's record was written takes it back, however late the steps were")
  func cancelled() throws {
    let scene = try scene { ($0.againSeconds, $0.webhookSeconds) = (5_000, 5_000) }
    try scene.message("m1", body: "This is urgent")
    #expect(try pushes(scene, at: noon + 5_000 * second).count == 1)
    #expect(try pushes(scene, at: noon + 10_000 * second).map(\.kind) == [.escalation])
    scene.driver.now = noon + 10_100 * second
    let written = try scene.read(at: noon + 10_100 * second)
    #expect(written.cancelled.map(\.conversationId) == ["c1"] && written.cancelled.map(\.kind) == [nil])
  }

  @Test("a message that was held is said again from its final decision on; one that is read before is not")
  func held() throws {
    let scene = try scene(phones: ["phone", "tablet"])
    try scene.activity("tablet", at: noon)
    let deferred = try scene.message("m1", at: noon + second, RecipientContext(mentioned: true))
    #expect(deferred.decision?.outcome == .deferred && due(deferred) == nil)
    let final = try fire(scene, at: noon + 4 * second)
    #expect(final.flatMap(\.pushes).count == 1)
    #expect(final.first.flatMap(due)?.inputs["dueAt"] == .number(noon + 5 * minute + 4 * second))
    #expect(try pushes(scene, at: noon + 5 * minute + 4 * second).map(\.messageId) == ["m1"])

    let read = try self.scene(phones: ["phone", "tablet"])
    try read.activity("tablet", at: noon)
    try read.message("m1", at: noon + second, RecipientContext(mentioned: true))
    try read.read(at: noon + 2 * second)
    #expect(try pushes(read, at: noon + 24 * hour).isEmpty && rows(read) == 0)
  }

  @Test("D16: an erased person's rows and timer are gone")
  func erasure() throws {
    let scene = try scene()
    try scene.message("m1", body: "This is urgent")
    try scene.driver.commit()
    scene.driver.now = noon + minute
    try scene.send(.user(.deleted(UserDeleted(userId: "ann"))), at: noon + minute)
    for _ in 0..<10 {
      scene.driver.now += 20
      scene.driver.wake()
    }
    #expect(try scene.driver.allRows().map(\.0).filter { $0.parts.contains("ann") }.isEmpty)
    #expect(try fire(scene, at: noon + 24 * hour).isEmpty)
  }

  @Test("P10: each step is counted by its result")
  func counted() throws {
    func names(_ scene: Scene, at time: Milliseconds) throws -> [String] {
      scene.driver.now = time
      return try scene.driver.fireTimers().flatMap(\.counted).map(\.series)
        .filter { $0.metric == "nudge_escalations_total" }
        .map { "\($0.labels["step"] ?? "") \($0.labels["result"] ?? "")" }
    }
    let scene = try scene()
    try scene.message("m1", body: "This is urgent")
    try scene.message("m2", in: "c2", body: "This is urgent")
    #expect(try names(scene, at: noon + 5 * minute) == ["again made", "again made"])
    try scene.read("c2", at: noon + 6 * minute)
    #expect(try names(scene, at: noon + 15 * minute).sorted() == ["webhook made", "webhook read"])
  }

  @Test("D2: in quiet hours it waits for their end, unless the message is urgent")
  func quietHours() throws {
    for (body, isUrgent) in [("see you", false), ("This is urgent", true)] {
      let scene = try scene()
      try scene.prefer(PreferencesPatch(quietHours: .set(QuietHours(start: "12:02", end: "13:00"))))
      try scene.message("m1", RecipientContext(mentioned: true), body: body)
      #expect(try pushes(scene, at: noon + 5 * minute).count == (isUrgent ? 1 : 0), "\(body)")
      #expect(try pushes(scene, at: noon + hour).filter { $0.kind == .message }.count == (isUrgent ? 0 : 1), "\(body)")
    }
  }
}
