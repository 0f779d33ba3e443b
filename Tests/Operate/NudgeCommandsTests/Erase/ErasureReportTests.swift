import NudgeSchema
import Testing

@testable import NudgeCommands

@Suite("nudge erase")
struct ErasureReportTests {
  @Test("the report names each topic, what it has, and how long that stays")
  func places() {
    var report = ErasureReport(userId: "ann", isDryRun: true)
    report.add(
      rows: [.ingest: 3, .analyzer: 5], records: [(.userEvents, 7), (.decisions, 2), (.banners, 1)], settings: [:],
      now: 1_800_000_000_000)
    let text = report.text
    #expect(text.contains("nudge.ingest-state       3"))
    #expect(text.contains("nudge.dispatcher-state   0"))
    #expect(text.contains("user.events              7        retention: 7 d; gone by "))
    #expect(text.contains("nudge.decisions          2        retention: 30 d;"))
    #expect(text.contains("nudge.banners            1        retention: 1 h;"))
    #expect(text.contains("Nothing was written.") && report.isKnown)
  }

  @Test("D16: the report says by when each topic has nothing left, by the settings that it has")
  func times() throws {
    var report = ErasureReport(userId: "ann", isDryRun: true)
    report.add(
      rows: [:],
      records: [(.pushes, 1), (.userEvents, 1), (.decisions, 1), (.outcomes, 1), (.banners, 1)],
      settings: [
        .userEvents: ["retention.ms": "3600000", "segment.ms": "60000"], .decisions: ["retention.ms": "-1"],
        .outcomes: ["retention.ms": "\(Int64.max)", "segment.ms": "\(Int64.max)"],
      ], now: 1_800_000_000_000)
    func place(_ topic: Topic) throws -> ErasureReport.Place {
      try #require(report.places.first { $0.topic == topic.rawValue })
    }
    // 2027-01-15T08:00:00Z; 2 days and a segment of 8 hours.
    #expect(try place(.pushes).goneBy == "2027-01-17T16:00:00.000Z")
    #expect(try place(.userEvents).goneBy == "2027-01-15T09:01:00.000Z")
    #expect(try place(.decisions).goneBy == nil && place(.decisions).goneAfter == "retention: for ever")
    #expect(try place(.outcomes).goneBy == nil)
    #expect(try place(.banners).goneBy == "2027-01-15T09:10:00.000Z")
    // Compaction after a day, tombstones seven days later, and the compaction that removes those.
    #expect(try place(.ingestState).goneBy == "2027-01-24T08:00:00.000Z")
    #expect(report.text.contains("never gone") && report.text.contains("gone by 2027-01-17T16:00:00.000Z"))
    #expect(report.text.contains("--messages"))
  }

  @Test("others are erased first: it waits while ingest's state changes, and no longer than ten times the limit")
  func patience() {
    let start = ContinuousClock.now
    var patience = ErasurePatience(limit: .seconds(120), rows: [.ingest: 3], reached: 10, now: start)
    #expect(patience.isLeft(now: start + .seconds(119)) && !patience.isLeft(now: start + .seconds(120)))
    for second in stride(from: 100, through: 1_100, by: 100) {
      patience.record(rows: [.ingest: 3], reached: Int64(10 + second), now: start + .seconds(second))
      #expect(patience.isLeft(now: start + .seconds(second + 99)))
    }
    patience.record(rows: [.ingest: 2], reached: 2_000, now: start + .seconds(1_199))
    #expect(!patience.isLeft(now: start + .seconds(1_200)))
  }

  @Test("the report says whether the erasure is proven, and which stage still names the person")
  func proof() {
    var report = ErasureReport(userId: "ann", isDryRun: false)
    report.isProven = true
    report.record(rowsLeft: [.ingest: 0, .analyzer: 0])
    #expect(report.text.contains("Erased: no row"))
    report.isProven = false
    report.record(rowsLeft: [.ingest: 0, .analyzer: 4])
    #expect(report.text.contains("analyzer: 4") && !report.text.contains("ingest:"))
  }
}
