import NudgeSchema
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

@Suite("P5: the project's quota")
struct SendRateTests {
  /// Requests let through in each of the given seconds, when there are always more.
  private func letThrough(_ rate: inout SendRate, seconds: Range<Int>) -> [Int] {
    seconds.map { second in
      (0..<1_000).reduce(0) { count, millisecond in
        var taken = 0
        while rate.take(at: Milliseconds(second * 1_000 + millisecond)) { taken += 1 }
        return count + taken
      }
    }
  }

  @Test("P5: it grows evenly to 10,000 a second within a minute and is never above")
  func ramp() {
    var rate = SendRate(perMinute: 600_000, rampUp: 60_000, start: 0)
    let seconds = letThrough(&rate, seconds: 0..<70)
    #expect((500...600).contains(seconds[0]))
    #expect((4_900...5_200).contains(seconds[30]))
    #expect(seconds[61...].allSatisfy { (9_990...10_010).contains($0) })
    #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $0 <= $1 + 60 })
  }

  @Test("P5: a silence saves up no more than a tenth of a second's worth")
  func noGusts() {
    var rate = SendRate(perMinute: 600_000, rampUp: 60_000, start: 0)
    var taken = 0
    while rate.take(at: 3_600_000) { taken += 1 }
    #expect(taken == 1_000)
  }

  @Test("P5: what is above the rate waits its turn, in order; at the end who waits is told")
  func pacer() async throws {
    let box = Clock()
    let pacer = SendPacer(perMinute: 600, rampUp: 1, now: { box.now })
    box.now = 1_000
    for number in 0..<5 { pacer.enqueue { box.note(number, $0) } }
    #expect(box.turns.map(\.number) == [0])
    // 600 a minute: one each 100 ms.
    for expected in 2...4 {
      box.now += 100
      let end = ContinuousClock.now + .seconds(30)
      while box.turns.count < expected, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(2)) }
      #expect(box.turns.map(\.number) == Array(0..<expected))
    }
    pacer.stop()
    #expect(box.turns.map(\.maySend) == [true, true, true, true, false])
    pacer.enqueue { box.note(5, $0) }
    #expect(box.turns.last?.maySend == false)
  }

  @Test("P5: a million turns through the pacer, half of them at once and half by the tick: memory stays flat")
  func manyTurns() {
    let rounds = 1_000_000
    let done = Tally()
    let growth = Endurance.residentGrowth {
      // The clock leaps a second a look, so that the rate allows some hundred turns a look and refuses in between.
      let clock = Tally()
      let pacer = SendPacer(perMinute: 60_000, rampUp: 1, now: { Milliseconds(clock.add(100)) })
      for _ in 0..<rounds { pacer.enqueue { _ in done.add(1) } }
      wait(for: "all turns") { done.value >= rounds - 1_000 }
      pacer.stop()
    }
    #expect(done.value == rounds)
    #expect(growth < 64 << 20)
  }
}

private final class Tally: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .relaxed) }
  @discardableResult
  func add(_ more: Int) -> Int { count.add(more, ordering: .relaxed).newValue }
}

/// A clock set by hand, and a note of who had their turn.
private final class Clock: Sendable {
  private let state = Mutex<(now: Milliseconds, turns: [(number: Int, maySend: Bool)])>((0, []))
  var now: Milliseconds {
    get { state.withLock { $0.now } }
    set { state.withLock { $0.now = newValue } }
  }
  var turns: [(number: Int, maySend: Bool)] { state.withLock { $0.turns } }
  func note(_ number: Int, _ maySend: Bool) { state.withLock { $0.turns.append((number, maySend)) } }
}
