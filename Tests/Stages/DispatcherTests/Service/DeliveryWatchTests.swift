import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import Dispatcher

@Suite("Whether pushes leave")
struct DeliveryWatchTests {
  @Test("they stand where some wait for 10 s and none is judged, or for a minute whatever becomes of others")
  func rule() {
    func stands(_ waiting: Int, _ age: Milliseconds?, _ judged: Milliseconds?) -> Bool {
      DeliveryStanding(waiting: waiting, oldestAge: age, sinceJudged: judged).isStanding
    }
    #expect(!stands(0, nil, nil) && !stands(0, nil, 3_600_000))
    #expect(!stands(5, 9_999, nil) && stands(5, 10_000, nil) && stands(5, 10_000, 10_000))
    #expect(!stands(5, 10_000, 9_999) && !stands(5, 59_999, 0) && stands(5, 60_000, 0))
  }

  @Test("one line when it begins, one each minute, one when it ends")
  func changes() {
    var watch = DeliveryWatch()
    let good = DeliveryStanding(waiting: 1, oldestAge: 100, sinceJudged: 0)
    let bad = DeliveryStanding(waiting: 9, oldestAge: 30_000, sinceJudged: 30_000)
    var changes: [Milliseconds: DeliveryWatch.Change] = [:]
    for second in 0..<200 {
      let isAway = (20..<150).contains(second)
      if let change = watch.check(isAway ? bad : good, now: Milliseconds(second) * 1_000) {
        changes[Milliseconds(second)] = change
      }
    }
    #expect(changes == [20: .began, 80: .goesOn, 140: .goesOn, 150: .ended(lasted: 130_000)])
  }

  @Test("log, readyz and metric say it with the count and the last answer, and the service stays ready")
  func reports() throws {
    let metrics = MetricsRegistry()
    let readiness = HealthChecks()
    let capture = LogCapture()
    let start = DispatcherBench.start
    let lanes = LaneMonitor(metrics: metrics, readiness: readiness, now: { start })
    let deliveries = DeliveryMonitor(metrics: metrics)
    let reporter = DeliveryReporter(
      lanes: lanes, deliveries: deliveries, readiness: readiness, log: Logger(label: "dispatcher", sink: capture.sink),
      metrics: metrics)
    func reply(_ answer: PushAnswer, at time: Milliseconds) -> SendReply {
      SendReply(id: 1, answer: answer, requests: 1, startedAt: time, finishedAt: time)
    }
    var statistics = LaneStatistics()
    deliveries.count(reply(.sent, at: start), of: nil, .high)
    statistics.waiting = 359
    statistics.oldestSince = start
    lanes.report(statistics, thread: 0)
    deliveries.count(reply(.unavailable, at: start + 5_000), of: nil, .high)
    reporter.check(now: start + 9_000, steady: 9_000)
    #expect(capture.entries.isEmpty && readiness.remarks.isEmpty)
    reporter.check(now: start + 12_000, steady: 12_000)
    let line = try #require(capture.entries.last)
    #expect(line.level == .warning && line.message == "pushes do not leave")
    #expect(line.metadata["waiting"] == .int(359) && line.metadata["oldestSeconds"] == .int(12))
    #expect(line.metadata["lastAnswer"] == "UNAVAILABLE (HTTP 503)")
    #expect(readiness.isReady)
    let remark = try #require(readiness.remarks["delivery"])
    #expect(remark.contains("359 pushes") && remark.contains("12 s") && remark.contains("UNAVAILABLE (HTTP 503)"))
    #expect(metrics.exposition().contains("\nnudge_delivery_standing 1\n"))
    lanes.report(LaneStatistics(), thread: 0)
    deliveries.count(reply(.sent, at: start + 40_000), of: nil, .high)
    reporter.check(now: start + 41_000, steady: 41_000)
    #expect(capture.entries.map(\.message) == ["pushes do not leave", "pushes leave again"])
    #expect(capture.entries.last?.metadata["lastedSeconds"] == .int(29))
    #expect(readiness.remarks.isEmpty && metrics.exposition().contains("\nnudge_delivery_standing 0\n"))
  }
}
