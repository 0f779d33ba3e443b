import NudgeSchema
import StreamRuntime
import Testing
import Wording

@testable import Analyzer

@Suite("Devices and pushes")
struct DeviceTests {
  private func lose(
    _ scene: Scene, _ deviceId: String, token: String, version: Int64, _ cause: DeviceLost.Cause = .signedOut,
    at time: Milliseconds
  ) throws -> Written {
    let hash = AnalyzerRules(hash: standInHash).tokenHash(token)
    return try scene.send(
      .deviceLost(DeviceLost(userId: "ann", deviceId: deviceId, tokenHash: hash, version: version, cause: cause)),
      at: time)
  }

  private func invalidate(_ scene: Scene, _ deviceId: String, token: String, version: Int64) throws -> Written {
    let hash = AnalyzerRules(hash: standInHash).tokenHash(token)
    return try scene.send(
      .deviceInvalidated(
        DeviceInvalidated(
          userId: "ann", deviceId: deviceId, tokenHash: hash, version: version, code: "UNREGISTERED")), at: noon + 9)
  }

  @Test("T1: a push goes to all of the person's devices, a registration is an upsert")
  func devices() throws {
    let scene = try Scene.withPhone()
    try scene.gain("tablet")
    try scene.gain("phone", token: "new", version: 3, at: noon + 1)
    let targets = try scene.message("m1").push?.targets
    #expect(
      targets == [
        PushTarget(deviceId: "phone", token: "new", version: 3, platform: .ios),
        PushTarget(deviceId: "tablet", token: "token-tablet", version: 1, platform: .ios),
      ])
  }

  /// Pushes that wait for the phone end, and nothing more is sent with its token.
  private func dropped(version: Int64 = 1) -> PushCancelled {
    PushCancelled(
      userId: "ann", deviceId: "phone", tokenHash: AnalyzerRules(hash: standInHash).tokenHash("token-phone"),
      version: version)
  }

  @Test("T1: who signs out has no device, and what waits for it is cancelled")
  func signOut() throws {
    let scene = try Scene.withPhone()
    let lost = try lose(scene, "phone", token: "token-phone", version: 1, at: noon + 1)
    #expect(lost.cancelled == [dropped()])
    #expect(try scene.message("m1").decision?.reason == .noDevice)
    #expect(try lose(scene, "phone", token: "token-phone", version: 1, at: noon + 1).isEmpty)
  }

  @Test("T2: a token that was claimed elsewhere is lost, and comes back with a later claim only")
  func claimedElsewhere() throws {
    let scene = try Scene.withPhone()
    let lost = try lose(scene, "phone", token: "token-phone", version: 2, .claimedElsewhere, at: noon + 1)
    #expect(lost.cancelled.map(\.deviceId) == ["phone"])
    // The registration it had, once more: a repeat.
    try scene.gain("phone", version: 1)
    #expect(try scene.message("m1").decision?.reason == .noDevice)
    try scene.gain("phone", version: 3, at: noon + 2)
    #expect(try scene.message("m2").decision?.outcome == .notify)
    // And the loss once more.
    #expect(
      try lose(scene, "phone", token: "token-phone", version: 2, .claimedElsewhere, at: noon + 1).isEmpty)
    #expect(try scene.message("m3").decision?.outcome == .notify)
  }

  @Test("T2: losing the old token of a device does not lose the new one, in either order")
  func tokenReplaced() throws {
    for newFirst in [true, false] {
      let scene = try Scene.withPhone()
      var written: [Written] = []
      if newFirst { written.append(try scene.gain("phone", token: "new", at: noon + 1)) }
      written.append(try lose(scene, "phone", token: "token-phone", version: 2, .tokenReplaced, at: noon + 1))
      if !newFirst { written.append(try scene.gain("phone", token: "new", at: noon + 1)) }
      // What waits is not cancelled: the new token takes it along.
      let target = PushTarget(deviceId: "phone", token: "new", version: 1, platform: .ios)
      #expect(
        written.flatMap(\.cancelled) == [PushCancelled(userId: "ann", deviceId: "phone", target: target)])
      #expect(try scene.message("m1").push?.targets.map(\.token) == ["new"])
    }
  }

  @Test(
    "an app that draws, and a browser's app in the foreground, are on the targets; what shows nothing spares other browsers"
  )
  func targetFlags() throws {
    let scene = Scene()
    func gain(_ device: String, _ platform: Platform, renders: Bool?) throws {
      try scene.send(
        .deviceGained(
          DeviceGained(
            userId: "ann", deviceId: device, token: "token-\(device)", version: 1, platform: platform,
            renders: renders)), at: noon)
    }
    try gain("droid", .android, renders: true)
    try gain("phone", .ios, renders: true)
    try gain("tab", .web, renders: nil)
    let first = try scene.message("m1").push
    #expect(first?.targets.map(\.renders) == [true, nil, nil] && first?.targets.map(\.foreground) == [nil, nil, nil])
    let read = try scene.read("c1", at: noon + 1, on: "droid")
    #expect(read.push?.kind == .read && read.push?.targets.map(\.deviceId) == ["phone"])
    try scene.activity("tab", at: noon + 2)
    try scene.message("m2", at: noon + 3)
    let open = try scene.read("c1", at: noon + 4, on: "droid")
    #expect(open.push?.targets.map(\.deviceId) == ["phone", "tab"] && open.push?.targets.last?.foreground == true)
  }

  @Test("issue 57: a push carries a browser's subscription; new keys of it, and keys beside a token, reach what waits")
  func subscriptions() throws {
    let scene = Scene()
    func gain(_ version: Int64, _ webPush: WebPushSubscription?, token: String? = nil, sealing: SealingKeys? = nil)
      throws
      -> Written
    {
      try scene.send(
        .deviceGained(
          DeviceGained(
            userId: "ann", deviceId: "tab", token: token, webPush: webPush, sealing: sealing, version: version,
            platform: .web, projectId: "project")), at: noon + version)
    }
    let first = WebPushSubscription(endpoint: "https://push.example.org/a", p256dh: "key", auth: "secret")
    #expect(try gain(1, first).cancelled.isEmpty)
    let target = try #require(try scene.message("m1").push?.targets.first)
    #expect(
      target.webPush == first && target.token == nil && target.projectId == nil && target.address == first.endpoint)
    // Registered again as it is: what waits stays.
    #expect(try gain(2, first).cancelled.isEmpty)
    var renewed = first
    renewed.auth = "another"
    #expect(try gain(3, renewed).cancelled.first?.target?.webPush == renewed)
    let token = try gain(4, nil, token: "t").cancelled.first?.target
    #expect(token?.token == "t" && token?.webPush == nil && token?.projectId == "project")
    let keys = SealingKeys(p256dh: "key", auth: "secret")
    #expect(try gain(5, nil, token: "t", sealing: keys).cancelled.first?.target?.sealing == keys)
    #expect(try scene.message("m2").push?.targets.map(\.sealing) == [keys])
  }

  @Test("issue 57: a subscription that its service does not know is forgotten, unless it was registered again")
  func prunedSubscription() throws {
    let scene = Scene()
    let webPush = WebPushSubscription(endpoint: "https://push.example.org/a", p256dh: "key", auth: "secret")
    for version in [1, 2] as [Int64] {
      try scene.send(
        .deviceGained(
          DeviceGained(userId: "ann", deviceId: "tab", webPush: webPush, version: version, platform: .web)),
        at: noon + version)
    }
    #expect(try invalidate(scene, "tab", token: webPush.endpoint, version: 1).isEmpty)
    #expect(try scene.message("m1").decision?.outcome == .notify)
    #expect(try invalidate(scene, "tab", token: webPush.endpoint, version: 2).cancelled.map(\.deviceId) == ["tab"])
    #expect(try scene.message("m2").decision?.reason == .noDevice)
  }

  @Test("D12: a registration older than what is known of the device does not bring its token back")
  func lateRegistration() throws {
    let scene = try Scene.withPhone()
    try scene.gain("phone", token: "older", at: noon - 1)
    #expect(try scene.message("m1").push?.targets.map(\.token) == ["token-phone"])
    _ = try lose(scene, "phone", token: "token-phone", version: 1, at: noon + 5)
    try scene.gain("phone", token: "before the sign-out", at: noon + 4)
    #expect(try scene.message("m2").decision?.reason == .noDevice)
    try scene.gain("phone", token: "after it", at: noon + 6)
    #expect(try scene.message("m3").push?.targets.map(\.token) == ["after it"])
  }

  @Test("T3: an invalid token is removed only if it was not registered again since the send")
  func pruning() throws {
    let scene = try Scene.withPhone()
    try scene.gain("phone", version: 2, at: noon + 1)
    #expect(try invalidate(scene, "phone", token: "token-phone", version: 1).isEmpty)
    #expect(try invalidate(scene, "phone", token: "another", version: 2).isEmpty)
    #expect(try scene.message("m1").decision?.outcome == .notify)
    let pruned = try invalidate(scene, "phone", token: "token-phone", version: 2)
    #expect(pruned.cancelled == [dropped(version: 2)])
    #expect(try scene.message("m2").decision?.reason == .noDevice)
    #expect(try invalidate(scene, "phone", token: "token-phone", version: 2).isEmpty)
  }

  @Test("T5: a device not heard of for 270 days is dropped; activity is being heard of")
  func lifetime() throws {
    let day = 24 * hour
    let scene = try Scene.withPhone()
    try scene.gain("tablet")
    try scene.activity("tablet", .background, at: noon + 30 * day)
    #expect(try scene.message("m1", at: noon + 270 * day).push?.targets.map(\.deviceId) == ["phone", "tablet"])
    let written = try scene.message("m2", at: noon + 270 * day + 1)
    #expect(written.push?.targets.map(\.deviceId) == ["tablet"])
    #expect(written.cancelled == [dropped()])
    #expect(try scene.message("m3", at: noon + 301 * day).decision?.reason == .noDevice)
  }

  @Test("T5: a device nobody sends to is dropped all the same, by a timer that follows when it was heard of last")
  func lifetimeByTimer() throws {
    let day = 24 * hour
    let scene = try Scene.withPhone()
    // Registered again and again: still one timer.
    try scene.gain("phone", version: 2, at: noon + day)
    try scene.activity("phone", .background, at: noon + 30 * day)

    func fire(at time: Milliseconds) throws -> [Written] {
      scene.driver.now = time
      return try scene.driver.fireTimers().map { try scene.written($0) }
    }
    #expect(try fire(at: noon + 270 * day).isEmpty)
    let early = try fire(at: noon + 270 * day + 1)
    #expect(early.count == 1)
    #expect(early.first?.isEmpty == true)
    _ = try scene.driver.restart()
    #expect(try fire(at: noon + 300 * day).isEmpty)
    let late = try fire(at: noon + 300 * day + 1)
    #expect(late.map { $0.cancelled } == [[dropped(version: 2)]])
    #expect(try scene.message("m1", at: noon + 300 * day + 2).decision?.reason == .noDevice)
    #expect(try fire(at: noon + 900 * day).isEmpty)

    // Back again: another timer, which finds nothing to do once the device has signed out.
    try scene.gain("phone", version: 3, at: noon + 301 * day)
    #expect(try scene.message("m2", at: noon + 302 * day).push?.targets.map(\.deviceId) == ["phone"])
  }

  @Test("of a device nothing is left 270 days after it was heard of last; an old registration does not bring it back")
  func forgotten() throws {
    let day = 24 * hour
    let scene = try Scene.withPhone()
    try scene.gain("tablet", at: noon)
    _ = try lose(scene, "tablet", token: "token-tablet", version: 2, at: noon + 10 * day)
    func fire(at time: Milliseconds) throws {
      scene.driver.now = time
      _ = try scene.driver.fireTimers()
    }
    func knows(_ deviceId: String) throws -> Bool {
      try scene.driver.row(AnalyzerRow.deviceKey("ann", deviceId)) != nil
    }
    try fire(at: noon + 270 * day + 1)
    #expect(try !knows("phone") && knows("tablet"))
    try fire(at: noon + 280 * day)
    #expect(try knows("tablet"))
    try fire(at: noon + 280 * day + 1)
    #expect(try !knows("tablet"))
    // The registration from before the sign-out comes now.
    try scene.gain("tablet", at: noon + day)
    #expect(try scene.message("m1", at: noon + 280 * day + 2).decision?.reason == .noDevice)
    try fire(at: noon + 280 * day + 3)
    #expect(try !knows("tablet"))
  }

  @Test("T1: of very many devices the ones heard of last are kept")
  func manyDevices() throws {
    let scene = Scene()
    for number in 0..<40 { try scene.gain("d\(number)", at: noon + Int64(number)) }
    let targets = try scene.message("m1", at: noon + 100).push?.targets.map(\.deviceId)
    #expect(targets == (8..<40).map { "d\($0)" })
  }

  @Test("T1: a registration too large to keep is refused without its token")
  func tooLarge() throws {
    let rejection = try Scene().gain("phone", token: String(repeating: "t", count: 7_000)).rejection
    #expect(rejection?.code == .tooLarge)
    #expect(rejection?.message.contains("ttt") == false)
  }

  @Test("M3, M4: a push carries the message, its people, its times and a body cut on a character's boundary")
  func push() throws {
    let scene = try Scene.withPhone()
    let family = "👨‍👩‍👧"
    let written = try scene.message(
      "m1", at: noon, RecipientContext(mentioned: true), group: "Hikers", body: String(repeating: family, count: 300),
      decidedAt: noon + second)
    let push = try #require(written.push)
    #expect(push.title == "Bob in Hikers")
    #expect(push.body == String(repeating: family, count: 239) + "…")
    #expect(push.avatarUrl == "https://example.com/bob.png" && push.imageUrl == nil)
    #expect(push.conversationId == "c1" && push.messageId == "m1" && push.senderId == "bob")
    #expect(push.ttlSeconds == 2_419_200)
    #expect(push.expiresAt == noon + hour && push.decidedAt == noon + second)
    #expect(push.reason == .relevant)
    #expect(
      "short".cut(toCharacters: 5) == "short" && "shorter".cut(toCharacters: 5) == "shor…"
        && "".cut(toCharacters: 5) == "")
  }

  @Test("P7: a push's id is a function of person, kind and message alone")
  func pushId() throws {
    var ids: [String] = []
    for delay in [0, minute] {
      let scene = try Scene.withPhone()
      if delay > 0 { try scene.message("m0", in: "c9") }
      ids.append(try #require(try scene.message("m1", decidedAt: noon + delay).push?.pushId))
    }
    #expect(ids[0] == ids[1])
    #expect(ids[0].count == 22)
    #expect(
      ids[0].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
    let rules = AnalyzerRules(hash: standInHash)
    func id(_ user: String, _ kind: Push.Kind, _ conversation: String, _ message: String) -> String {
      rules.pushId(userId: user, kind: kind, cause: .message(conversationId: conversation, messageId: message))
    }
    #expect(id("ann", .message, "c1", "m1") == ids[0])
    #expect(
      Set([
        ids[0], id("ann", .badge, "c1", "m1"), id("anna", .message, "c1", "m1"), id("ann", .message, "c1m", "1"),
        id("ann", .message, "c1", "m2"),
        rules.pushId(
          userId: "ann", kind: .badge, cause: .record(RecordPosition(topic: "c1", partition: 0, offset: 1))),
      ]).count == 6)
  }

  @Test("P7: the id is base64url of the first 16 bytes of the hash")
  func base64() {
    let rules = AnalyzerRules(hash: { _ in (0..<32).map { UInt8(255 - $0 * 3) } })
    let id = rules.pushId(userId: "u", kind: .read, cause: .record(RecordPosition(topic: "t", partition: 0, offset: 0)))
    #expect(id == "__z59vPw7ern5OHe29jV0g")
  }
}
