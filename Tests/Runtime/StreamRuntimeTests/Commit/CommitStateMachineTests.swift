import NudgeSchema
import Testing

@testable import StreamRuntime

@Suite("The state machine of commits")
struct CommitStateMachineTests {
  private func failure(_ kind: IOFailure.Kind) -> IOFailure { IOFailure(kind: kind, operation: "test", reason: "test") }

  private func ready() -> CommitStateMachine {
    var machine = CommitStateMachine()
    #expect(machine.next(steadyNow: 0) == .openProducer)
    machine.producerOpened()
    return machine
  }

  @Test("with a producer, transactions begin one after the other")
  func begins() {
    var machine = ready()
    #expect(machine.next(steadyNow: 0) == .begin)
    machine.committed()
    #expect(machine.next(steadyNow: 5) == .begin)
  }

  @Test("after a failure: a new producer, a look at the positions, a doubling wait, a retry")
  func recovers() {
    var machine = ready()
    for round in 0..<12 {
      machine.failed(isFenced: false)
      #expect(machine.next(steadyNow: 0) == .openProducer)
      machine.producerOpened()
      #expect(machine.next(steadyNow: 0) == .checkPositions)
      machine.positionsChecked(steadyNow: 0)
      #expect(machine.next(steadyNow: 0) == .wait(until: min(10 << Int64(round), 1000)))
    }
    #expect(machine.next(steadyNow: 1000) == .begin)
    machine.committed()
    machine.failed(isFenced: false)
    machine.producerOpened()
    machine.positionsChecked(steadyNow: 0)
    #expect(machine.next(steadyNow: 0) == .wait(until: 10), "a commit ends the series")
  }

  @Test("a broker that was away: a new epoch and a look, without a wait")
  func lostBroker() {
    var machine = ready()
    machine.producerLost()
    #expect(machine.next(steadyNow: 0) == .openProducer)
    machine.producerOpened()
    #expect(machine.next(steadyNow: 0) == .checkPositions)
    machine.positionsChecked(steadyNow: 0)
    #expect(machine.next(steadyNow: 0) == .begin, "nothing failed: no wait")
  }

  @Test("a producer that cannot be opened is tried again later")
  func waitsForBroker() {
    var machine = CommitStateMachine()
    machine.producerFailed(failure(.retriable), steadyNow: 100)
    #expect(machine.next(steadyNow: 100) == .wait(until: 110))
    #expect(machine.next(steadyNow: 110) == .openProducer)
  }

  @Test("after fencing, by a transaction or a new producer, there is nothing more")
  func fenced() {
    var machine = ready()
    machine.failed(isFenced: true)
    #expect(machine.next(steadyNow: 0) == .exitFenced)
    machine.producerOpened()
    #expect(machine.next(steadyNow: 0) == .exitFenced)
    var other = CommitStateMachine()
    other.producerFailed(failure(.fenced), steadyNow: 0)
    #expect(other.next(steadyNow: 1000) == .exitFenced)
  }
}

@Suite("Proof of ownership")
struct OwnershipProofTests {
  @Test("it holds for less than half a session from the start of the transaction, and not beyond a rebalance")
  func validity() {
    var proof = OwnershipProof(sessionTimeout: 30_000)
    #expect(!proof.holds(at: 0))
    proof.proven(at: 1000)
    #expect(proof.holds(at: 15_999))
    #expect(!proof.holds(at: 16_000))
    proof.proven(at: 500)
    #expect(proof.holds(at: 15_999), "an older proof does not shorten a newer one")
    proof.forget()
    #expect(!proof.holds(at: 1001))
  }
}
