import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("Circuit breakers: nothing is lost while a project or platform cannot be sent to")
struct PauseTests {
  private func bench(pushes: Int) throws -> DispatcherBench {
    let bench = DispatcherBench { $0.maxInFlight = 1 }
    for number in 0..<pushes { try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)")) }
    return bench
  }

  @Test("P6: a wrong project stops all of its pushes; one request at a time probes; then each is sent once")
  func project() throws {
    let bench = try bench(pushes: 5)
    try bench.answer(.noProject)
    #expect(bench.air.isEmpty)
    #expect(bench.outcomes.isEmpty)
    #expect(bench.invalidated.isEmpty)
    // Three vain tries, further and further apart.
    var times: [Milliseconds] = []
    for _ in 0..<3 {
      try bench.wakeUntilSent()
      #expect(bench.air.count == 1)
      times.append(bench.now - DispatcherBench.start)
      try bench.answer(.noProject)
      #expect(bench.air.isEmpty)
    }
    #expect(times == [5_000, 15_000, 35_000])
    try bench.wakeUntilSent()
    while !bench.air.isEmpty { try bench.answer(.sent) }
    #expect(bench.outcomes.map(\.result) == Array(repeating: .sent, count: 5))
    #expect(Set(bench.outcomes.map(\.pushId)).count == 5)
  }

  @Test("P6: a new push does not pass an open breaker")
  func newPush() throws {
    let bench = try bench(pushes: 1)
    try bench.answer(.noProject)
    try bench.send(DispatcherBench.push("late", user: "z"))
    #expect(bench.air.isEmpty)
    try bench.wakeUntilSent()
    #expect(bench.air.map(\.pushId) == ["p0"])
    try bench.send(DispatcherBench.push("later", user: "y"))
    #expect(bench.air.count == 1)
  }

  @Test("P6: a push that an open breaker keeps past its freshness ends as expired, or as gave_up if it was tried")
  func freshness() throws {
    let bench = DispatcherBench { $0.maxInFlight = 1 }
    try bench.send(DispatcherBench.push("p0", user: "u0", expiresIn: 60_000))
    try bench.send(DispatcherBench.push("p1", user: "u1", expiresIn: 4_000))
    try bench.answer(.noProject)
    while bench.wakeAt != nil, bench.outcomes.count < 2 {
      try bench.wake()
      while !bench.air.isEmpty { try bench.answer(.noProject) }
    }
    #expect(bench.outcomes.map(\.pushId) == ["p1", "p0"])
    #expect(bench.outcomes.map(\.result) == [.expired, .gaveUp])
    #expect(bench.outcomes[0].finishedAt == DispatcherBench.start + 4_001)
  }

  @Test("P6: other projects are sent to")
  func otherProject() throws {
    let bench = try bench(pushes: 1)
    try bench.answer(.noProject)
    var push = DispatcherBench.push("other", user: "z")
    push.targets[0].projectId = "second"
    try bench.send(push)
    #expect(bench.air.map(\.destination) == [.fcm(project: "second")])
  }

  @Test("P4: THIRD_PARTY_AUTH_ERROR stops one platform only")
  func platform() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", user: "u1", platform: .ios))
    try bench.answer(.noPlatform)
    try bench.send(DispatcherBench.push("p2", user: "u2", platform: .ios))
    try bench.send(DispatcherBench.push("p3", user: "u3", platform: .android))
    #expect(bench.air.map(\.pushId) == ["p3"])
    try bench.answer(.sent)
    // Android's answer says nothing of Apple's key.
    #expect(bench.air.isEmpty)
    try bench.wakeUntilSent()
    #expect(bench.air.count == 1)
    try bench.answer(.sent)
    while !bench.air.isEmpty { try bench.answer(.sent) }
    #expect(bench.outcomes.count == 3)
  }

  @Test("P5: a project's 429 stops it for Retry-After or a minute")
  func projectQuota() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", user: "u1"))
    try bench.answer(PushAnswer(.quotaExceeded(.project), httpStatus: 429, errorCode: "QUOTA_EXCEEDED"))
    try bench.send(DispatcherBench.push("p2", user: "u2"))
    #expect(bench.air.isEmpty)
    #expect(bench.wakeAt == DispatcherBench.start + 60_000)
    try bench.wakeUntilSent()
    try bench.answer(
      PushAnswer(
        .quotaExceeded(.project), httpStatus: 429, errorCode: "QUOTA_EXCEEDED", retryAfter: 90_000))
    #expect(bench.wakeAt == DispatcherBench.start + 150_000)
    try bench.wakeUntilSent()
    while !bench.air.isEmpty { try bench.answer(.sent) }
    #expect(bench.outcomes.map(\.result) == [.sent, .sent])
  }

  @Test("P6: a probe that the server fails decides nothing; the next one is due later")
  func inconclusive() throws {
    let bench = try bench(pushes: 2)
    try bench.answer(.noProject)
    try bench.wakeUntilSent()
    try bench.answer(.unavailable)
    #expect(bench.air.isEmpty)
    try bench.wakeUntilSent()
    #expect(bench.now == DispatcherBench.start + 15_000)
    try bench.answer(.sent)
    while bench.wakeAt != nil, bench.outcomes.count < 2 {
      while !bench.air.isEmpty { try bench.answer(.sent) }
      try bench.wake()
    }
    #expect(bench.outcomes.count == 2)
  }

  @Test("P6: a breaker opens again after a restart, and a push cancelled meanwhile stays unsent")
  func restart() throws {
    let bench = try bench(pushes: 3)
    try bench.answer(.noProject)
    try bench.cancel(user: "u1", device: "phone")
    #expect(bench.outcomes.map(\.result) == [.cancelled])
    try bench.restart()
    try bench.wakeUntilSent()
    while !bench.air.isEmpty {
      try bench.answer(.sent)
      try bench.wakeUntilSent()
    }
    #expect(bench.outcomes.count == 3)
    #expect(bench.outcomes.filter { $0.result == .sent }.count == 2)
  }

  @Test("T3: a burst of invalid tokens opens a breaker: no more tokens are pruned, and nothing is lost")
  func invalidBurst() throws {
    let bench = DispatcherBench {
      $0.invalidTokenWindow = 20
      $0.invalidTokenRatio = 0.5
      $0.maxInFlight = 1
    }
    for number in 0..<60 { try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)")) }
    for _ in 0..<10 { try bench.answer(.sent) }
    for _ in 0..<10 { try bench.answer(.unregistered) }
    // The tenth bad one of twenty tripped it: it waits with the rest.
    #expect(bench.invalidated.count == 9)
    #expect(bench.air.isEmpty)
    try bench.wakeUntilSent()
    try bench.answer(.unregistered)
    #expect(bench.invalidated.count == 9)
    #expect(bench.air.isEmpty)
    try bench.wakeUntilSent()
    while !bench.air.isEmpty { try bench.answer(.sent) }
    #expect(bench.outcomes.count == 60)
    #expect(bench.outcomes.filter { $0.result == .invalidToken }.count == 9)
  }

  @Test("T3: the breaker over invalid tokens closes with the last answer of its trial, not before")
  func wholeTrial() throws {
    let bench = DispatcherBench {
      $0.invalidTokenWindow = 4
      $0.invalidTokenRatio = 0.5
      $0.tokenTrialLength = 5
    }
    for answer in [PushAnswer.sent, .sent, .unregistered, .unregistered] {
      try bench.send(DispatcherBench.push("p\(bench.outcomes.count)", user: "u\(bench.outcomes.count)"))
      try bench.answer(answer)
    }
    for number in 10..<30 { try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)")) }
    #expect(bench.air.isEmpty)
    try bench.wakeUntilSent()
    for number in 1...4 {
      try bench.answer(.sent)
      #expect(bench.air.count == 1, "after \(number) good answers")
    }
    try bench.answer(.sent)
    #expect(bench.air.count == 16, "all that waited: twenty, and the one that tripped the breaker, without the five")
  }

  @Test("T3: dead tokens that are further apart than the window is long never open a breaker")
  func fewInvalid() throws {
    let bench = DispatcherBench {
      $0.invalidTokenWindow = 4
      $0.invalidTokenRatio = 0.5
    }
    for number in 0..<40 {
      try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)"))
      try bench.answer(number.isMultiple(of: 4) ? .unregistered : .sent)
    }
    #expect(bench.outcomes.count == 40)
    #expect(bench.invalidated.count == 10)
  }
}
