import TestSupport
import Testing

@testable import Analyzer

/// `SCHEDULES` says how many schedules, from seed `SEED` on: `Tests/trial schedules`.
@Suite("Waits, catch-ups, a bound on alerts and messages said again, all at once")
struct AttentionPropertyTests {
  private static let first: UInt64 = runParameter("SEED") ?? UInt64.random(in: 0..<1 << 48)
  private static let schedules: UInt64 = runParameter("SCHEDULES") ?? 60

  @Test(
    """
    issue 41: never a push after a read, one final decision, each held message in one catch-up or read, no bound broken across time \
    zones and daylight saving, nothing said again after a read
    """)
  func schedules() throws {
    print("attention: SEED=\(Self.first) SCHEDULES=\(Self.schedules)")
    var total = AttentionOracle.Tally()
    for seed in Self.first..<Self.first + Self.schedules {
      var life = try AttentionLife(seed: seed)
      if let fault = try life.play() {
        let log = AttentionLog(isKept: true)
        var again = try AttentionLife(seed: seed, log: log)
        _ = try again.play()
        Issue.record(
          """
          \(fault)
          again with: Tests/trial schedules SCHEDULES=1 SEED=\(seed)
          \(log.lines.suffix(120).joined(separator: "\n"))
          """)
        return
      }
      total += life.oracle.tally
    }
    print("attention: \(Self.schedules) schedules, \(total)")
    // The schedules reach what they are about: at least a third of the averages of 5,000.
    let count = Int(Self.schedules)
    guard count >= 50 else { return }
    #expect(total.held > count / 4 && total.readInTime >= count / 100, "\(total)")
    #expect(total.alerts > count && total.caughtUp > count * 2 / 3, "\(total)")
    #expect(total.again > count && total.told > count / 2, "\(total)")
  }
}
