import NudgeSchema
import Testing

@testable import NudgeCommands

@Suite("nudge erase")
struct ErasureReportTests {
  @Test("the report names each topic, what it has, and how long that stays")
  func places() {
    var report = ErasureReport(userId: "ann", isDryRun: true)
    report.add(rows: [.ingest: 3, .analyzer: 5], records: [(.userEvents, 7), (.decisions, 2), (.banners, 1)])
    let text = report.text
    #expect(text.contains("nudge.ingest-state       3"))
    #expect(text.contains("nudge.dispatcher-state   0"))
    #expect(text.contains("user.events              7        retention: 7 d"))
    #expect(text.contains("nudge.decisions          2        retention: 30 d"))
    #expect(text.contains("nudge.banners            1        retention: 1 h"))
    #expect(text.contains("Nothing was changed."))
  }

  @Test("the report says whether the erasure is proven, and which stage still names the person")
  func proof() {
    var report = ErasureReport(userId: "ann", isDryRun: false)
    report.isProven = true
    report.note(rowsLeft: [.ingest: 0, .analyzer: 0])
    #expect(report.text.contains("Erased: no row"))
    report.isProven = false
    report.note(rowsLeft: [.ingest: 0, .analyzer: 4])
    #expect(report.text.contains("analyzer: 4") && !report.text.contains("ingest:"))
  }
}
