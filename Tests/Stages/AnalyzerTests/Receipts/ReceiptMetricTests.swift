import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("P10: pushes are counted by the state they reached")
struct ReceiptMetricTests {
  /// The metrics of a step, without decisions: `metric label,label`.
  private func counted(_ result: StageDriver<AnalyzerStage>.StepResult) -> [String] {
    result.counted.map(\.series).filter { $0.metric != "nudge_decisions_total" }.map { series in
      "\(series.metric) \(series.labels.sorted { $0.key < $1.key }.map(\.value).joined(separator: ","))"
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
    _ = try send(
      scene,
      .deviceGained(
        DeviceGained(
          userId: "ann", deviceId: "phone", token: "t", version: 1, platform: .android, appVersion: "4.2.0")), at: noon)
    let made = try send(scene, .candidate(Scene.candidate("m1")), at: noon)
    #expect(counted(made) == ["nudge_push_states_total 4.2.0,android,made"])
    let push = try #require(try scene.written(made).push)
    let report = NotificationReport(
      userId: "ann", deviceId: "phone", pushId: push.pushId, conversationId: "c1", messageId: "m1")
    let arrived = try send(scene, .user(.notificationReceived(report)), at: noon + 3 * second)
    #expect(
      counted(arrived) == ["nudge_arrival_seconds android", "nudge_push_states_total 4.2.0,android,arrived"])
    let seconds = arrived.counted.compactMap { $0.series.observation?.value }
    #expect(seconds.count == 1 && abs((seconds.first ?? 0) - 3) < 0.3)
    let opened = try send(scene, .user(.notificationOpened(report)), at: noon + minute)
    #expect(counted(opened) == ["nudge_push_states_total 4.2.0,android,opened"])
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

  @Test("P10: the version of an app is a label that apps choose, a person's few; one that is too long is cut")
  func versions() throws {
    let metric = AnalyzerMetric.push(
      .opened, .web, .init(version: String(repeating: "5", count: 64), person: "ann"))
    let label = try #require(metric.openLabel)
    #expect(label.value == String(repeating: "5", count: 32) && label.source == "ann")
    let other = metric.labeled("other")
    #expect(other.series.labels == ["state": "opened", "platform": "web", "app_version": "other"])
    #expect(other == AnalyzerMetric.push(.opened, .web, .init(version: "6", person: "eve")).labeled("other"))
    let none = AnalyzerMetric.push(.opened, .web, nil)
    #expect(none.openLabel == nil && none.series.labels["app_version"] == "none")
  }
}
