import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("P12: what a push tells the dispatcher of its devices")
struct SignOfLifeTests {
  /// ann's Android phone, and her tablet, whose system is iOS.
  private func scene() throws -> Scene {
    let scene = Scene()
    try register("phone", .android, scene)
    try register("tablet", .ios, scene)
    return scene
  }

  private func register(
    _ device: String, _ platform: Platform, version: Int64 = 1, _ scene: Scene, at time: Milliseconds = noon
  )
    throws
  {
    scene.driver.now = time
    try scene.send(
      .deviceGained(
        DeviceGained(
          userId: "ann", deviceId: device, token: "token-\(device)", version: version, platform: platform)), at: time)
  }

  private func report(_ push: Push, on device: String = "phone", _ scene: Scene, at time: Milliseconds) throws {
    scene.driver.now = time
    try scene.send(
      .user(
        .notificationReceived(
          NotificationReport(
            userId: "ann", deviceId: device, pushId: push.pushId, conversationId: push.conversationId,
            messageId: push.messageId))), at: time)
  }

  private func seen(_ push: Push?, _ device: String = "phone") -> Milliseconds? {
    push?.targets.first { $0.deviceId == device }?.seenAt
  }

  @Test("P12: nothing before the app has reported; then the time of its last report, to 10 s, on Android alone")
  func reports() throws {
    let scene = try scene()
    let first = try #require(try scene.message("m1").push)
    #expect(seen(first) == nil && seen(first, "tablet") == nil)
    // Activity alone says nothing of whether the app reports.
    try scene.activity("phone", .background, at: noon + second)
    #expect(seen(try scene.message("m2", in: "c2", at: noon + 2 * second).push) == nil)
    try report(first, scene, at: noon + minute)
    try report(first, on: "tablet", scene, at: noon + minute)
    let next = try scene.message("m3", in: "c3", at: noon + 2 * minute).push
    #expect(seen(next) == noon + minute && seen(next, "tablet") == nil)
    // Within 10 s nothing is written.
    try report(first, scene, at: noon + minute + 9 * second)
    #expect(seen(try scene.message("m4", in: "c4", at: noon + 3 * minute).push) == noon + minute)
    try report(first, scene, at: noon + minute + 10 * second)
    #expect(seen(try scene.message("m5", in: "c5", at: noon + 4 * minute).push) == noon + minute + 10 * second)
  }

  @Test("P12: a report of a push of days ago is a sign of life; so are activity and a registration, once it reports")
  func signs() throws {
    let scene = try scene()
    let first = try #require(try scene.message("m1").push)
    let later = noon + 72 * hour
    try report(first, scene, at: later)
    #expect(seen(try scene.message("m2", at: later).push) == later)
    scene.driver.now = later + hour
    try scene.activity("phone", .background, at: later + hour)
    #expect(seen(try scene.message("m3", in: "c2", at: later + hour).push) == later + hour)
    try register("phone", .android, version: 2, scene, at: later + 2 * hour)
    #expect(seen(try scene.message("m4", in: "c3", at: later + 2 * hour).push) == later + 2 * hour)
  }

  @Test(
    "P11: the push of a message names sender and group, and says whether it answers the person; its language, if not English"
  )
  func names() throws {
    let scene = try scene()
    let direct = try #require(try scene.message("m1").push)
    #expect(direct.conversation?.kind == .direct && direct.conversation?.name == nil && direct.answered == nil)
    #expect(direct.conversation?.senderName.isEmpty == false && direct.language == nil)
    var context = RecipientContext()
    context.answered = true
    let group = try #require(
      try scene.message("m2", in: "g", at: noon + minute, context, group: "Team", members: 5).push)
    #expect(group.conversation?.kind == .group && group.conversation?.name == "Team" && group.answered == true)
    try scene.prefer(PreferencesPatch(locale: "de-CH"))
    #expect(try scene.message("m3", in: "c3", at: noon + hour).push?.language == "de")
  }
}
