@testable import FCMEmulator
import HTTPTransport
import NudgeSchema
import ServiceKit
import StreamRuntime
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

@Suite("A wall clock that is set holds nothing back")
struct ClockTests {
  private static let hours: Milliseconds = 2 * 3_600_000

  private func push(_ id: String, user: String = "ann", platform: Platform = .ios) -> Push {
    DispatcherBench.push(id, user: user, expiresIn: 100 * 3_600_000, platform: platform)
  }

  @Test("P3: a retry is due by the steady clock, whether the wall clock was ahead when it was decided or after")
  func retry() throws {
    for aheadWhenDecided in [true, false] {
      let bench = DispatcherBench()
      if aheadWhenDecided { bench.setWallClock(by: Self.hours) }
      try bench.send(push("p1"))
      try bench.answer(.unavailable)
      let due = try #require(bench.wakeAt) - bench.driver.steadyNow
      #expect((10_000...20_000).contains(due))
      if !aheadWhenDecided { bench.setWallClock(by: Self.hours) }
      bench.setWallClock(by: -Self.hours)
      try bench.wake()
      #expect(bench.air.map(\.attempt) == [2])
    }
  }

  @Test("P3: a time in a row that is hours ahead is capped by the longest wait when the task begins")
  func storedWait() throws {
    let bench = DispatcherBench()
    bench.setWallClock(by: Self.hours)
    try bench.send(push("p1"))
    try bench.answer(.unavailable)
    bench.setWallClock(by: -Self.hours)
    try bench.restart()
    #expect(try #require(bench.wakeAt) - bench.driver.steadyNow <= 330_000)
    try bench.wake()
    #expect(bench.air.map(\.attempt) == [2])
    // Its failing time is ahead too, and counts from now.
    try bench.answer(.unavailable)
    #expect(bench.outcomes.isEmpty)
  }

  @Test("P6: a breaker that opened while the wall clock was ahead is probed in time")
  func breaker() throws {
    let bench = DispatcherBench()
    bench.setWallClock(by: Self.hours)
    try bench.send(push("p1"))
    try bench.answer(.noProject)
    bench.setWallClock(by: -Self.hours)
    let opened = bench.driver.steadyNow
    try bench.wake()
    #expect(bench.air.count == 1 && bench.driver.steadyNow - opened == 5_000)
  }

  @Test("P5: limits of a device and quotas count by the steady clock")
  func limits() throws {
    let bench = DispatcherBench { $0.deviceRequestsPerMinute = 5 }
    bench.setWallClock(by: Self.hours)
    for number in 0..<6 {
      try bench.send(push("p\(number)", platform: .android))
      if !bench.air.isEmpty { try bench.answer(.sent) }
    }
    #expect(bench.outcomes.count == 5)
    bench.setWallClock(by: -Self.hours)
    let from = bench.driver.steadyNow
    try bench.wakeUntilSent()
    #expect(bench.air.count == 1 && bench.driver.steadyNow - from <= 120_000)
  }

  @Test("P6: a Retry-After of a day for the project is probed every five minutes at least")
  func longRetryAfter() throws {
    for verdict in [PushAnswer.Verdict.quotaExceeded(.project), .projectRefused, .platformRefused] {
      let bench = DispatcherBench()
      try bench.send(push("p1"))
      let answer = PushAnswer(verdict, httpStatus: 429, retryAfter: 86_400_000)
      for _ in 0..<5 {
        let before = bench.driver.steadyNow
        try bench.answer(answer)
        try bench.wakeUntilSent()
        #expect(bench.driver.steadyNow - before <= 300_000)
        #expect(bench.air.count == 1)
      }
      try bench.answer(.sent)
      #expect(bench.outcomes.map(\.result) == [.sent])
    }
  }

  @Test("P1: access tokens live and are retried by the steady clock, and a long Retry-After is capped at five minutes")
  func accessTokens() throws {
    let clock = HandClock()
    let http = StandInHTTP()
    let emulator = try FCMEmulator()
    let source = AccessTokenSource(
      account: try ServiceAccount(file: emulator.serviceAccountFile), http: http,
      log: Logger(label: "fcm", sink: LogCapture().sink), clocks: clock.clocks, jitter: { 0 })
    let results = Mutex<[String]>([])
    func want() -> String? {
      source.withToken { result in
        results.withLock { $0.append((try? result.get()) ?? "failed") }
      }
      return results.withLock { $0.last }
    }
    http.answer = HTTPResponse(status: 503, headers: HTTPResponse.Headers([("retry-after", "86400")]))
    #expect(want() == "failed")
    clock.wall.withLock { $0 += Self.hours }
    #expect(want() == "failed" && http.requests.count == 1, "the wall clock does not bring the next fetch forward")
    http.answer = StandInHTTP.token("t1")
    clock.steady.withLock { $0 += 300_000 }
    #expect(want() == "t1" && http.requests.count == 2)
    clock.wall.withLock { $0 -= 2 * Self.hours }
    #expect(want() == "t1" && http.requests.count == 2)
    clock.wall.withLock { $0 += 4 * Self.hours }
    #expect(want() == "t1" && http.requests.count == 2, "it is valid for an hour by the steady clock")
  }
}
