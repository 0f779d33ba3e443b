import NudgeSchema
import ServiceKit
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("Bounds: time, devices, lanes, quota")
struct LimitTests {
  @Test("P3: a push is tried until its time budget ends, however fresh it is; then it ends as gave_up")
  func timeBudget() throws {
    let bench = DispatcherBench { $0.timeBudget = 60_000 }
    try bench.send(DispatcherBench.push("p1"))
    var requests = 0
    while !bench.air.isEmpty {
      requests += 1
      try bench.answer(.unavailable)
      try bench.wakeUntilSent()
    }
    #expect(requests > 1)
    #expect(bench.outcomes.map(\.result) == [.gaveUp])
    #expect(bench.outcomes[0].finishedAt <= DispatcherBench.start + 60_000)
    #expect(bench.outcomes[0].attempts == requests)
  }

  @Test("P3, P6: a push that failed before a breaker opened has its whole time budget afterwards")
  func budgetAfterPause() throws {
    let budget: Milliseconds = 600_000
    let bench = DispatcherBench { $0.timeBudget = budget }
    for device in ["a", "b"] { try bench.send(DispatcherBench.push("p-\(device)", devices: [device])) }
    for request in bench.air { try bench.answer(.unavailable, to: request) }
    try bench.wakeUntilSent()
    // One finds the project refused; the other is parked.
    try bench.answer(.noProject)
    while bench.now < DispatcherBench.start + 2 * budget {
      try bench.wakeUntilSent()
      try bench.answer(.noProject)
    }
    try bench.wakeUntilSent()
    // The server fails each once more before it takes it.
    var failed: Set<String> = []
    for _ in 0..<20 where bench.outcomes.count < 2 {
      let request = try #require(bench.air.first)
      try bench.answer(failed.insert(request.deviceId).inserted ? .unavailable : .sent, to: request)
      try bench.wakeUntilSent()
    }
    #expect(bench.outcomes.map(\.result) == [.sent, .sent])
  }

  @Test("P6: time with an open breaker does not count against the time budget")
  func pauseBeyondBudget() throws {
    let bench = DispatcherBench { $0.timeBudget = 60_000 }
    try bench.send(DispatcherBench.push("p1"))
    try bench.answer(.noProject)
    while bench.now < DispatcherBench.start + 600_000 {
      try bench.wakeUntilSent()
      try bench.answer(.noProject)
    }
    #expect(bench.outcomes.isEmpty)
    try bench.wakeUntilSent()
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.result) == [.sent])
  }

  /// Sends pushes to a device one after the other, each answered at once; the times of their requests.
  private func times(_ count: Int, _ bench: DispatcherBench, _ platform: Platform, every: Milliseconds) throws
    -> [Milliseconds]
  {
    var times: [Milliseconds] = []
    for number in 0..<count {
      try bench.send(
        DispatcherBench.push("p\(number)", expiresIn: 1_000_000_000, platform: platform))
      try bench.wakeUntilSent()
      times.append(bench.now - DispatcherBench.start)
      try bench.answer(.sent)
      bench.now += every
    }
    return times
  }

  @Test(
    "P5: an Android device gets no more in any minute and any hour than FCM allows")
  func deviceLimits() throws {
    let bench = DispatcherBench {
      $0.deviceRequestsPerMinute = 20
      $0.deviceRequestsPerHour = 100
    }
    let times = try times(250, bench, .android, every: 100)
    for (index, time) in times.enumerated() {
      // The window before is taken as spread evenly, so that a minute that straddles two may have a few more.
      #expect(times[..<index].count { time - $0 < 60_000 } <= 20 + 10)
      #expect(times[..<index].count { time - $0 < 3_600_000 } <= 100 + 20)
    }
    #expect(times[19] < 60_000)
    #expect(times[249] > 3_600_000)
    #expect(bench.outcomes.count == 250)
  }

  @Test("P5: other devices, other platforms, and deployments without the limit are not delayed")
  func notLimited() throws {
    let ios = try times(300, DispatcherBench(), .ios, every: 10)
    #expect(ios.last == 2_990)
    let off = DispatcherBench {
      $0.deviceRequestsPerMinute = 0
      $0.deviceRequestsPerHour = 0
    }
    #expect(try times(300, off, .android, every: 10).last == 2_990)
    let busy = DispatcherBench()
    _ = try times(240, busy, .android, every: 10)
    try busy.send(DispatcherBench.push("held", platform: .android))
    #expect(busy.air.isEmpty)
    try busy.send(DispatcherBench.push("other", devices: ["tablet"], platform: .android))
    #expect(busy.air.map(\.deviceId) == ["tablet"])
  }

  @Test("P6: full lanes stop reading, with the reason in readiness; reading resumes at nine tenths; nothing is lost")
  func fullLanes() throws {
    let health = HealthChecks()
    let metrics = MetricsRegistry()
    var rules = DispatcherRules()
    rules.maxWaiting = 20
    let monitor = LaneMonitor(
      metrics: metrics, readiness: health, rules: rules, now: { DispatcherBench.start + 5_000 })
    let bench = DispatcherBench(monitor: monitor) { $0.maxWaiting = 20 }
    try bench.send(DispatcherBench.push("p0", user: "u0"))
    try bench.answer(.noProject)
    for number in 1..<19 { try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)")) }
    #expect(!bench.driver.stage.holdsInput && health.isReady)
    try bench.send(DispatcherBench.push("p19", user: "u19"))
    #expect(bench.driver.stage.holdsInput && !health.isReady)
    let reason = "\(health.reasons)"
    #expect(reason.contains("20 pushes wait") && reason.contains("1 refused"))
    #expect(monitor.total.waiting == 20 && monitor.total.lanes == 20 && monitor.total.bytes > 20 * 700)
    #expect(monitor.total.openBreakers == ["refused": 1])
    let text = metrics.exposition()
    #expect(text.contains("nudge_lane_pushes 20\n") && text.contains("nudge_lane_devices 20\n"))
    #expect(text.contains("nudge_lane_pushes_limit 20\n"))
    #expect(text.contains("nudge_lane_oldest_seconds 5\n"))
    #expect(text.contains("nudge_fcm_pauses{reason=\"refused\"} 1\n"))
    // A restart finds the lanes as they were.
    try bench.restart()
    #expect(monitor.total.waiting == 20 && bench.driver.stage.holdsInput)
    try bench.wakeUntilSent()
    try bench.answer(.sent)
    #expect(bench.driver.stage.holdsInput, "19 of 20 still wait")
    try bench.answer(.sent)
    #expect(!bench.driver.stage.holdsInput && health.isReady)
    while !bench.air.isEmpty {
      try bench.answer(.sent)
      try bench.wakeUntilSent()
    }
    #expect(bench.outcomes.count == 20)
    #expect(monitor.total.waiting == 0 && monitor.total.bytes == 0 && monitor.total.oldestSince == nil)
  }

  @Test("Lanes are bounded in bytes too")
  func fullOfBytes() throws {
    let bench = DispatcherBench {
      $0.maxWaiting = 0
      $0.maxWaitingBytes = 20_000
    }
    var pushes = 0
    while !bench.driver.stage.holdsInput, pushes < 100 {
      try bench.send(DispatcherBench.push("p\(pushes)", user: "u\(pushes)", body: String(repeating: "x", count: 1_000)))
      pushes += 1
    }
    #expect((10...20).contains(pushes))
  }

  @Test("P5: the rate is that of the share of the partitions")
  func share() throws {
    var rate = SendRate(perMinute: 60_000, rampUp: 1, start: 0)
    _ = rate.taken(inSecond: 1)
    #expect((990...1_010).contains(rate.taken(inSecond: 2)))
    rate.setShare(0.25)
    _ = rate.taken(inSecond: 3)
    #expect((245...255).contains(rate.taken(inSecond: 4)))
    rate.setShare(1)
    _ = rate.taken(inSecond: 5)
    #expect((990...1_010).contains(rate.taken(inSecond: 6)))
  }

  @Test("P5: a project's 429 halves the rate, a burst of them once; it recovers within minutes")
  func halving() throws {
    var rate = SendRate(perMinute: 60_000, rampUp: 1, start: 0)
    _ = rate.taken(inSecond: 9)
    for late in 0..<1_000 { rate.halve(at: 10_000 + Milliseconds(late)) }
    _ = rate.taken(inSecond: 11)
    #expect((495...505).contains(rate.taken(inSecond: 12)))
    rate.halve(at: 16_000)
    _ = rate.taken(inSecond: 16)
    #expect((245...255).contains(rate.taken(inSecond: 17)))
    _ = rate.taken(inSecond: 26)
    #expect((345...355).contains(rate.taken(inSecond: 27)))
    _ = rate.taken(inSecond: 99)
    #expect((990...1_010).contains(rate.taken(inSecond: 100)))
    for number in 0..<1_000 { rate.halve(at: 200_000 + Milliseconds(number) * 5_000) }
    #expect(rate.restraint >= SendRate.leastRestraint)
  }

  @Test("P5: a stage uses the share of the quota that it has of the partitions, and all of it with all of them")
  func stageShare() throws {
    var quotas = ProjectQuotas(perMinute: 60_000, rampUp: 1, ownProject: "own")
    func taken(_ second: Int) -> Int {
      var taken = 0
      for millisecond in 0..<1_000 {
        let now = Milliseconds(second * 1_000 + millisecond)
        while quotas.wait(.fcm(project: nil), at: now) == nil {
          quotas.take(.fcm(project: nil), at: now)
          taken += 1
        }
      }
      return taken
    }
    quotas.take(.fcm(project: "own"), at: 0)
    quotas.setShare(0.25)
    _ = taken(1)
    #expect((245...255).contains(taken(2)))
    quotas.setShare(1)
    _ = taken(3)
    #expect((990...1_010).contains(taken(4)))
    #expect(quotas.wait(.fcm(project: "own"), at: 4_999) != nil, "devices that name the own project share its quota")
    #expect(quotas.wait(.fcm(project: "second"), at: 4_999) == nil, "another project has one of its own")
  }
}

extension SendRate {
  /// How many requests it lets through in a second that asks in each of its milliseconds for all it can get.
  fileprivate mutating func taken(inSecond number: Int) -> Int {
    var taken = 0
    for millisecond in 0..<1_000 {
      while take(at: Milliseconds(number * 1_000 + millisecond)) { taken += 1 }
    }
    return taken
  }
}
