import NudgeSchema
import Testing

@testable import NudgeLab
@testable import nudge_research

@Suite("What policies cost people")
struct CostMeasureTests {
  private static func log() -> [ChatMessage] {
    let lines: [(nick: String, text: String, replyTo: [Int])] = [
      ("ann", "hello all", []), ("ben", "hi", [1]), ("cleo", "does anybody know apt?", []),
      ("ann", "cleo: yes, ask", [3]), ("ben", "ann: where is it?", [4]),
    ]
    return lines.enumerated().map { index, line in
      ChatMessage(
        log: "l", number: index + 1, at: 1_100_000_000_000 + Int64(index) * 120_000, nick: line.nick, text: line.text,
        replyTo: line.replyTo, kind: nil)
    }
  }

  @Test("D14: at all each message alerts, at mentions those that name the person; small groups show all")
  func policies() throws {
    var measure = CostMeasure()
    try measure.add(Self.log())
    func sums(_ policy: CostMeasure.Policy) throws -> CostMeasure.Sums { try #require(measure.logs[policy]?.first) }
    let all = try sums(.all)
    #expect((all.days, all.pairs, all.alerts) == (3, 7, 7))
    #expect((all.meant, all.meantAlerting, all.meantVisible, all.strayAlerts) == (3, 3, 3, 4))
    let mentions = try sums(.mentions)
    #expect((mentions.alerts, mentions.meantAlerting, mentions.meantVisible, mentions.strayAlerts) == (2, 2, 2, 0))
    #expect(try sums(.smartVisible).meantVisible == 3)
    #expect(measure.counts[.all]?.first?.sorted() == [2, 2, 3])
  }

  @Test("mean, median and the 90 of 100 have intervals over whole logs; equal logs have none")
  func intervals() {
    var sums = CostMeasure.Sums()
    (sums.days, sums.alerts, sums.meant, sums.meantAlerting, sums.meantVisible) = (2, 2, 4, 1, 2)
    var busy = sums
    (busy.alerts, busy.meantAlerting) = (8, 3)
    let summary = CostSummary(.all, [sums, busy], [[0, 2], [4, 4]], seed: 1)
    #expect(summary.personDays == 4 && summary.meant == 8)
    #expect(summary.alertsPerDay == .init(value: 2.5, low: 1, high: 4))
    #expect(summary.medianAlerts == .init(value: 4, low: 2, high: 4))
    #expect(summary.p90Alerts == .init(value: 4, low: 2, high: 4))
    #expect(summary.meantAlerting == .init(value: 0.5, low: 0.25, high: 0.75))
    #expect(summary.meantVisible == .init(value: 0.5, low: 0.5, high: 0.5))
    #expect(summary.meantNothing == .init(value: 0.5, low: 0.5, high: 0.5))
  }
}
