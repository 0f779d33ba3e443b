import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("An urgent message, and a screen that shows its conversation")
struct UrgentHoldTests {
  /// ann's desktop shows c1 from noon on; her phone is elsewhere.
  private func scene() throws -> Scene {
    let scene = try Scene.withPhone()
    try report(scene, at: noon)
    return scene
  }

  @discardableResult
  private func report(_ scene: Scene, at time: Milliseconds, lastInputAt: Milliseconds? = nil) throws -> Written {
    scene.driver.now = max(scene.driver.now, time)
    return try scene.send(
      .user(
        .activity(
          Activity(
            userId: "ann", deviceId: "desktop", state: .foreground, conversationId: "c1", lastInputAt: lastInputAt))),
      at: time)
  }

  private func fire(_ scene: Scene, at time: Milliseconds) throws -> [Written] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }
  }

  private func unread(_ scene: Scene) throws -> Int {
    guard case .user(let row)? = try scene.driver.row(AnalyzerRow.userKey("ann")) else { return 0 }
    return row.unreadMessages
  }

  private let urgent = "this is urgent"

  @Test("D1: without a sign of a person in the last minute it rings at once, and no repeated report reads it")
  func unattended() throws {
    let scene = try scene()
    try report(scene, at: noon + minute)
    #expect(try scene.message("m0", at: noon + minute + 1).decision?.outcome == .deferred)
    let written = try scene.message("m1", at: noon + minute + 2, body: urgent)
    #expect(written.decision?.outcome == .notify && written.push?.presentation == .alert)
    #expect(written.push?.targets.map(\.deviceId) == ["phone"] && written.push?.urgent == true)
    #expect(try scene.message("m2", at: noon + minute + 10 * second).decision?.outcome == .deferred)
    try scene.driver.restart()
    let repeated = try report(scene, at: noon + 2 * minute)
    #expect(repeated.decisions.map(\.body.messageId) == ["m0"] && repeated.pushes.isEmpty)
    #expect(try unread(scene) == 1)
    #expect(try report(scene, at: noon + 3 * minute).isEmpty)
    let fired = try fire(scene, at: noon + 3 * minute + 10 * second)
    #expect(fired.flatMap(\.decisions).map(\.body.messageId) == ["m2"] && fired.flatMap(\.pushes).count == 1)
    #expect(try unread(scene) == 2)
  }

  @Test("D1: where somebody was there a moment ago, a repeated report without a sign makes it ring at once")
  func repeated() throws {
    let scene = try scene()
    let first = try scene.message("m1", at: noon + 30 * second, body: urgent)
    #expect(first.decision?.reason == .activeConversation && first.decision?.heldUntil == noon + 90 * second)
    #expect(try report(scene, at: noon + minute).decisions.isEmpty)
    let fired = try fire(scene, at: noon + minute)
    #expect(fired.flatMap(\.decisions).map(\.body.outcome) == [.notify])
    #expect(fired.flatMap(\.pushes).map(\.presentation) == [.alert])
    #expect(try report(scene, at: noon + 2 * minute).isEmpty && unread(scene) == 1)
    #expect(try fire(scene, at: noon + hour).isEmpty)
  }

  @Test("D1: without any report it rings after a minute")
  func silent() throws {
    let scene = try scene()
    try scene.message("m1", at: noon + 30 * second, body: urgent)
    #expect(try fire(scene, at: noon + 90 * second - 1).isEmpty)
    #expect(try fire(scene, at: noon + 90 * second).flatMap(\.pushes).map(\.presentation) == [.alert])
  }

  @Test("D1: a read, an own message, and a report with a sign of a person settle it: nothing rings")
  func seen() throws {
    let signs: [(Scene) throws -> Written] = [
      { try $0.read(at: noon + 40 * second, on: "desktop") }, { try $0.wrote("mine", at: noon + 40 * second) },
      { try self.report($0, at: noon + minute, lastInputAt: noon + 31 * second) },
    ]
    for sign in signs {
      let scene = try scene()
      try scene.message("m1", at: noon + 30 * second, body: urgent)
      scene.driver.now = noon + 40 * second
      let written = try sign(scene)
      #expect(written.decisions.map(\.body.outcome) == [.suppress] && written.pushes.allSatisfy { $0.kind == .read })
      #expect(try fire(scene, at: noon + hour).allSatisfy { $0.isEmpty } && unread(scene) == 0)
    }
    // A sign from before the message proves nothing.
    let before = try scene()
    try before.message("m1", at: noon + 30 * second, body: urgent)
    #expect(try report(before, at: noon + minute, lastInputAt: noon + 30 * second).decisions.isEmpty)
  }
}
