import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("After FCM was away")
struct RecoveryTests {
  /// Fails every request until the time has come.
  private func fail(_ bench: DispatcherBench, with answer: FCMAnswer, until end: Milliseconds) throws {
    while true {
      while let request = bench.air.first { try bench.answer(answer, to: request) }
      guard let wake = bench.wakeAt, bench.now + max(0, wake - bench.driver.steadyNow) < end else { break }
      try bench.wake()
    }
    bench.now = end
  }

  @Test("P3: the first judgement after an outage ends the waits of all lanes of the project, spread over some seconds")
  func ends() throws {
    let bench = DispatcherBench { $0.timeBudget = 3_000_000 }
    for person in 0..<50 { try bench.send(DispatcherBench.push("p\(person)", user: "u\(person)")) }
    try fail(bench, with: .reset, until: DispatcherBench.start + 480_000)
    #expect(bench.outcomes.isEmpty)
    // Somebody else's push is the first that arrives.
    try bench.send(DispatcherBench.push("new", user: "eve", at: bench.now))
    try bench.answer(.sent)
    let recovered = bench.now
    var sentAt: [Milliseconds] = []
    while bench.outcomes.count < 51 {
      try bench.wakeUntilSent()
      while let request = bench.air.first {
        sentAt.append(bench.now - recovered)
        try bench.answer(.sent, to: request)
      }
    }
    #expect(sentAt.allSatisfy { $0 <= 5_000 }, "\(sentAt.max() ?? 0)")
    #expect(sentAt.count { $0 < 2_500 } > 10 && sentAt.count { $0 >= 2_500 } > 10)
  }

  @Test("P3: a lone push is tried every minute at the latest, however long FCM has been away")
  func alone() throws {
    let bench = DispatcherBench { $0.timeBudget = 3_000_000 }
    try bench.send(DispatcherBench.push("p1"))
    try fail(bench, with: .reset, until: DispatcherBench.start + 1_200_000)
    let before = bench.now
    try bench.wakeUntilSent()
    #expect(bench.now - before <= 60_000)
  }

  @Test("P3: a failure now and then hurries nobody, and no wait falls below what Google or the answer asks for")
  func floors() throws {
    let bench = DispatcherBench { $0.timeBudget = 3_000_000 }
    try bench.send(DispatcherBench.push("p1", user: "u1"))
    try bench.answer(.unavailable)
    let due = try #require(bench.wakeAt)
    bench.now += 5_000
    try bench.send(DispatcherBench.push("p2", user: "u2"))
    try bench.answer(.sent)
    #expect(bench.wakeAt == due)
    // An outage of a minute; the last answer asks for more time than that.
    try fail(bench, with: .unavailable, until: bench.now + 60_000)
    var slow = FCMAnswer.unavailable
    slow.retryAfter = 90_000
    try bench.send(DispatcherBench.push("p3", user: "u3", at: bench.now))
    try bench.answer(slow)
    let asked = bench.now
    try bench.send(DispatcherBench.push("p4", user: "u4", at: bench.now))
    try bench.answer(.sent)
    var times: [String: Milliseconds] = [:]
    while bench.outcomes.count < 4 {
      try bench.wakeUntilSent()
      while let request = bench.air.first {
        times[request.subject.pushId] = bench.now - asked
        try bench.answer(.sent, to: request)
      }
    }
    #expect(try #require(times["p1"]) <= 10_000 + 5_000)
    #expect(try #require(times["p3"]) >= 90_000)
  }
}
