import NudgeSchema
import Testing

@testable import StreamRuntime

@Suite("An owner counts what comes to lie in its changelog")
struct ChangelogAuditTests {
  private static let second: Milliseconds = 1000

  /// Restored to offset 100, at time 0.
  private func audit() -> ChangelogAudit {
    ChangelogAudit(readTo: 100, sequence: 7, tornSince: nil, steadyNow: 0)
  }

  @Test("own rows, position records and markers, which may come late, are as expected")
  func expected() {
    var audit = audit()
    // Three rows, the position; the marker; the next transaction's rows and position.
    audit.committed(rows: 3, positionAt: 103, sequence: 8, steadyNow: 10)
    audit.committed(rows: 1, positionAt: 106, sequence: 9, steadyNow: 20)
    // The marker of the one before comes behind this position.
    audit.committed(rows: 2, positionAt: 109, sequence: 10, steadyNow: 30)
    // Both.
    audit.committed(rows: 1, positionAt: 113, sequence: 11, steadyNow: 40)
    #expect(!audit.isSuspicious)
    audit.compared(high: 115, steadyNow: 50)
    #expect(!audit.isSuspicious, "the marker of the last")
  }

  @Test("one record more is noticed once no marker is owed")
  func stranger() {
    var audit = audit()
    audit.committed(rows: 1, positionAt: 101, sequence: 8, steadyNow: 10)
    // One record between: a marker, or a stranger's that passes for it.
    audit.committed(rows: 1, positionAt: 104, sequence: 9, steadyNow: 20)
    #expect(!audit.isSuspicious)
    // The owed marker, the next, and the stranger's.
    audit.committed(rows: 1, positionAt: 109, sequence: 10, steadyNow: 30)
    #expect(audit.isSuspicious)
    #expect(audit.mark == .init(offset: 100, sequence: 7), "looked for from where all was known")
    audit.read(to: 111, sequence: 10, isWhole: true, steadyNow: 40)
    #expect(!audit.isSuspicious && audit.mark == .init(offset: 111, sequence: 10))
  }

  @Test("a position record whose offset is not told, or lies before the end, is suspicious")
  func untold() {
    for offset in [nil, 99] as [Int64?] {
      var audit = audit()
      audit.committed(rows: 1, positionAt: offset, sequence: 8, steadyNow: 10)
      #expect(audit.isSuspicious)
    }
  }

  @Test("the log's end is asked for 5 s after something was written, and every two minutes where nothing was")
  func quiet() {
    var audit = audit()
    #expect(audit.isSettled && !audit.isDue(steadyNow: 119 * Self.second) && audit.isDue(steadyNow: 120 * Self.second))
    audit.committed(rows: 1, positionAt: 101, sequence: 8, steadyNow: 10 * Self.second)
    #expect(!audit.isSettled && audit.isDue(steadyNow: 10 * Self.second))
    audit.compared(high: nil, steadyNow: 10 * Self.second)
    #expect(
      !audit.isSuspicious && !audit.isDue(steadyNow: 14 * Self.second) && audit.isDue(steadyNow: 15 * Self.second))
    audit.compared(high: 102, steadyNow: 15 * Self.second)
    #expect(!audit.isSettled && audit.mark.offset == 100, "the marker is missing")
    audit.compared(high: 103, steadyNow: 20 * Self.second)
    #expect(audit.isSettled && audit.mark == .init(offset: 102, sequence: 8))
    #expect(!audit.isDue(steadyNow: 139 * Self.second) && audit.isDue(steadyNow: 140 * Self.second))
    audit.compared(high: 104, steadyNow: 140 * Self.second)
    #expect(audit.isSuspicious && !audit.isDue(steadyNow: 999 * Self.second))
  }

  @Test("while rows are to be written again an end as expected proves nothing")
  func torn() {
    var audit = ChangelogAudit(readTo: 100, sequence: 7, tornSince: .init(offset: 40, sequence: 3), steadyNow: 0)
    audit.compared(high: 100, steadyNow: 1)
    #expect(!audit.isSettled && audit.mark.offset == 40)
    audit.committed(rows: 2, positionAt: 102, sequence: 8, steadyNow: 2)
    audit.compared(high: 104, steadyNow: 3)
    #expect(audit.isSettled && audit.mark == .init(offset: 103, sequence: 8))
  }

  @Test("the mark follows once no transaction is open that was open before it; not while keys are to be written again")
  func mark() {
    var audit = audit()
    audit.read(to: 100, sequence: 7, isWhole: false, steadyNow: 0)
    var offset: Int64 = 101
    for step in 1...5 as ClosedRange<Int64> {
      audit.committed(rows: 1, positionAt: offset, sequence: 7 + step, steadyNow: step * 10 * Self.second)
      offset += 3
      // After 20 s the place of the look counts, after 40 s that of the transaction at 20 s.
      let expected: ChangelogAudit.Mark =
        step < 4 ? .init(offset: 100, sequence: 7) : .init(offset: 105, sequence: 9)
      #expect(audit.mark == expected, "step \(step)")
    }
    audit = ChangelogAudit(readTo: 100, sequence: 7, tornSince: .init(offset: 40, sequence: 3), steadyNow: 0)
    audit.read(to: 120, sequence: 7, isWhole: false, steadyNow: 10)
    #expect(audit.mark == .init(offset: 40, sequence: 3))
  }
}
