import Testing

@testable import StreamRuntime

@Suite("What a stream thread may take")
struct IntakeTests {
  private static let limits: StreamLimits = {
    var limits = StreamLimits()
    (limits.maxBatchRecords, limits.maxTransactionBytes, limits.maxTransactionRows) = (100, 1_000, 50)
    limits.maxEffects = 10
    return limits
  }()

  private func intake(
    records: Int = 0, bytes: Int = 0, rows: Int = 0, commitFailed: Bool = false, outcomeIsNear: Bool = false,
    effects: Int = 0, stageHolds: Bool = false, isPaused: Bool = false
  ) -> Intake {
    var work = PendingWork()
    work.add(records: records, bytes: bytes, rows: rows)
    return Intake(
      work, commitFailed: commitFailed, outcomeIsNear: outcomeIsNear, effects: effects, stageHolds: stageHolds,
      isPaused: isPaused, Self.limits)
  }

  @Test("records are taken while they fit a transaction: fewer than its records and rows, no more than its bytes")
  func transaction() {
    for open in [intake(), intake(records: 99), intake(bytes: 1_000), intake(rows: 50)] {
      #expect(open == .open(room: 100) && open.takesRecords && !open.isClosed && !open.pausesInputs)
    }
    for full in [intake(records: 100), intake(bytes: 1_001), intake(rows: 51)] {
      #expect(full == .closed(.transactionFull(endsSoon: false)) && full.pausesInputs && full.room == 0)
    }
  }

  @Test("a full transaction behind one whose outcome is near does not pause the inputs, unless something else does")
  func outcomeIsNear() {
    let near = intake(records: 100, outcomeIsNear: true)
    #expect(near == .closed(.transactionFull(endsSoon: true)) && near.isClosed && !near.pausesInputs)
    for held in [
      intake(records: 100, outcomeIsNear: true, isPaused: true),
      intake(records: 100, outcomeIsNear: true, effects: 11),
      intake(records: 100, outcomeIsNear: true, stageHolds: true),
    ] { #expect(held == .closed(.transactionFull(endsSoon: false)) && held.pausesInputs) }
  }

  @Test("behind a failed commit nothing is taken, whatever else there is")
  func failed() {
    for closed in [
      intake(commitFailed: true), intake(records: 100, commitFailed: true, outcomeIsNear: true),
      intake(commitFailed: true, effects: 11, isPaused: true),
    ] { #expect(closed == .closed(.commitFailed) && closed.pausesInputs && !closed.takesRecords) }
  }

  @Test("effects above their bound, or the stage's, leave replies and timers; inputs resume at half of the bound")
  func held() {
    for held in [intake(effects: 11), intake(stageHolds: true), intake(effects: 11, isPaused: true)] {
      #expect(held == .repliesOnly && !held.isClosed && !held.takesRecords && held.pausesInputs)
    }
    #expect(intake(effects: 10) == .open(room: 100))
    // Polled records are processed, nothing is fetched.
    let halfway = intake(effects: 6, isPaused: true)
    #expect(halfway == .open(room: 0) && halfway.takesRecords && halfway.pausesInputs)
    #expect(intake(effects: 5, isPaused: true) == .open(room: 100))
  }
}
