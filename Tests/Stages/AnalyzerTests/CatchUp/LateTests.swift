import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

extension Scene {
  /// What the dispatcher says of a push that was not sent in time.
  static func missed(
    _ messageId: String, in conversationId: String = "c1", at time: Milliseconds = noon, pushId: String = "push",
    device: Int = 0, of devices: Int = 1, cause: PushMissed.Cause = .expired, presentation: Presentation = .alert,
    priority: Priority = .medium, group: String? = nil, text: String = "hello there", edited: Bool? = nil
  ) -> PushMissed {
    PushMissed(
      userId: "ann", pushId: pushId, device: device, devices: devices, conversationId: conversationId,
      messageId: messageId, cause: cause, presentation: presentation, priority: priority, sentAt: time,
      expiresAt: time + hour, senderName: "Bob", groupName: group, text: text, edited: edited, senderId: "bob")
  }
}

@Suite("The catch-up: pushes that were not sent in time")
struct LateTests {
  /// A person with a phone who has configured nothing; it is noon.
  private func scene(_ patch: PreferencesPatch? = nil) throws -> Scene {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 0
    rules.policy.directBurstSeconds = 0
    let scene = try Scene.withPhone(rules)
    if let patch { try scene.prefer(patch, at: noon - 2 * hour) }
    return scene
  }

  @discardableResult
  private func miss(_ scene: Scene, at now: Milliseconds = noon + hour, _ missed: PushMissed) throws -> Written {
    scene.driver.now = now
    return try scene.send(.pushMissed(missed), at: now)
  }

  private func digests(_ scene: Scene, at time: Milliseconds) throws -> [Push] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }.flatMap(\.pushes).filter(\.isCatchUp)
  }

  private func rows(_ scene: Scene) throws -> Int { try scene.driver.rows(below: AnalyzerRow.missedKey("ann")).count }

  private let soon = noon + hour + PersonContext.lateCollection

  @Test("what another device has after all, in a conversation that is muted for a time, fires no timer until that ends")
  func mutedWhilePending() throws {
    let scene = try scene()
    try scene.gain("tablet")
    try scene.message("m1")
    try miss(scene, Scene.missed("m1", device: 0, of: 2))
    let until = noon + 5 * hour
    try scene.prefer(
      PreferencesPatch(muted: [MutedConversation(conversationId: "c1", until: until)]), at: noon + hour + second)
    // Each firing sets the next: one that is due at once would never end.
    scene.driver.now = noon + hour + 2 * PersonContext.lateGrace
    for result in try scene.driver.fireTimers() { #expect(try scene.written(result).pushes.isEmpty) }
    #expect(try digests(scene, at: until + minute).isEmpty)
  }

  @Test("D18: soon after, in one push with a sound, for people who configured nothing; a repeat tells nothing twice")
  func soonAfter() throws {
    let scene = try scene()
    for (number, conversation) in ["c1", "c1", "c2"].enumerated() {
      #expect(
        try scene.message("m\(number)", in: conversation, at: noon + Int64(number), body: "text \(number)").push != nil)
    }
    for (number, conversation) in ["c1", "c1", "c2"].enumerated() {
      let missed = Scene.missed("m\(number)", in: conversation, at: noon + Int64(number), text: "text \(number)")
      for _ in 0..<2 { #expect(try miss(scene, missed).isEmpty) }
    }
    #expect(try digests(scene, at: soon - 1).isEmpty)
    let push = try #require(try digests(scene, at: soon).first)
    #expect(push.title == "3 messages in 2 conversations" && push.presentation == .alert && push.badge == 2)
    #expect(Set(push.digest?.lines.map(\.text) ?? []) == ["text 0", "text 1", "text 2"])
    #expect(push.digest?.parts?.map(\.keys) == [["m0", "m1"].map { Digest.key($0) }, [Digest.key("m2")]])
    try scene.driver.restart()
    try miss(scene, at: soon + 1, Scene.missed("m0"))
    #expect(try rows(scene) == 0 && digests(scene, at: soon + 48 * hour).isEmpty)
  }

  @Test("D18: what was read, deleted or left is not in it; nor what has been before the push is missed")
  func settled() throws {
    let scene = try scene()
    let conversations = ["read", "gone", "left", "before", "never"]
    for (number, conversation) in conversations.enumerated() {
      try scene.message("m-" + conversation, in: conversation, at: noon + Int64(number))
    }
    try scene.read("before", at: noon + minute)
    try scene.withdraw("m-never", in: "never", at: noon + minute)
    for (number, conversation) in conversations.enumerated() {
      try miss(scene, Scene.missed("m-" + conversation, in: conversation, at: noon + Int64(number)))
    }
    #expect(try rows(scene) == 3)
    try scene.read("read", at: noon + hour)
    #expect(try scene.withdraw("m-gone", in: "gone", at: noon + hour).pushes.allSatisfy { $0.kind == .badge })
    try scene.withdraw(nil, in: "left", cause: .left, at: noon + hour)
    #expect(try rows(scene) == 0 && digests(scene, at: soon).isEmpty)
    // A conversation that nothing is known of was deleted.
    try miss(scene, at: soon, Scene.missed("m1", in: "unknown"))
    #expect(try rows(scene) == 0)
  }

  @Test("D18: an edit changes the text there, and is not pushed; a text from before an edit is not told")
  func edits() throws {
    let scene = try scene()
    for id in ["m1", "m2", "m3"] { try scene.message(id, at: noon, body: "first text") }
    try miss(scene, Scene.missed("m1", text: "first text"))
    #expect(try scene.edit("m1", body: "last text", at: noon + hour - 1).pushes.isEmpty)
    // These were edited while their pushes waited: the first was replaced there, the second ended before.
    for id in ["m2", "m3"] { #expect(try scene.edit(id, body: "better text", at: noon + hour - 1).pushes.count == 1) }
    try scene.driver.restart()
    try miss(scene, Scene.missed("m2", text: "better text", edited: true))
    try miss(scene, Scene.missed("m3", text: "first text"))
    let digest = try #require(try digests(scene, at: soon).first?.digest)
    #expect(digest.messages == 3 && Set(digest.lines.map(\.text)) == ["last text", "better text"])
  }

  /// A message that was written two hours before it arrives, at noon.
  private func arriveLate(_ scene: Scene) throws -> Written {
    scene.driver.now = noon
    return try scene.send(
      .candidate(Scene.candidate("m1")), at: noon - 2 * hour, origin: scene.nextOrigin(), arrivedAt: noon)
  }

  @Test("D18, D1: what came later than its freshness is told soon, whatever a device reported long before it arrived")
  func staleClaim() throws {
    let scene = try scene()
    try scene.activity("phone", in: "c1", at: noon - 10 * minute)
    let written = try arriveLate(scene)
    #expect(written.decision?.reason == .expired && written.decision?.badge == 1)
    let due = try #require(written.decision?.checks.first { $0.check == "catch_up" }?.inputs["dueAt"])
    #expect(due == .number(noon + PersonContext.lateCollection))
    #expect(try digests(scene, at: noon + PersonContext.lateCollection).map(\.messageId) == ["m1"])
    // Nor is a message in time read there, or shown inside the app.
    let fresh = try self.scene()
    try fresh.activity("phone", in: "c1", at: noon - 10 * minute)
    fresh.driver.now = noon
    let sent = try fresh.send(
      .candidate(Scene.candidate("m1")), at: noon - hour / 2, origin: fresh.nextOrigin(), arrivedAt: noon)
    #expect(sent.decision?.outcome == .notify && sent.banners.isEmpty)
  }

  @Test("D18, D1: where its conversation is open when it arrives, it is told as soon as nothing reads it")
  func openClaim() throws {
    for isRead in [false, true] {
      let scene = try scene()
      try scene.activity("phone", in: "c1", at: noon - 30 * second)
      #expect(try arriveLate(scene).decision?.reason == .expired)
      #expect(try digests(scene, at: noon + PersonContext.lateCollection).isEmpty && rows(scene) == 1)
      if isRead { try scene.read(at: noon + minute) }
      #expect(try digests(scene, at: noon + 2 * minute - 1).isEmpty)
      var told = try digests(scene, at: noon + 2 * minute)
      told += try digests(scene, at: noon + 2 * minute + 1)
      #expect(told.map(\.messageId) == (isRead ? [] : ["m1"]) && told.allSatisfy { $0.presentation == .alert })
      #expect(try rows(scene) == 0)
    }
  }

  @Test("D18: a message is told where all devices of its push missed it; one that has it is enough")
  func devices() throws {
    let scene = try scene()
    try scene.gain("tablet")
    for id in ["both", "one"] { try scene.message(id, at: noon) }
    for _ in 0..<2 {
      try miss(scene, Scene.missed("both", of: 2))
      try miss(scene, Scene.missed("one", of: 2))
    }
    // An edit still reaches the device that may have it.
    #expect(try scene.edit("one", body: "better", at: noon + hour - 1).pushes.count == 1)
    try miss(scene, Scene.missed("both", device: 1, of: 2))
    let push = try #require(try digests(scene, at: soon).first)
    #expect(push.messageId == "both" && push.targets.count == 2)
    #expect(try rows(scene) == 1)
    #expect(try digests(scene, at: noon + hour + 2 * PersonContext.lateGrace).isEmpty && rows(scene) == 0)
  }

  @Test("D18: never in quiet hours, but at their end; at the person's own times, where they have some; none is never")
  func times() throws {
    let asleep = try scene(PreferencesPatch(quietHours: .set(QuietHours(start: "13:00", end: "15:00"))))
    try asleep.message("m1", at: noon)
    try miss(asleep, Scene.missed("m1", cause: .quietHours))
    #expect(try digests(asleep, at: noon + 3 * hour - 1).isEmpty)
    #expect(try digests(asleep, at: noon + 3 * hour).count == 1)
    let own = try scene(PreferencesPatch(digestTimes: .set(["16:00"]), timeZone: "UTC"))
    try own.message("m1", at: noon)
    try miss(own, Scene.missed("m1"))
    #expect(try digests(own, at: noon + 4 * hour - 1).isEmpty && digests(own, at: noon + 4 * hour).count == 1)
    for patch in [PreferencesPatch(digestTimes: .set([])), PreferencesPatch(enabled: false)] {
      let never = try scene()
      try never.message("m1", at: noon)
      try never.prefer(patch, at: noon + 1)
      try miss(never, Scene.missed("m1"))
      #expect(try rows(never) == 0 && digests(never, at: noon + 48 * hour).isEmpty)
    }
    // What waits for a later time comes along.
    let night = try scene(PreferencesPatch(quietHours: .set(QuietHours(start: "22:00", end: "07:00"))))
    try night.message("m1", at: noon)
    try night.message("m2", at: noon - 2 * hour, decidedAt: noon)
    try miss(night, Scene.missed("m1"))
    #expect(try digests(night, at: soon).map { $0.digest?.messages } == [2] && rows(night) == 0)
  }

  @Test("D18: of more than a hundred in one conversation each is told once; what was pushed silently makes no sound")
  func many() throws {
    let scene = try scene()
    for number in 0..<130 { try scene.message("m\(number)", at: noon + Int64(number)) }
    for number in 0..<110 {
      try miss(
        scene, Scene.missed("m\(number)", at: noon + Int64(number), cause: .laneFull, presentation: .silent))
    }
    let push = try #require(try digests(scene, at: soon).first)
    #expect(push.digest?.messages == 110 && push.presentation == .silent)
    // Of those that are no longer known one by one, the last are still remembered as told.
    try miss(scene, at: soon + 1, Scene.missed("m80", at: noon + 80, cause: .laneFull))
    #expect(try rows(scene) == 0)
  }

  @Test("D18: previews off shows no text; without a device it waits for one")
  func previewsAndDevices() throws {
    let scene = try scene(PreferencesPatch(showPreviews: false))
    try scene.message("m1", at: noon)
    try miss(scene, Scene.missed("m1", text: "New message from Bob"))
    guard case .device(let device)? = try scene.driver.row(AnalyzerRow.deviceKey("ann", "phone")) else {
      Issue.record("no device")
      return
    }
    try scene.send(
      .deviceInvalidated(
        DeviceInvalidated(
          userId: "ann", deviceId: "phone", tokenHash: device.tokenHash, version: device.version, code: "UNREGISTERED")),
      at: noon + hour)
    #expect(try digests(scene, at: soon).isEmpty && rows(scene) == 1)
    try scene.gain("phone", token: "next", version: 2, at: soon + 1)
    let push = try #require(try digests(scene, at: soon + 1).first)
    #expect(push.title == "Bob" && push.body == "New message from Bob" && push.digest == nil)
  }

  @Test("D18, P7: a replay of failed pushes makes nothing again that a catch-up tells of, before it or after")
  func replayed() throws {
    func resend(_ scene: Scene, _ id: String, devices: [String]? = nil) throws -> Written {
      var candidate = Scene.candidate(id, replayId: "replay-1")
      candidate.failedPushes = [
        FailedPush(userId: "ann", pushId: "push-" + id, devices: devices, presentation: .alert)
      ]
      candidate.maxAgeSeconds = 86_400
      return try scene.send(.redecide(candidate), at: noon)
    }
    let scene = try scene()
    try scene.gain("tablet")
    for id in ["m1", "m2", "m3"] { try scene.message(id, at: noon) }
    try miss(scene, Scene.missed("m1"))
    try miss(scene, Scene.missed("m3", of: 2))
    #expect(try resend(scene, "m1").decision?.reason == .duplicate)
    // FCM failed this one: nobody else tells of it.
    #expect(try resend(scene, "m2").push != nil)
    // One device has it, and the other gets it by the replay.
    #expect(try resend(scene, "m3", devices: ["phone"]).push?.targets.map(\.deviceId) == ["phone"])
    #expect(try digests(scene, at: soon).map(\.messageId) == ["m1"])
    #expect(try resend(scene, "m1").decision?.reason == .duplicate && rows(scene) == 0)
  }

  @Test("D18: who turns notifications off has none that waits in a lane, and nothing that waits here")
  func ended() throws {
    let scene = try scene()
    try scene.message("m1", at: noon)
    try miss(scene, Scene.missed("m1"))
    let cancelled = try scene.prefer(PreferencesPatch(enabled: false), at: noon + 2 * hour).cancelled
    #expect(cancelled.contains { $0.kind == .digest })
    #expect(try digests(scene, at: soon).isEmpty && rows(scene) == 0)
  }
}
