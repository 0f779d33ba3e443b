import NudgeSchema
import ServiceKit
import StreamRuntime
import TestSupport
import Testing

@testable import Dispatcher

/// `NUDGE_LANES=200000 swift test --filter ManyLanesTests` measures as many lanes as a stream thread takes by default.
@Suite("Many lanes: a step does bounded work, and memory is bounded")
struct ManyLanesTests {
  private static let lanes = max(runParameter("NUDGE_LANES") ?? 20_000, 10_000)
  private static let cacheBytes = 16 << 20

  private final class Run {
    let monitor = LaneMonitor(metrics: MetricsRegistry(), readiness: HealthChecks(), now: { 0 })
    let bench: DispatcherBench
    private(set) var steps = 0
    private(set) var mostReads = 0
    private(set) var mostCached = 0

    init() {
      bench = DispatcherBench(monitor: monitor, cacheBytes: ManyLanesTests.cacheBytes) { $0.maxWaiting = 0 }
    }

    var laneReads: Int { monitor.total.laneReads }

    /// A step, its work noted, and its transaction.
    func step(_ body: () throws -> Void) throws {
      let before = laneReads
      try body()
      steps += 1
      // A new epoch counts from zero.
      mostReads = max(mostReads, laneReads - (laneReads < before ? 0 : before))
      if steps % 16 == 0 { try bench.driver.commit() }
      mostCached = max(mostCached, bench.driver.cachedBytes())
    }

    /// Wakes as long as a step asks to go on at once.
    func settle(atMost limit: Int = 10_000) throws -> Int {
      var wakes = 0
      while let time = bench.wakeAt, time <= bench.driver.steadyNow, wakes < limit {
        wakes += 1
        try step { try bench.wake() }
      }
      return wakes
    }

    func restart() throws {
      try step { try bench.restart() }
    }
  }

  private static func user(_ number: Int) -> String { "user-" + String(1_000_000 + number) }

  /// Lanes of one push each, as the store has them. They differ in the number in their ids, so one is encoded and the others
  /// are made from its bytes.
  private static func rows(_ count: Int) throws -> [(key: RowKey, bytes: [UInt8]?)] {
    let cause = Origin(topic: "nudge.timeline", partition: 0, offset: 0)
    let template = "1000000"
    let push = DispatcherBench.push("push-" + template, user: user(0), expiresIn: 1_000_000_000)
    var untargeted = push
    untargeted.targets = []
    let item = WaitingPush(
      push: untargeted, target: push.targets[0], cause: cause, origin: cause,
      source: RecordPosition(topic: "chat.events", partition: 0, offset: 1), occurredAt: DispatcherBench.start)
    let bytes = try DispatcherRow(.lane(LaneRow(items: [item], count: 1))).encoded(coder: RecordCoder(), at: .latest)
    let digits = Array(template.utf8)
    let places = bytes.indices.filter { bytes[$0...].starts(with: digits) }
    #expect(places.count >= 2)
    return (0..<count).map { number in
      var row = bytes
      for place in places { row.replaceSubrange(place..<(place + digits.count), with: String(1_000_000 + number).utf8) }
      return (DeviceKey(userId: user(number), deviceId: "phone").lane, row)
    }
  }

  @Test("many lanes through a restart, an open breaker, its closing, a 429 and another restart: no step walks them all")
  func life() throws {
    let run = Run()
    let bench = run.bench
    bench.driver.load(try Self.rows(Self.lanes))
    let perStep = DispatcherRules().lanesPerStep
    let before = Endurance.residentBytes()
    let clock = ContinuousClock()

    // The task begins: rows are read in pages, and requests go out meanwhile.
    let opened = try clock.measure {
      try run.restart()
      #expect(run.monitor.total.lanes <= perStep, "the first step reads a page")
      _ = try run.settle()
    }
    #expect(run.monitor.total.lanes == Self.lanes && run.monitor.total.waiting == Self.lanes)
    #expect(run.steps >= Self.lanes / perStep)
    #expect(bench.air.count == DispatcherRules().maxInFlight)

    // The project is refused; the others in flight end.
    while bench.air.count > 1 { try run.step { try bench.answer(.noProject) } }
    try run.step { try bench.answer(.sent) }
    #expect(bench.air.isEmpty && run.monitor.total.openBreakers == ["refused": 1])
    let waiting = Self.lanes - 1
    #expect(run.monitor.total.waiting == waiting)

    // A probe succeeds: all lanes may be sent, and requests fill the window over several steps.
    let readsBeforeRelease = run.laneReads
    try run.step { try bench.wake() }
    #expect(bench.air.count == 1)
    let released = try clock.measure {
      try run.step { try bench.answer(.sent) }
      _ = try run.settle()
    }
    #expect(bench.air.count == DispatcherRules().maxInFlight)
    #expect(run.laneReads - readsBeforeRelease <= DispatcherRules().maxInFlight + 10)

    // The next project 429: nothing else is looked at.
    let readsBeforeQuota = run.laneReads
    let quota = PushAnswer(.quotaExceeded(.project), httpStatus: 429, errorCode: "QUOTA_EXCEEDED", retryAfter: 60_000)
    let paused = try clock.measure {
      try run.step { try bench.answer(quota) }
      _ = try run.settle()
    }
    #expect(run.laneReads - readsBeforeQuota <= 2)
    while !bench.air.isEmpty { try run.step { try bench.answer(.sent) } }
    #expect(bench.air.isEmpty && run.monitor.total.openBreakers == ["quota": 1])

    // Another restart, while paused; a cancellation finds lanes that are not loaded yet.
    let left = run.monitor.total.waiting
    try run.restart()
    let last = bench.outcomes.count
    try bench.cancel(user: Self.user(Self.lanes - 2), device: "phone")
    #expect(bench.outcomes.count == last + 1 && bench.outcomes.last?.userId == Self.user(Self.lanes - 2))
    _ = try run.settle()
    #expect(run.monitor.total.waiting == left - 1)

    #expect(run.mostReads <= 2 * perStep, "\(run.mostReads) lanes were looked at in a step")
    #expect(run.mostCached <= 3 * Self.cacheBytes, "\(run.mostCached) bytes of rows in memory")
    let growth = Endurance.residentBytes() - before
    #expect(growth < 200 << 20, "\(growth >> 20) MiB")
    print(
      "\(Self.lanes) lanes: \(run.steps) steps, \(run.mostReads) lanes read a step at most, opened in \(opened), released in "
        + "\(released), paused in \(paused), \(growth >> 20) MiB more, rows in memory \(run.mostCached >> 20) MiB")
  }

  @Test("lanes that all expire at once end a few a step")
  func allDue() throws {
    let run = Run()
    let bench = run.bench
    bench.driver.load(try Self.rows(5_000))
    try run.restart()
    _ = try run.settle()
    while bench.air.count > 1 { try run.step { try bench.answer(.noProject) } }
    try run.step { try bench.answer(.noProject) }
    bench.now += 1_000_000_001
    let steps = run.steps
    while bench.outcomes.count < 5_000, bench.wakeAt != nil { try run.step { try bench.wake() } }
    #expect(bench.outcomes.count == 5_000 && Set(bench.outcomes.map(\.userId)).count == 5_000)
    #expect(run.steps - steps >= 5_000 / DispatcherRules().lanesPerStep)
    #expect(run.mostReads <= DispatcherRules().lanesPerStep + 1)
    #expect(run.monitor.total.lanes == 0)
  }

  @Test("lanes in memory are found by person, keep their order, and leave no memory behind")
  func schedule() {
    var random = SeededGenerator(seed: 5)
    var schedule = LaneSchedule()
    var expected: [String: [DeviceKey]] = [:]
    for _ in 0..<20_000 {
      let user = "u\(Int.random(in: 0..<300, using: &random))"
      let key = DeviceKey(userId: user, deviceId: "d\(Int.random(in: 0..<5, using: &random))")
      if let id = schedule.id(of: key) {
        schedule.remove(id)
        expected[user]?.removeAll { $0 == key }
      } else {
        let id = schedule.add(key, since: 0)
        schedule.count(id, pushes: 1, bytes: 100)
        expected[user, default: []].append(key)
      }
      #expect(schedule.lanes(of: user).map { schedule.key($0) } == expected[user] ?? [])
    }
    #expect(schedule.count == expected.values.reduce(0) { $0 + $1.count })
    #expect(schedule.pushes == schedule.count && schedule.bytes == 100 * schedule.count)
    for key in expected.values.flatMap({ $0 }) {
      if let id = schedule.id(of: key) { schedule.remove(id) }
    }
    #expect(schedule.count == 0 && schedule.pushes == 0 && schedule.bytes == 0 && schedule.oldestSince == nil)
  }
}
