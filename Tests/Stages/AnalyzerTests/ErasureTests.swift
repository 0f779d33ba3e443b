import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

/// D16, in the analyzer. Ingest's part, and both together, are in IngestTests.
@Suite("Erasure of a person's timeline")
struct ErasureTests {
  private func delete(_ scene: Scene, at time: Milliseconds) throws -> Written {
    scene.driver.now = time
    return try scene.send(.user(.deleted(UserDeleted(userId: "ann"))), at: time)
  }

  private func wakeUntilIdle(_ scene: Scene) {
    for _ in 0..<100 {
      scene.driver.now += 20
      if scene.driver.wake().wakeAt == nil { return }
    }
    Issue.record("the erasure goes on")
  }

  private func rows(of id: String, _ scene: Scene) throws -> [RowKey] {
    try scene.driver.allRows().map(\.0).filter { $0.parts.contains(id) }
  }

  /// ann's phone has a timer, and so have her catch-up and her badge: quiet hours end in two hours.
  private func waiting() throws -> Scene {
    let scene = try Scene.withPhone()
    try scene.prefer(
      PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "14:00")), badgeMode: .messages))
    try scene.message("m1", at: noon + minute)
    try scene.driver.commit()
    return scene
  }

  @Test("D16: the timers of an erased person never fire; without the erasure they do")
  func timers() throws {
    let year = 365 * 24 * hour
    let kept = try waiting()
    kept.driver.now = noon + 2 * hour
    #expect(try kept.driver.fireTimers().isEmpty, "both wait for the person's moment in the spread")
    kept.driver.now = noon + 3 * hour
    #expect(try kept.driver.fireTimers().count == 2, "the catch-up and the badge")
    kept.driver.now = noon + year
    #expect(try kept.driver.fireTimers().count == 1, "the phone")

    let erased = try waiting()
    let written = try delete(erased, at: noon + 2 * minute)
    #expect(written.cancelled == [PushCancelled(userId: "ann", erased: true)])
    wakeUntilIdle(erased)
    #expect(try rows(of: "ann", erased).isEmpty)
    erased.driver.now = noon + year
    #expect(try erased.driver.fireTimers().isEmpty)
  }

  @Test("D16: a timer that was on its way decides nothing")
  func timerOnItsWay() throws {
    let scene = try waiting()
    let due = noon + 2 * hour
    try scene.driver.commit()
    _ = try delete(scene, at: due - 1)
    // Fired before the steps that remove the rows and the timers.
    scene.driver.now = due
    for result in try scene.driver.fireTimers() {
      let written = try scene.written(result)
      #expect(written.isEmpty && written.rejection == nil)
    }
    wakeUntilIdle(scene)
    #expect(try rows(of: "ann", scene).isEmpty)
  }

  @Test("D16: records that other tasks still wrote for the person make no row and no decision; others' do")
  func lateRecords() throws {
    let scene = try waiting()
    try scene.gain("ben-phone", user: "ben")
    _ = try delete(scene, at: noon + 2 * minute)
    wakeUntilIdle(scene)
    scene.driver.now = noon + 3 * minute
    let written = try scene.send(
      .candidate(Scene.candidate("m2", to: ["ann", "ben"])), at: noon + 3 * minute, origin: scene.nextOrigin())
    #expect(written.decisions.map(\.body.userId) == ["ben"])
    let later = [
      try scene.wrote("m3", at: noon + 3 * minute), try scene.read(at: noon + 3 * minute),
      try scene.activity("phone", in: "c1", at: noon + 3 * minute),
      try scene.withdraw("m2", at: noon + 3 * minute),
      // A claim from before the deletion.
      try scene.gain("tablet", at: noon + minute),
    ]
    #expect(later.allSatisfy { $0.isEmpty && $0.rejection == nil })
    #expect(try rows(of: "ann", scene).isEmpty)
    #expect(try !rows(of: "ben", scene).isEmpty)
  }

  @Test("D16: a later claim of a device begins the person anew, without what was before")
  func again() throws {
    let scene = try waiting()
    _ = try delete(scene, at: noon + 2 * minute)
    // In the middle of the erasure.
    try scene.gain("new-phone", at: noon + 3 * minute)
    let written = try scene.message("m2", at: noon + 4 * minute)
    // Her quiet hours are gone.
    #expect(written.decision?.outcome == .notify && written.decision?.badge == 1)
    #expect(written.push?.targets.map(\.deviceId) == ["new-phone"])
    wakeUntilIdle(scene)
    #expect(try scene.message("m3", at: noon + 5 * minute).push?.targets.map(\.deviceId) == ["new-phone"])
  }

  @Test("D16: the same deletion once more writes nothing, whatever its event is called", arguments: ["0", "zz"])
  func repeated(eventId: String) throws {
    let scene = try waiting()
    let deletion = TimelineEventBody.user(.deleted(UserDeleted(userId: "ann")))
    #expect(try !scene.send(deletion, at: noon + 2 * minute, eventId: eventId).isEmpty)
    #expect(try scene.send(deletion, at: noon + 2 * minute, eventId: eventId).isEmpty)
  }

  @Test("D16: a task that restarts goes on with an erasure, and still knows whom it has erased")
  func restart() throws {
    let scene = try waiting()
    for number in 0..<1_200 {
      try scene.message("m", in: "c\(number)", at: noon + minute + Int64(number))
    }
    try scene.driver.commit()
    _ = try delete(scene, at: noon + 3 * minute)
    _ = scene.driver.wake()
    #expect(try !rows(of: "ann", scene).isEmpty)
    #expect(try scene.driver.restart().wakeAt != nil)
    wakeUntilIdle(scene)
    #expect(try rows(of: "ann", scene).isEmpty)
    try scene.driver.restart()
    #expect(try scene.message("late", at: noon + 4 * minute).isEmpty)
  }
}
