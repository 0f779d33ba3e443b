import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("P10: pushes are counted by the state they reached")
struct ReceiptTallyTests {
  private func series(_ place: Int) -> StageTally? {
    AnalyzerStage.tallies.indices.contains(place) ? AnalyzerStage.tallies[place] : AnalyzerStage.laterTally(place)
  }

  /// The tallies of a step, without decisions: `metric label,label`.
  private func counted(_ result: StageDriver<AnalyzerStage>.StepResult) -> [String] {
    result.counted.compactMap(series).filter { $0.metric != "nudge_decisions_total" }.map { tally in
      "\(tally.metric) \(tally.labels.sorted { $0.key < $1.key }.map(\.value).joined(separator: ","))"
    }.sorted()
  }

  private func send(
    _ scene: Scene, _ body: TimelineEventBody, at time: Milliseconds
  ) throws -> StageDriver<AnalyzerStage>.StepResult {
    scene.driver.now = time
    let origin = scene.nextOrigin()
    return try scene.driver.send(
      TimelineEvent(
        Envelope(eventId: "e\(origin.offset)", occurredAt: time), origin: origin, source: origin.position, body),
      to: .timeline, key: "any")
  }

  @Test("P10: made, arrived and opened count once each, by platform and app version, with the time to arrive")
  func states() throws {
    let scene = Scene()
    // The table of versions is the process's: other tests may have filled it.
    let place = ReceiptTally.place(.made, on: .android, appVersion: "4.2.0", of: "ann")
    let version = try #require(ReceiptTally.later(place)?.labels["app_version"])
    #expect(version == "4.2.0" || version == "other")
    _ = try send(
      scene,
      .deviceGained(
        DeviceGained(
          userId: "ann", deviceId: "phone", token: "t", version: 1, platform: .android, appVersion: "4.2.0")), at: noon)
    let made = try send(scene, .candidate(Scene.candidate("m1")), at: noon)
    #expect(counted(made) == ["nudge_push_states_total \(version),android,made"])
    let push = try #require(try scene.written(made).push)
    let report = NotificationReport(
      userId: "ann", deviceId: "phone", pushId: push.pushId, conversationId: "c1", messageId: "m1")
    let arrived = try send(scene, .user(.notificationReceived(report)), at: noon + 3 * second)
    #expect(
      counted(arrived) == ["nudge_arrival_seconds android", "nudge_push_states_total \(version),android,arrived"])
    let seconds = arrived.counted.compactMap { series($0)?.observation?.value }
    #expect(seconds.count == 1 && abs((seconds.first ?? 0) - 3) < 0.3)
    let opened = try send(scene, .user(.notificationOpened(report)), at: noon + minute)
    #expect(counted(opened) == ["nudge_push_states_total \(version),android,opened"])
    let again = try send(scene, .user(.notificationReceived(report)), at: noon + minute)
    #expect(counted(again) == ["nudge_receipts_ignored_total repeated"])
  }

  @Test("P10: what was opened counts as arrived, once, whichever is reported first")
  func openedFirst() throws {
    let scene = try Scene.withPhone()
    let push = try #require(try scene.message("m1").push)
    let report = NotificationReport(
      userId: "ann", deviceId: "phone", pushId: push.pushId, conversationId: "c1", messageId: "m1")
    let opened = try send(scene, .user(.notificationOpened(report)), at: noon + minute)
    #expect(counted(opened) == ["nudge_push_states_total none,ios,arrived", "nudge_push_states_total none,ios,opened"])
    let arrived = try send(scene, .user(.notificationReceived(report)), at: noon + minute)
    #expect(counted(arrived) == ["nudge_arrival_seconds ios"])
  }

  @Test("P10: a report that counts for nothing says why")
  func ignored() throws {
    let scene = try Scene.withPhone()
    let push = try #require(try scene.message("m1").push)
    var report = NotificationReport(
      userId: "ann", deviceId: "phone", pushId: push.pushId, conversationId: "c1", messageId: "m1")
    let late = try send(scene, .user(.notificationReceived(report)), at: noon + 25 * hour)
    #expect(counted(late) == ["nudge_receipts_ignored_total too_late"])
    report.pushId = "another"
    #expect(
      try counted(send(scene, .user(.notificationReceived(report)), at: noon))
        == ["nudge_receipts_ignored_total unknown_push"])
    report.deviceId = "another"
    #expect(
      try counted(send(scene, .user(.notificationReceived(report)), at: noon))
        == ["nudge_receipts_ignored_total unknown_device"])
  }

  @Test("P10: however many app versions there are, 32 have series of their own, and two of one person's")
  func versions() {
    var versions = ReceiptTally.AppVersions()
    #expect((0..<100).map { versions.slot(of: "fake-\($0)", on: "mallory") }.filter { $0 > 1 } == [2, 3])
    versions = ReceiptTally.AppVersions()
    let slots = (0..<100).map { versions.slot(of: "9.\($0)", on: "p\($0 / 2)") }
    #expect(slots == Array(2..<34) + Array(repeating: 1, count: 68))
    #expect(versions.slot(of: "9.7", on: "mallory") == 9 && versions.version(at: 9) == "9.7")
    #expect(versions.version(at: 34) == nil && versions.version(at: 1) == nil)
    let tally = ReceiptTally.later(ReceiptTally.place(.opened, on: .web, appVersion: "5.0", of: "ann"))
    // The table of versions is the process's: other tests may have filled it.
    let version = tally?.labels["app_version"]
    #expect(version == "5.0" || version == "other")
    #expect(tally?.labels == ["state": "opened", "platform": "web", "app_version": version ?? ""])
    #expect(ReceiptTally.later(1_000_000) == nil)
    #expect(ReceiptTally.later(0) == nil)
  }

  @Test("P10: a time to arrive is observed within a twentieth; before the message, at once")
  func times() {
    for time: Milliseconds in [60, 999, 3_000, 61_000, 3_599_000, 86_399_000] {
      let place = ReceiptTally.place(arrivedAfter: time, on: .web)
      let tally = series(place)
      #expect(tally?.labels == ["platform": "web"])
      let seconds = tally?.observation?.value ?? 0
      #expect(abs(seconds * 1_000 / Double(time) - 1) < 0.05, "\(time)")
    }
    #expect(series(ReceiptTally.place(arrivedAfter: -5_000, on: .ios))?.observation?.value == 0.05)
    #expect((series(ReceiptTally.place(arrivedAfter: .max, on: .ios))?.observation?.value ?? 0) > 86_400)
  }

  @Test("every place has a series of its own")
  func unique() {
    #expect(Set(ReceiptTally.fixed.map { "\($0)" }).count == ReceiptTally.fixed.count)
    for ignored in ReceiptTally.Ignored.allCases {
      #expect(series(ReceiptTally.place(ignored))?.labels == ["reason": ignored.rawValue])
    }
  }
}
