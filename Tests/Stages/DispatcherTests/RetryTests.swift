import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("Retries and results")
struct RetryTests {
  @Test("P3: after a server error the push is sent again after 10 s at least, until its freshness ends: gave_up")
  func untilFreshness() throws {
    let bench = DispatcherBench { $0.timeBudget = 3_600_000 }
    try bench.send(DispatcherBench.push("p1", expiresIn: 3_600_000))
    var waits: [Milliseconds] = []
    while !bench.air.isEmpty {
      let answered = bench.now
      try bench.answer(.unavailable)
      try bench.wakeUntilSent()
      if !bench.air.isEmpty { waits.append(bench.now - answered) }
    }
    #expect(bench.outcomes.map(\.result) == [.gaveUp])
    #expect(bench.outcomes[0].attempts == waits.count + 1)
    #expect(bench.outcomes[0].errorCode == "UNAVAILABLE")
    #expect(bench.outcomes[0].httpStatus == 503)
    #expect(bench.outcomes[0].finishedAt <= DispatcherBench.start + 3_600_000)
    #expect(waits.allSatisfy { (10_000...300_000).contains($0) })
    #expect(waits[0] <= 20_000)
    #expect(waits.count > 10)
    // Jitter: hardly two waits are the same.
    #expect(Set(waits).count > waits.count * 9 / 10)
  }

  @Test("P3: a retry of one device blocks no other device and no other person")
  func blocksNobody() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.answer(.unavailable)
    try bench.send(DispatcherBench.push("p2"))
    try bench.send(DispatcherBench.push("p3", devices: ["tablet"]))
    try bench.send(DispatcherBench.push("p4", user: "eve"))
    #expect(bench.air.map(\.pushId) == ["p3", "p4"])
  }

  @Test("P3, P6: the time for which a breaker was open does not count against a push that was failing before")
  func breakerTime() throws {
    let bench = DispatcherBench { $0.timeBudget = 60_000 }
    try bench.send(DispatcherBench.push("p1", user: "u1"))
    try bench.send(DispatcherBench.push("p2", user: "u2"))
    try bench.answer(.unavailable)
    var refusal = PushAnswer.noProject
    refusal.retryAfter = 120_000
    try bench.answer(refusal)
    // p1 is due meanwhile, and waits for the breaker. The first that is sent is p2, whose answer closes it.
    try bench.wakeUntilSent()
    #expect(bench.now == DispatcherBench.start + 120_000)
    #expect(bench.air.map(\.pushId) == ["p2"])
    try bench.answer(.sent)
    #expect(bench.air.map(\.pushId) == ["p1"])
    try bench.answer(.unavailable)
    #expect(bench.outcomes.map(\.pushId) == ["p2"])
    try bench.wakeUntilSent()
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.result) == [.sent, .sent])
  }

  @Test("P3: a restart does not change when a retry is due")
  func survives() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.answer(.unavailable)
    let due = try #require(bench.wakeAt)
    try bench.restart()
    #expect(bench.wakeAt == due)
    #expect(bench.air.isEmpty)
    try bench.wake()
    #expect(bench.air.map(\.attempt) == [2])
  }

  @Test("P3: after a failed connection the wait is 1 s at least")
  func connection() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.answer(.reset)
    let wait = try #require(bench.wakeAt) - bench.now
    #expect((1_000...2_000).contains(wait))
  }

  @Test("P3: Retry-After is the least wait")
  func retryAfter() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    var answer = PushAnswer.unavailable
    answer.retryAfter = 120_000
    try bench.answer(answer)
    #expect((120_000...132_000).contains(try #require(bench.wakeAt) - bench.now))
  }

  @Test("P3: a push that could be sent only past its freshness gives up at once")
  func givesUpAtOnce() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", expiresIn: 100_000))
    var answer = PushAnswer.unavailable
    answer.retryAfter = 120_000
    try bench.answer(answer)
    #expect(bench.outcomes.map(\.result) == [.gaveUp])
  }

  @Test("P5: a device's 429 delays that device, a minute at least without Retry-After")
  func deviceQuota() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.answer(PushAnswer(.quotaExceeded(.device), httpStatus: 429, errorCode: "QUOTA_EXCEEDED"))
    #expect(try #require(bench.wakeAt) - bench.now >= 60_000)
    try bench.send(DispatcherBench.push("p2", user: "eve"))
    #expect(bench.air.map(\.pushId) == ["p2"])
  }

  @Test("T3: an unregistered token ends as invalid_token and is announced once, with hash, version and code")
  func invalidToken() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", version: 7))
    try bench.answer(.unregistered)
    #expect(bench.outcomes.map(\.result) == [.invalidToken])
    #expect(
      bench.invalidated == [
        DeviceInvalidated(
          userId: "ann", deviceId: "phone", tokenHash: DispatcherRules.sha256("token-phone-7"), version: 7,
          code: "UNREGISTERED")
      ])
    // Nothing of it is left to be sent again, now or by the next owner.
    #expect(bench.air.isEmpty)
    #expect(bench.wakeAt == nil)
    try bench.restart()
    #expect(bench.air.isEmpty)
    #expect(bench.wakeAt == nil)
    #expect(try bench.lane() == nil)
    #expect(bench.invalidated.count == 1)
  }

  @Test("P4: SENDER_ID_MISMATCH quarantines the device until it registers again; its token is not announced as invalid")
  func quarantine() throws {
    let bench = DispatcherBench()
    let mismatch = PushAnswer(.senderMismatch, httpStatus: 403, errorCode: "SENDER_ID_MISMATCH")
    try bench.send(DispatcherBench.push("p1"))
    try bench.send(DispatcherBench.push("p2"))
    try bench.answer(mismatch)
    #expect(bench.outcomes.map(\.result) == [.quarantined, .quarantined])
    #expect(bench.outcomes.map(\.attempts) == [1, 0])
    #expect(bench.invalidated.isEmpty)
    try bench.restart()
    try bench.send(DispatcherBench.push("p3"))
    #expect(bench.air.isEmpty)
    try bench.send(DispatcherBench.push("p4", version: 2))
    #expect(bench.air.map(\.pushId) == ["p4"])
  }

  @Test("P4: a request that FCM rejects ends as rejected, with its code")
  func rejected() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.answer(PushAnswer(.rejected, httpStatus: 400, errorCode: "INVALID_ARGUMENT"))
    #expect(bench.outcomes.map(\.result) == [.rejected])
    #expect(bench.outcomes[0].errorCode == "INVALID_ARGUMENT")
    #expect(bench.invalidated.isEmpty)
  }

  @Test(
    "P8: attempts count requests made: none where none could leave, two where the access token was refreshed")
  func attempts() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.answer(.sent, requests: 2)
    #expect(bench.outcomes[0].attempts == 2)
    try bench.send(DispatcherBench.push("p2", expiresIn: 20_000))
    try bench.answer(PushAnswer(.unreachable, errorCode: "queue_full"), requests: 0)
    bench.now += 20_001
    try bench.wake()
    // Never sent: expired, not given up.
    #expect(bench.outcomes[1].result == .expired)
    #expect(bench.outcomes[1].attempts == 0)
    #expect(bench.outcomes[1].firstAttemptAt == nil)
  }

  @Test("P3, P5: a 429 waits as long as FCM asks, even less than a minute, and a second at least")
  func shortRetryAfter() throws {
    for (asked, least) in [(5_000, 5_000), (0, 1_000), (70_000, 70_000)] as [(Milliseconds, Milliseconds)] {
      #expect(Backoff.quota.wait(after: 1, retryAfter: asked, jitter: 0) == least)
      #expect(Backoff.quota.wait(after: 1, retryAfter: asked, jitter: 0.999) <= 2 * least)
      let device = DispatcherBench()
      try device.send(DispatcherBench.push("p1"))
      try device.answer(PushAnswer(.quotaExceeded(.device), httpStatus: 429, retryAfter: asked))
      let due = try #require(device.wakeAt) - DispatcherBench.start
      #expect((least...2 * least).contains(due))
      let project = DispatcherBench()
      try project.send(DispatcherBench.push("p1"))
      try project.answer(PushAnswer(.quotaExceeded(.project), httpStatus: 429, retryAfter: asked))
      #expect(project.wakeAt == DispatcherBench.start + least)
    }
    #expect(Backoff.quota.wait(after: 1, jitter: 0) == 60_000)
  }

  @Test(
    "P3: backoff doubles from floor to cap, with jitter over the whole range; Retry-After counts up to the cap")
  func backoff() {
    #expect(Backoff.server.wait(after: 1, jitter: 0) == 10_000)
    #expect(Backoff.server.wait(after: 1, jitter: 0.999_999) == 19_999)
    #expect(Backoff.server.wait(after: 3, jitter: 0.5) == 45_000)
    #expect(Backoff.server.wait(after: 50, jitter: 0.999_999) <= 300_000)
    #expect(Backoff.server.wait(after: 50, jitter: 0) == 10_000)
    #expect(Backoff.connection.wait(after: 1, jitter: 0) == 1_000)
    #expect(Backoff.quota.wait(after: 1, jitter: 0) == 60_000)
    #expect(Backoff.server.wait(after: 1, retryAfter: 600_000, jitter: 0) == 300_000)
    // Even then all who were told the same do not come back together.
    #expect(Backoff.server.wait(after: 1, retryAfter: 600_000, jitter: 0.5) == 315_000)
    #expect(Backoff.server.wait(after: .max, retryAfter: 0, jitter: 0) == 10_000)
  }

  @Test("P3: jitter is a function of push, device and attempt, and evenly spread")
  func jitter() {
    let values = (0..<10_000).map { Jitter.value(pushId: "p\($0 % 100)", deviceId: "d", attempt: $0 / 100) }
    #expect(values.allSatisfy { (0..<1).contains($0) })
    #expect(Jitter.value(pushId: "p1", deviceId: "d", attempt: 2) == values[201])
    var buckets = [Int](repeating: 0, count: 10)
    for value in values { buckets[Int(value * 10)] += 1 }
    #expect(buckets.allSatisfy { (850...1_150).contains($0) }, "\(buckets)")
  }
}
