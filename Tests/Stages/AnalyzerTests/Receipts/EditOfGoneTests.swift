import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("An edit, and notifications that are gone from a device")
struct EditOfGoneTests {
  /// A device's report about a push, by default the message's first.
  private func report(
    _ scene: Scene, _ body: (NotificationReport) -> UserEventBody, _ pushId: String, on device: String = "phone",
    of messageId: String = "m1", at time: Milliseconds
  ) throws {
    scene.driver.now = max(scene.driver.now, time)
    try scene.send(
      .user(
        body(
          NotificationReport(
            userId: "ann", deviceId: device, pushId: pushId, conversationId: "c1", messageId: messageId))),
      at: time)
  }

  /// A person with a phone and a tablet who have a message. Returns the id of its push.
  private func shown() throws -> (Scene, pushId: String) {
    let scene = try Scene.withPhone()
    try scene.gain("tablet")
    return (scene, try #require(try scene.message("m1").push?.pushId))
  }

  private func edit(_ scene: Scene, _ number: Int64 = 1, of messageId: String = "m1") throws -> Push? {
    scene.driver.now = noon + number * minute
    return try scene.edit(messageId, body: "text \(number)", at: noon + number * minute).push
  }

  @Test("D13: an edit does not bring back what was dismissed or opened on a device; the others get it")
  func dismissed() throws {
    for body in [UserEventBody.notificationDismissed, UserEventBody.notificationOpened] {
      let (scene, pushId) = try shown()
      try report(scene, body, pushId, at: noon + second)
      #expect(try edit(scene)?.targets.map(\.deviceId) == ["tablet"])
      try report(scene, body, pushId, on: "tablet", at: noon + minute + 1)
      try scene.driver.restart()
      // The tablet dismissed the message's first push; the edit came to it afterwards.
      let second = try edit(scene, 2)
      #expect(second?.targets.map(\.deviceId) == nil)
    }
  }

  @Test("D13: without a report, or with an arrival alone, an edit goes to all devices")
  func there() throws {
    let (scene, pushId) = try shown()
    #expect(try edit(scene)?.targets.map(\.deviceId) == ["phone", "tablet"])
    try report(scene, UserEventBody.notificationReceived, pushId, at: noon + second)
    #expect(try edit(scene, 2)?.targets.map(\.deviceId) == ["phone", "tablet"])
    // Another message that was dismissed changes nothing.
    let other = try #require(try scene.message("m2", at: noon + 3 * minute).push?.pushId)
    try report(scene, UserEventBody.notificationDismissed, other, of: "m2", at: noon + 3 * minute + 1)
    #expect(try edit(scene, 4)?.targets.map(\.deviceId) == ["phone", "tablet"])
    #expect(try edit(scene, 5, of: "m2")?.targets.map(\.deviceId) == ["tablet"])
  }

  @Test("D13: an edited notification that was dismissed stays away, and one that was shown again is edited")
  func laterPushes() throws {
    let (scene, pushId) = try shown()
    try report(scene, UserEventBody.notificationReceived, pushId, at: noon + second)
    let first = try #require(try edit(scene))
    try report(scene, UserEventBody.notificationDismissed, first.pushId, at: noon + minute + second)
    #expect(try edit(scene, 2)?.targets.map(\.deviceId) == ["tablet"])
    // A replay by force shows it once more.
    var candidate = Scene.candidate("m1", body: "text 2", replayId: "replay-1")
    candidate.forced = true
    scene.driver.now = noon + 3 * minute
    #expect(try scene.send(.redecide(candidate), at: noon).push != nil)
    #expect(try edit(scene, 4)?.targets.map(\.deviceId) == ["phone", "tablet"])
  }

  @Test("D13, D6: a device with a new token that an edit passed over is told the number next")
  func toldNumber() throws {
    let (scene, pushId) = try shown()
    try report(scene, UserEventBody.notificationDismissed, pushId, at: noon + second)
    try scene.gain("phone", token: "new", version: 2, at: noon + 2 * second)
    #expect(try edit(scene)?.targets.map(\.deviceId) == ["tablet"])
    try scene.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "c1")]))
    let push = try #require(try scene.message("m2", at: noon + 2 * minute).push)
    #expect(push.kind == .badge && push.badge == 1 && push.targets.map(\.deviceId) == ["phone", "tablet"])
    #expect(try scene.message("m3", at: noon + 4 * minute).pushes.isEmpty)
  }
}
