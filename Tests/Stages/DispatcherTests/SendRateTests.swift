import NudgeSchema
import Testing

@testable import Dispatcher

@Suite("P5: the project's quota")
struct SendRateTests {
  /// Requests let through in each of the given seconds, when there are always more.
  private func letThrough(_ rate: inout SendRate, seconds: Range<Int>) -> [Int] {
    seconds.map { second in
      (0..<1_000).reduce(0) { $0 + rate.takeAll(at: Milliseconds(second * 1_000 + $1), atMost: 20_000 - $0) }
    }
  }

  @Test("P5: it grows linearly to 10,000 a second within a minute and is never above")
  func ramp() {
    var rate = SendRate(perMinute: 600_000, rampUp: 60_000, start: 0)
    let seconds = letThrough(&rate, seconds: 0..<70)
    #expect((500...600).contains(seconds[0]))
    #expect((4_900...5_200).contains(seconds[30]))
    #expect(seconds[61...].allSatisfy { (9_990...10_010).contains($0) })
    #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $0 <= $1 + 60 })
  }

  @Test("P5: a pause saves up the requests of a tenth of a second at most")
  func noGusts() {
    var rate = SendRate(perMinute: 600_000, rampUp: 60_000, start: 0)
    #expect(rate.takeAll(at: 3_600_000) == 1_000)
  }

  @Test("P5: after the wait that it returns a request may be sent, at every rate")
  func waits() throws {
    for perMinute in [60, 300, 6_000, 600_000] {
      var rate = SendRate(perMinute: perMinute, rampUp: 1, start: 0)
      var now: Milliseconds = 10_000
      for _ in 0..<1_000 {
        _ = rate.takeAll(at: now)
        let wait = try #require(rate.wait(at: now))
        #expect(wait >= SendRate.shortestWait)
        #expect(wait <= 60_000 / Milliseconds(perMinute) + SendRate.shortestWait)
        now += wait
        #expect(rate.wait(at: now) == nil)
      }
    }
  }
}

extension SendRate {
  /// Takes requests until none may be sent. The bound lets a test of a rate without one fail in place of never ending.
  fileprivate mutating func takeAll(at now: Milliseconds, atMost bound: Int = 20_000) -> Int {
    var taken = 0
    while taken < bound, take(at: now) { taken += 1 }
    return taken
  }
}
