import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("Lanes: one request at a time for a device, in order")
struct LaneTests {
  @Test("P8: a push that FCM takes ends as sent, with FCM's name, its attempts and times")
  func sent() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    let request = try #require(bench.air.first)
    #expect(request.token == "token-phone-1")
    #expect(request.attempt == 1)
    bench.now += 40
    try bench.answer(.sent)
    let outcome = try #require(bench.outcomes.first)
    #expect(outcome.result == .sent)
    #expect(outcome.fcmName == "projects/p/messages/1")
    #expect(outcome.attempts == 1)
    #expect(outcome.firstAttemptAt == DispatcherBench.start)
    #expect(outcome.finishedAt == DispatcherBench.start + 40)
    #expect(outcome.tokenHash == DispatcherRules.sha256("token-phone-1"))
    #expect(outcome.httpStatus == 200)
    #expect(try bench.lane() == nil)
  }

  @Test("P7: after the causes' topic was made again a push with a low offset is taken, once; a cancellation follows it")
  func generations() throws {
    let bench = DispatcherBench()
    func cause(_ offset: Int64, _ generation: Int32?) -> Origin {
      Origin(topic: "nudge.timeline", partition: 0, offset: offset, generation: generation)
    }
    try bench.send(DispatcherBench.push("p1"), cause: cause(900, nil))
    try bench.answer(.sent)
    for _ in 0..<2 { try bench.send(DispatcherBench.push("p2"), cause: cause(1, 7)) }
    #expect(bench.air.count == 1)
    // Behind the one in flight waits another, which the cancellation of the new life means, and an old one does not.
    try bench.send(DispatcherBench.push("p3"), cause: cause(2, 7))
    try bench.cancel(message: "m-p3", cause: cause(950, nil))
    #expect(try bench.lane()?.count == 2)
    try bench.cancel(message: "m-p3", cause: cause(3, 7))
    #expect(try bench.lane()?.count == 1)
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.pushId) == ["p1", "p3", "p2"])
  }

  @Test("P8: each target of a push has its own outcome, whose origin is the push's record and the target's index")
  func targets() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", devices: ["phone", "tablet"]))
    #expect(bench.air.map(\.deviceId) == ["phone", "tablet"])
    try bench.answer(.sent)
    try bench.answer(.unregistered)
    #expect(bench.outcomes.map(\.result) == [.sent, .invalidToken])
    let events = try bench.outcomeRecords.map { try bench.driver.decode(Outcome.self, from: $0) }
    #expect(events.map(\.origin.index) == [nil, 1])
    #expect(events.allSatisfy { $0.origin.topic == "nudge.pushes" && $0.source.offset == 77 })
    #expect(Set(events.map(\.envelope.eventId)).count == 2)
  }

  @Test("P8: the second push for a device waits for the answer to the first; other devices do not")
  func order() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.send(DispatcherBench.push("p2"))
    try bench.send(DispatcherBench.push("p3", devices: ["tablet"]))
    #expect(bench.air.map(\.pushId) == ["p1", "p3"])
    try bench.answer(.sent)
    #expect(bench.air.map(\.pushId) == ["p3", "p2"])
  }

  @Test("O4: a request that a task did not make because it was given up is made when the task begins again")
  func forgone() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.send(DispatcherBench.push("p2"))
    try bench.answer(.sent)
    #expect(bench.air.map(\.pushId) == ["p2"])
    try bench.cancelEffect()
    #expect(bench.air.isEmpty)
    try bench.restart()
    #expect(bench.air.map(\.pushId) == ["p2"])
    #expect(bench.air.first?.attempt == 1, "what was never sent is no attempt")
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.result) == [.sent, .sent])
    #expect(bench.outcomes.last?.attempts == 1)
    #expect(try bench.lane() == nil)
  }

  @Test("P7: a repeated push has no effect, whether the first waits or has ended")
  func repeats() throws {
    let bench = DispatcherBench()
    let cause = bench.nextCause()
    try bench.send(DispatcherBench.push("p1"), cause: cause)
    try bench.send(DispatcherBench.push("p1"), cause: cause)
    #expect(try bench.lane()?.count == 1)
    try bench.answer(.sent)
    try bench.send(DispatcherBench.push("p1"), cause: cause)
    #expect(bench.air.isEmpty)
    #expect(bench.outcomes.count == 1)
    try bench.restart()
    try bench.send(DispatcherBench.push("p1"), cause: cause)
    #expect(bench.air.isEmpty)
    // Another effect of the same cause is no repeat.
    try bench.send(
      DispatcherBench.push("p2"),
      cause: Origin(topic: cause.topic, partition: cause.partition, offset: cause.offset, index: 1))
    #expect(bench.air.map(\.pushId) == ["p2"])
  }

  @Test("P7: after a crash an unanswered request is repeated after its time-out, and counted")
  func crash() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.send(DispatcherBench.push("p2"))
    try bench.restart()
    #expect(bench.air.isEmpty)
    #expect(bench.wakeAt == DispatcherBench.start + DispatcherRules().unansweredAfter)
    try bench.wake()
    #expect(bench.air.map(\.pushId) == ["p1"])
    #expect(bench.air.map(\.attempt) == [2])
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.attempts) == [2])
    #expect(bench.air.map(\.pushId) == ["p2"])
  }

  @Test("P8: a push past its freshness that was never sent ends as expired")
  func expired() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", expiresIn: -1))
    #expect(bench.air.isEmpty)
    #expect(bench.outcomes.map(\.result) == [.expired])
    #expect(bench.outcomes[0].attempts == 0)
    // On the very millisecond it still goes.
    try bench.send(DispatcherBench.push("p2", expiresIn: 0))
    #expect(bench.air.count == 1)
  }

  @Test("P8: a push behind another is checked again before its own first request")
  func expiresInLane() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.send(DispatcherBench.push("p2", expiresIn: 1_000))
    bench.now += 1_001
    try bench.answer(.sent)
    #expect(bench.air.isEmpty)
    #expect(bench.outcomes.map(\.result) == [.sent, .expired])
  }

  @Test("P8: an outcome carries the trace context and replay id of its push, however late")
  func headers() throws {
    let bench = DispatcherBench()
    let headers = [
      RecordHeaderField(RecordHeader.traceparent, "00-11111111111111111111111111111111-2222222222222222-01"),
      RecordHeaderField(RecordHeader.replayId, "r1"),
    ]
    try bench.send(DispatcherBench.push("p1"), headers: headers)
    try bench.restart()
    try bench.wake()
    try bench.answer(.sent)
    #expect(bench.outcomeRecords[0].headers == headers)
    try bench.send(DispatcherBench.push("p2", expiresIn: -1_000_000), headers: headers)
    #expect(bench.outcomeRecords[1].headers == headers)
  }

  @Test("P2: the last waiting badge push for a device wins; the others end as cancelled")
  func badges() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.send(DispatcherBench.push("b1", kind: .badge, presentation: .badge))
    try bench.send(DispatcherBench.push("b2", presentation: .badge))
    try bench.send(DispatcherBench.push("b3", kind: .badge, presentation: .badge))
    #expect(bench.outcomes.map(\.pushId) == ["b1", "b2"])
    #expect(bench.outcomes.allSatisfy { $0.result == .cancelled && $0.errorCode == "superseded" })
    try bench.answer(.sent)
    #expect(bench.air.map(\.pushId) == ["b3"])
  }

  @Test("D7: a read push supersedes waiting badges and reads of its conversation, but no other reads and no messages")
  func reads() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.send(DispatcherBench.push("p2"))
    try bench.send(DispatcherBench.push("b1", kind: .badge, presentation: .badge))
    try bench.send(DispatcherBench.push("r1", kind: .read, presentation: .badge, conversation: "c1"))
    try bench.send(DispatcherBench.push("r2", kind: .read, presentation: .badge, conversation: "c2"))
    try bench.send(DispatcherBench.push("r3", kind: .read, presentation: .badge, conversation: "c1"))
    #expect(bench.outcomes.map(\.pushId) == ["b1", "r1"])
    #expect(try bench.lane()?.items.map(\.push.pushId) == ["p1", "p2", "r2", "r3"])
  }

  @Test("P2: a superseded badge in flight ends by its answer and is not sent again")
  func badgeInAir() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("b1", kind: .badge, presentation: .badge))
    try bench.send(DispatcherBench.push("b2", kind: .badge, presentation: .badge))
    #expect(bench.outcomes.isEmpty)
    try bench.answer(.unavailable)
    #expect(bench.outcomes.map(\.result) == [.cancelled])
    #expect(bench.outcomes[0].attempts == 1)
    #expect(bench.air.map(\.pushId) == ["b2"])
    try bench.send(DispatcherBench.push("b3", kind: .badge, presentation: .badge))
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.result) == [.cancelled, .sent])
  }

  @Test("A full lane drops the oldest badge or read push first, then the oldest push; the front in flight stays")
  func bounded() throws {
    let bench = DispatcherBench { $0.maxLaneLength = 4 }
    try bench.send(DispatcherBench.push("p1"))
    try bench.send(DispatcherBench.push("p2"))
    try bench.send(DispatcherBench.push("r1", kind: .read, presentation: .badge, conversation: "c9"))
    try bench.send(DispatcherBench.push("p3"))
    try bench.send(DispatcherBench.push("p4"))
    #expect(bench.outcomes.map(\.pushId) == ["r1"])
    #expect(bench.outcomes[0].result == .cancelled)
    try bench.send(DispatcherBench.push("p5"))
    #expect(bench.outcomes.map(\.pushId) == ["r1", "p2"])
    #expect(bench.outcomes[1].result == .gaveUp)
    #expect(bench.outcomes[1].errorCode == "lane_full")
    #expect(try bench.lane()?.items.map(\.push.pushId) == ["p1", "p3", "p4", "p5"])
  }

  @Test("Requests in flight are bounded; further lanes wait their turn, in order")
  func maxInFlight() throws {
    let bench = DispatcherBench { $0.maxInFlight = 2 }
    for number in 1...5 { try bench.send(DispatcherBench.push("p\(number)", devices: ["d\(number)"])) }
    #expect(bench.air.map(\.pushId) == ["p1", "p2"])
    try bench.answer(.sent)
    try bench.answer(.sent)
    #expect(bench.air.map(\.pushId) == ["p3", "p4"])
    try bench.restart()
    try bench.wakeUntilSent()
    while !bench.air.isEmpty {
      #expect(bench.air.count <= 2)
      try bench.answer(.sent)
      try bench.wakeUntilSent()
    }
    #expect(Set(bench.outcomes.map(\.pushId)).count == 5)
  }

  @Test(
    "T2: a cancelled device's waiting pushes end, those waiting for a retry too; one in flight ends by its answer"
  )
  func cancelDevice() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.send(DispatcherBench.push("p2"))
    try bench.send(DispatcherBench.push("q1", devices: ["tablet"]))
    try bench.answer(.unavailable, to: bench.air[1])
    try bench.cancel(device: "tablet")
    #expect(bench.outcomes.map(\.pushId) == ["q1"])
    #expect(bench.outcomes[0].result == .cancelled)
    #expect(bench.outcomes[0].attempts == 1)
    try bench.cancel(device: "phone")
    #expect(bench.outcomes.map(\.pushId) == ["q1", "p2"])
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.result) == [.cancelled, .cancelled, .sent])
    #expect(bench.air.isEmpty)
    while bench.wakeAt != nil { try bench.wake() }
    #expect(bench.outcomes.count == 3)
  }

  @Test("D13: a cancelled message or conversation ends its pushes on all devices, and only those decided before")
  func cancelMessage() throws {
    let bench = DispatcherBench()
    let devices = ["phone", "tablet"]
    try bench.send(DispatcherBench.push("p1", devices: devices))
    try bench.send(DispatcherBench.push("p2", devices: devices, conversation: "c2"))
    let between = bench.nextCause()
    try bench.send(DispatcherBench.push("p3", devices: devices, conversation: "c2"))
    try bench.cancel(conversation: "c2", cause: between)
    #expect(bench.outcomes.map(\.pushId) == ["p2", "p2"])
    try bench.cancel(message: "m-p3")
    #expect(bench.outcomes.map(\.pushId) == ["p2", "p2", "p3", "p3"])
    #expect(bench.air.map(\.pushId) == ["p1", "p1"])
    try bench.cancel(user: "somebody else", device: "phone")
    #expect(bench.outcomes.count == 4)
  }

  @Test("a stopped replay takes back its own pushes that wait, and no others")
  func cancelReplay() throws {
    let bench = DispatcherBench()
    let replay = [RecordHeaderField(RecordHeader.replayId, "replay-1")]
    try bench.send(DispatcherBench.push("p1"), headers: replay)
    try bench.send(DispatcherBench.push("p2"), headers: replay)
    try bench.send(DispatcherBench.push("p3"))
    try bench.send(DispatcherBench.push("p4"), headers: [RecordHeaderField(RecordHeader.replayId, "replay-2")])
    try bench.send(.cancelled(PushCancelled(userId: "ann", replayId: "replay-1")), user: "ann", cause: nil)
    #expect(bench.outcomes.map(\.pushId) == ["p2"])
    #expect(bench.outcomes[0].result == .cancelled && bench.outcomes[0].errorCode == "replay_stopped")
    // p1 is in flight and ends by its answer; it is not tried again.
    try bench.answer(.unavailable)
    #expect(bench.outcomes.map(\.pushId) == ["p2", "p1"] && bench.outcomes[1].result == .cancelled)
    while !bench.air.isEmpty { try bench.answer(.sent) }
    #expect(bench.outcomes.map(\.pushId) == ["p2", "p1", "p3", "p4"])
  }

  @Test("P7: after a crash a cancelled push that may be in flight keeps its lane until its time-out")
  func cancelAfterCrash() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.restart()
    try bench.cancel(message: "m-p1")
    try bench.send(DispatcherBench.push("p2"))
    #expect(bench.air.isEmpty)
    #expect(bench.outcomes.isEmpty)
    try bench.wake()
    #expect(bench.outcomes.map(\.result) == [.cancelled])
    #expect(bench.air.map(\.pushId) == ["p2"])
  }

  @Test(
    "M5: a faulty record on nudge.pushes is rejected with a reason and changes nothing",
    arguments: [
      ("not json", DeadLetterCode.invalidJSON), ("{\"schemaVersion\":2}", .unsupportedVersion),
      ("{\"schemaVersion\":1,\"type\":\"x\"}", .unknownType), ("{}", .schemaViolation),
    ])
  func faulty(text: String, code: DeadLetterCode) {
    let bench = DispatcherBench()
    let result = bench.driver.send(bytes: Array(text.utf8), to: .pushes, key: Array("ann".utf8))
    #expect(result.rejection?.code == code)
    #expect(result.effects.isEmpty && result.outputs.isEmpty)
    #expect(bench.driver.send(bytes: Array(text.utf8), to: .pushes, key: nil).rejection?.code == .missingKey)
  }

  @Test("M5: a push without targets, with a repeated device, a wrong key or a token of invalid size is rejected")
  func refused() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", devices: []))
    try bench.send(DispatcherBench.push("p2", devices: ["a", "a"]))
    var push = DispatcherBench.push("p3")
    push.targets[0].token = String(repeating: "x", count: 4097)
    try bench.send(push)
    push.targets[0].token = ""
    try bench.send(push)
    try bench.cancel()
    #expect(bench.rejections.count == 5)
    #expect(bench.rejections.allSatisfy { $0.code == .schemaViolation && !$0.message.contains("xxx") })
    #expect(bench.air.isEmpty && bench.outcomes.isEmpty)
  }
}
