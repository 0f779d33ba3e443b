import Testing

@testable import StreamRuntime

@Suite("The wait for company between transactions")
struct CommitPacingTests {
  private func pacing() -> CommitPacing {
    var limits = StreamLimits()
    limits.maxCommitWait = 10
    limits.worthwhileRecords = 16
    limits.worthwhileBytes = 1000
    return CommitPacing(limits)
  }

  private func work(_ records: Int, bytes: Int = 0) -> PendingWork {
    var work = PendingWork()
    work.add(records: records, bytes: bytes)
    return work
  }

  @Test("the first transaction, and one long after the last, begin at once")
  func atOnce() {
    var pacing = pacing()
    #expect(pacing.isDue(work(1), at: 0))
    pacing.committed(work(1), took: 8, at: 100)
    #expect(pacing.isDue(work(1), at: 108))
  }

  @Test("a transaction that carried little is followed by a wait as long as it took, at most by the longest")
  func waits() {
    var pacing = pacing()
    pacing.committed(work(15), took: 4, at: 100)
    #expect(!pacing.isDue(work(1), at: 103))
    #expect(pacing.isDue(work(1), at: 104))
    pacing.committed(work(1), took: 900, at: 1000)
    #expect(!pacing.isDue(work(15), at: 1009))
    #expect(pacing.isDue(work(0), at: 1010), "a timer's output alone")
    pacing.committed(work(1), took: 0, at: 2000)
    #expect(pacing.isDue(work(1), at: 2000))
  }

  @Test("enough records end the wait, and a transaction that had them is followed by none")
  func company() {
    var pacing = pacing()
    pacing.committed(work(1), took: 10, at: 100)
    #expect(pacing.isDue(work(16), at: 100))
    pacing.committed(work(16), took: 10, at: 120)
    #expect(pacing.isDue(work(1), at: 120))
  }

  @Test("large outputs of one record are company")
  func bytes() {
    var pacing = pacing()
    pacing.committed(work(1, bytes: 999), took: 10, at: 100)
    #expect(!pacing.isDue(work(1, bytes: 999), at: 100))
    #expect(pacing.isDue(work(1, bytes: 1000), at: 100))
    pacing.committed(work(1, bytes: 1000), took: 10, at: 100)
    #expect(pacing.isDue(work(1), at: 100))
  }

  @Test("a longest wait of 0 is none")
  func off() {
    var limits = StreamLimits()
    limits.maxCommitWait = 0
    var pacing = CommitPacing(limits)
    pacing.committed(work(1), took: 50, at: 100)
    #expect(pacing.isDue(work(1), at: 100))
  }
}
