import NudgeSchema
import Testing

@testable import NudgeLab
@testable import nudge_research

@Suite("What waiting, catch-ups and a budget change for people")
struct AttentionMeasureTests {
  private static let minute: Milliseconds = 60_000
  /// 2004-12-25T10:00:00Z.
  private static let morning: Milliseconds = 1_103_968_800_000

  private static func log(_ lines: [(minute: Int64, nick: String, replyTo: [Int])]) -> [ChatMessage] {
    lines.enumerated().map { index, line in
      ChatMessage(
        log: "l", number: index + 1, at: morning + line.minute * minute, nick: line.nick, text: "hello there",
        replyTo: line.replyTo, kind: nil)
    }
  }

  @Test("a session is a minute longer than its messages on both sides; who writes has the group open")
  func sessions() {
    let script = AttentionScript(Self.log([(0, "ann", []), (5, "ann", []), (60, "ann", [])]), seed: 1)
    #expect(script.people == [ChatNames.user("ann")])
    var reports: [(minute: Int64, isForeground: Bool, isOpen: Bool)] = []
    for entry in script.entries {
      guard case .report(_, _, let isForeground, let isOpen) = entry.event else { continue }
      reports.append(((entry.at - Self.morning) / Self.minute, isForeground, isOpen))
    }
    let minutes = reports.map(\.minute)
    #expect(minutes == Array(-1...6) + [59, 60, 61])
    let closed = reports.filter { !$0.isForeground }.map(\.minute)
    #expect(closed == [6, 61])
    let writing = reports.filter { [0, 5, 60].contains($0.minute) }
    #expect(writing.count == 3)
    for report in writing { #expect(report.isOpen) }
  }

  @Test("a script is in the order of time, and is a function of its seed")
  func order() {
    let log = Self.log((0..<200).map { (Int64($0), ["ann", "ben", "cleo"][$0 % 3], []) })
    let script = AttentionScript(log, seed: 1)
    let times = script.entries.map(\.at)
    #expect(times == times.sorted())
    #expect(AttentionScript(log, seed: 1).entries == script.entries)
    #expect(AttentionScript(log, seed: 2).entries != script.entries)
    #expect(script.entries.last?.at == AttentionScript.nextCatchUp(after: log[199].at))
  }

  @Test("D20: at level all each of 30 messages interrupts who is away; with 10 alerts a day the rest is shown at once")
  func budget() throws {
    // Ann writes once, and Ben thirty times while she is away; he answers her each time.
    let lines = [(minute: Int64(0), nick: "ann", replyTo: [Int]())]
    let log = Self.log(lines + (0..<30).map { (20 + Int64($0), "ben", [1]) })
    var measure = AttentionMeasure(level: .all, seed: 1)
    try measure.add(log)
    func sums(_ setting: AttentionMeasure.Setting) throws -> AttentionMeasure.Sums {
      try #require(measure.logs[setting]?.first)
    }
    let off = try sums(.off)
    #expect((off.days, off.alerts, off.meant, off.heard, off.seen, off.late) == (2, 30, 30, 30, 30, 0))
    // She is not at any device, so that nothing waits.
    #expect(try sums(.wait) == off)
    #expect(try sums(.catchUp) == off)
    let budget = try sums(.budget)
    #expect(budget.alerts <= 10 && budget.alerts > 0 && budget.heard == budget.alerts)
    #expect((budget.seen, budget.late) == (30, 0))
  }

  @Test("D18: what only changed the badge of a large group is seen in the catch-up, and never without one")
  func catchUp() throws {
    // Two dozen people make the group a large one; then Ben writes to nobody in particular while all are away.
    let people = (0..<24).map { (minute: Int64($0), nick: "person\($0)", replyTo: [Int]()) }
    let log = Self.log(people + (0..<3).map { (60 + Int64($0), "ben", [24]) })
    var measure = AttentionMeasure(level: .smart, seed: 1)
    try measure.add(log)
    let (wait, catchUp) = try (
      #require(measure.logs[.wait]?.first), #require(measure.logs[.catchUp]?.first)
    )
    #expect(wait.meant == 3 && catchUp.meant == 3)
    #expect(wait.late > 0 && wait.caughtUp == 0)
    #expect(catchUp.late == 0 && catchUp.caughtUp == wait.late)
  }

  @Test("fewer alerts is a share of those without any of it; intervals draw the same logs of both")
  func summary() {
    var off = AttentionMeasure.Sums()
    (off.days, off.alerts, off.meant, off.heard, off.seen) = (2, 20, 10, 8, 9)
    var own = off
    (own.alerts, own.heard, own.seen, own.seenThatDay, own.caughtUp) = (10, 4, 7, 2, 1)
    let summary = AttentionSummary(.budget, [own, own], off: [off, off], seed: 1)
    #expect(summary.alertsPerDay == .init(value: 5, low: 5, high: 5))
    #expect(summary.fewerAlerts == .init(value: 0.5, low: 0.5, high: 0.5))
    #expect(summary.heardSoon.value == 0.4 && summary.seenSoon.value == 0.7 && summary.seenThatDay.value == 0.2)
    #expect(summary.caughtUp.value == 0.1 && summary.late.value == 0.1 && summary.lateMessages == 2)
    #expect(ResampledFigure.rounded(31.42) == "31.4")
    let svg = AttentionPlot(title: "t", summaries: [summary]).svg
    #expect(svg.hasPrefix("<svg") && svg.contains("40.0 % with a sound within 10 s") && svg.contains(">5.00<"))
  }
}
