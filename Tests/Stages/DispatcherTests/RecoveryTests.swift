import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("After FCM was away")
struct RecoveryTests {
  /// Fails every request until the time has come.
  private func fail(_ bench: DispatcherBench, with answer: PushAnswer, until end: Milliseconds) throws {
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

  @Test("P3: a lone push is tried within 15 s, however long FCM has been away")
  func alone() throws {
    let bench = DispatcherBench { $0.timeBudget = 3_000_000 }
    try bench.send(DispatcherBench.push("p1"))
    try fail(bench, with: .reset, until: DispatcherBench.start + 1_200_000)
    let before = bench.now
    try bench.wakeUntilSent()
    #expect(bench.now - before <= 15_000)
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
    var slow = PushAnswer.unavailable
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

  /// Tasks of one stream thread, and a push service that answers each request at once.
  private final class Thread {
    private let driver: StageDriver<DispatcherStage>
    private var wakes: [Int32: Milliseconds] = [:]
    private var causes: Int64 = 0
    /// When each push was sent.
    private(set) var sentAt: [String: Milliseconds] = [:]
    private(set) var requests = 0
    var answer: PushAnswer

    var now: Milliseconds { driver.now }

    init(tasks: Int32, answer: PushAnswer) {
      driver = StageDriver(DispatcherStage(rules: DispatcherRules()), partitions: tasks, now: DispatcherBench.start)
      self.answer = answer
    }

    func send(_ push: Push, task: Int32) throws {
      causes += 1
      let event = PushEvent(
        Envelope(eventId: "e\(causes)", occurredAt: now),
        origin: Origin(topic: "nudge.timeline", partition: task, offset: causes),
        source: RecordPosition(topic: "chat.events", partition: task, offset: causes), .push(push))
      try take(driver.send(event, to: .pushes, key: push.userId, partition: task), task)
    }

    /// Goes on until a time, task by task as they ask to be woken.
    func run(until end: Milliseconds) throws {
      while let (task, steady) = wakes.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }), steady <= end {
        driver.now = max(driver.now, steady)
        wakes[task] = nil
        try take(driver.wake(partition: task), task)
      }
      driver.now = end
    }

    private func take(_ result: StageDriver<DispatcherStage>.StepResult, _ task: Int32) throws {
      if let time = result.wakeAt { wakes[task] = min(wakes[task] ?? .max, time) }
      for output in result.outputs where output.topic == .outcomes {
        let outcome = try driver.decode(Outcome.self, from: output).body
        #expect(outcome.result == .sent)
        sentAt[outcome.pushId] = now
      }
      for effect in result.effects {
        requests += 1
        let reply = SendReply(id: effect.id, answer: answer, startedAt: now, finishedAt: now)
        try take(driver.receive(reply, partition: task), task)
      }
    }
  }

  @Test(
    "issue 56: what one task finds out all tasks of the thread know: an outage is over within 30 s of its end, without more requests",
    arguments: [60_000, 61_700, 127_000, 300_300, 903_000] as [Milliseconds])
  func shared(_ outage: Milliseconds) throws {
    for answer in [PushAnswer.unavailable, .reset] {
      let thread = Thread(tasks: 12, answer: answer)
      for number in 0..<120 {
        try thread.send(
          DispatcherBench.push("p\(number)", user: "u\(number)", at: thread.now), task: Int32(number % 12))
        try thread.run(until: thread.now + 100)
      }
      let end = DispatcherBench.start + outage
      try thread.run(until: end)
      #expect(thread.sentAt.isEmpty)
      // A push waits for 300 s at most, and longer than 10 s on the whole: 12 requests are of the tries.
      #expect(thread.requests < 120 * (4 + Int(outage / 20_000)), "\(thread.requests)")
      thread.answer = .sent
      try thread.run(until: end + 30_000)
      #expect(thread.sentAt.count == 120, "\(outage) \(answer): \(thread.sentAt.count) sent")
      // Not all at once.
      let times = thread.sentAt.values.map { $0 - end }.sorted()
      #expect(times.last.map { $0 - times[0] > 1_000 } ?? false)
    }
  }

  @Test("issue 56: a breaker that closes in one task lets the others try within some seconds")
  func sharedBreaker() throws {
    let thread = Thread(tasks: 4, answer: .noProject)
    for number in 0..<4 {
      // Their probes are due at different times.
      try thread.send(DispatcherBench.push("p\(number)", user: "u\(number)", at: thread.now), task: Int32(number))
      try thread.run(until: thread.now + 40_000)
    }
    try thread.run(until: DispatcherBench.start + 700_000)
    thread.answer = .sent
    while thread.sentAt.isEmpty { try thread.run(until: thread.now + 1_000) }
    try thread.run(until: thread.now + 8_000)
    #expect(thread.sentAt.count == 4, "\(thread.sentAt)")
  }
}
