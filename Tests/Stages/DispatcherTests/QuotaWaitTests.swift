import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("What waits for quota waits in the lanes, and is looked at right before it is sent")
struct QuotaWaitTests {
  private func limited(_ perMinute: Int = 300) -> DispatcherBench {
    DispatcherBench {
      $0.requestsPerMinute = perMinute
      $0.rampUp = 1
    }
  }

  @Test("P5: pushes above the quota wait in their lanes and go out at its rate, in order")
  func rate() throws {
    let bench = limited()
    for number in 0..<120 { try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)")) }
    #expect(bench.air.count == 1)
    var sent: [(id: String?, at: Milliseconds)] = []
    while bench.outcomes.count < 120 {
      for request in bench.air {
        sent.append((request.pushId, bench.now - DispatcherBench.start))
        try bench.answer(.sent, to: request)
      }
      try bench.wake()
    }
    #expect(sent.map(\.id) == (0..<120).map { "p\($0)" })
    for (number, entry) in sent.enumerated() {
      #expect((Milliseconds(number) * 200...Milliseconds(number) * 205 + 5).contains(entry.at))
    }
  }

  @Test("T2: a claim while pushes wait for quota: nothing is sent to the former owner after it")
  func claim() throws {
    let bench = limited()
    for number in 0..<120 { try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)")) }
    try bench.answer(.sent)
    let claimed = Set((40..<60).map { "u\($0)" })
    for user in claimed {
      let hash = DispatcherRules.sha256("token-phone-1")
      try bench.send(
        .cancelled(PushCancelled(userId: user, deviceId: "phone", tokenHash: hash, version: 1)), user: user, cause: nil)
    }
    #expect(bench.outcomes.filter { $0.result == .cancelled }.count == 20)
    while bench.wakeAt != nil, bench.outcomes.count < 120 {
      for request in bench.air {
        #expect(!claimed.contains(request.subject.userId))
        try bench.answer(.sent, to: request)
      }
      try bench.wake()
    }
    #expect(bench.outcomes.count == 120)
    #expect(bench.outcomes.filter { $0.result == .sent }.count == 100)
  }

  @Test("P5: a second project has a quota of its own, and one that has used up its own delays nobody else")
  func projects() throws {
    let bench = DispatcherBench {
      $0.requestsPerMinute = 300
      $0.rampUp = 1
      $0.projects = ["own", "second"]
    }
    for number in 0..<5 { try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)")) }
    var push = DispatcherBench.push("other", user: "z")
    push.targets[0].projectId = "second"
    try bench.send(push)
    #expect(bench.air.map(\.pushId) == ["p0", "other"])
  }

  @Test("T2, P7: a request that did not leave in time is looked at again, and is no attempt")
  func notSent() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    let request = bench.air[0]
    #expect(request.leaveBy == bench.driver.steadyNow + 1_000)
    try bench.answer(PushAnswer(.notSent), requests: 0)
    #expect(bench.air.map(\.pushId) == ["p1"] && bench.air[0].attempt == 1)
    let hash = DispatcherRules.sha256("token-phone-1")
    try bench.send(
      .cancelled(PushCancelled(userId: "ann", deviceId: "phone", tokenHash: hash, version: 1)), user: "ann", cause: nil)
    try bench.answer(PushAnswer(.notSent), requests: 0)
    #expect(bench.air.isEmpty)
    #expect(bench.outcomes.map(\.result) == [.cancelled])
    #expect(bench.outcomes[0].attempts == 0 && bench.outcomes[0].firstAttemptAt == nil)
  }

  @Test("requests that wait in the process for too long make room for fewer; answers give it back")
  func window() throws {
    let bench = DispatcherBench { $0.maxInFlight = 1_000 }
    for number in 0..<2_000 { try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)")) }
    #expect(bench.air.count == 1_000)
    for request in bench.air.suffix(600) { try bench.answer(PushAnswer(.notSent), to: request, requests: 0) }
    #expect(bench.air.count == 699, "seven tenths of those in flight")
    for _ in 0..<699 { try bench.answer(.sent) }
    #expect(bench.air.count == 700, "one more after a round of answers")
    while !bench.air.isEmpty { try bench.answer(.sent) }
    #expect(bench.outcomes.count == 2_000)
  }

  @Test("P7: a task that is given up revokes the lease of its requests; the next epoch has another")
  func lease() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    let request = bench.air[0]
    #expect(request.mayLeave(at: bench.driver.steadyNow) && request.mayLeave(at: bench.driver.steadyNow + 1_000))
    #expect(!request.mayLeave(at: bench.driver.steadyNow + 1_001))
    try bench.restart()
    #expect(!request.mayLeave(at: bench.driver.steadyNow))
    try bench.wake()
    #expect(bench.air.count == 1 && bench.air[0].mayLeave(at: bench.driver.steadyNow))
  }

  @Test("requests share the effects of a stream thread by project")
  func groups() throws {
    let bench = DispatcherBench { $0.projects = ["own", "second"] }
    #expect(bench.air.isEmpty)
    for number in 0..<5 {
      var push = DispatcherBench.push("p\(number)", user: "u\(number)")
      push.targets[0].projectId = number % 2 == 0 ? nil : "second"
      try bench.send(push)
    }
    #expect(Set(bench.air.map { DispatcherStage.group(of: $0) }) == ["", "second"])
  }
}
