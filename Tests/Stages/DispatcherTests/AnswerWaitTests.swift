import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("D22: a push waits for its device to show the message by its stream")
struct AnswerWaitTests {
  private static let wait: Milliseconds = 2_000

  /// A push that the phone may answer for, and not the tablet.
  private func push(_ id: String, on bench: DispatcherBench, devices: [String] = ["phone"]) -> Push {
    var push = DispatcherBench.push(id, devices: devices, at: bench.now)
    for index in push.targets.indices where push.targets[index].deviceId == "phone" {
      push.targets[index].notBefore = bench.now + Self.wait
    }
    return push
  }

  private func shown(_ id: String, on bench: DispatcherBench) throws {
    let cancelled = PushCancelled(
      userId: "ann", deviceId: "phone", messageId: "m-" + id, conversationId: "c1", kind: .message)
    try bench.send(.cancelled(cancelled), user: "ann", cause: nil)
    #expect(bench.rejections.isEmpty)
  }

  @Test("without an answer it is sent, then and not before; other devices have it at once")
  func noAnswer() throws {
    let bench = DispatcherBench()
    try bench.send(push("p1", on: bench, devices: ["phone", "tablet"]))
    #expect(bench.air.map(\.deviceId) == ["tablet"])
    try bench.answer(.sent)
    let begin = bench.now
    bench.now = begin + Self.wait - 1
    try bench.wake()
    #expect(bench.air.map(\.deviceId) == ["phone"] && bench.now == begin + Self.wait)
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.result) == [.sent, .sent])
  }

  @Test("answered in time it is never sent, and its outcome says so; the device's other pushes go on")
  func answered() throws {
    let bench = DispatcherBench()
    try bench.send(push("p1", on: bench, devices: ["phone", "tablet"]))
    try bench.answer(.sent)
    try bench.send(push("p2", on: bench))
    try shown("p1", on: bench)
    let ended = try #require(bench.outcomes.last)
    #expect((ended.pushId, ended.deviceId) == ("p1", "phone"))
    #expect(ended.result == .cancelled && ended.errorCode == "shown_live" && ended.attempts == 0)
    #expect(bench.missed.isEmpty)
    try bench.wakeUntilSent()
    #expect(bench.air.map(\.pushId) == ["p2"])
  }

  @Test("an answer that comes too late changes nothing of what was sent, and ends a push that FCM failed")
  func late() throws {
    let bench = DispatcherBench()
    try bench.send(push("p1", on: bench))
    try bench.wakeUntilSent()
    try shown("p1", on: bench)
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.result) == [.sent])
    try bench.send(push("p2", on: bench))
    try bench.wakeUntilSent()
    try bench.answer(.unavailable)
    try shown("p2", on: bench)
    #expect(bench.outcomes.map(\.result) == [.sent, .cancelled] && bench.air.isEmpty)
    #expect(bench.outcomes.last?.errorCode == "shown_live")
  }

  @Test("what does not wait takes those before it along, in order")
  func together() throws {
    let bench = DispatcherBench()
    try bench.send(push("p1", on: bench))
    try bench.send(push("p2", on: bench))
    #expect(bench.air.isEmpty)
    try bench.send(DispatcherBench.push("urgent", at: bench.now))
    var sent: [String?] = []
    while !bench.air.isEmpty {
      sent.append(bench.air[0].pushId)
      try bench.answer(.sent)
    }
    #expect(sent == ["p1", "p2", "urgent"] && bench.now == DispatcherBench.start)
    // A read shows nothing: it keeps its place.
    try bench.send(push("p3", on: bench))
    try bench.send(DispatcherBench.push("read", kind: .read, presentation: .badge, at: bench.now))
    #expect(bench.air.isEmpty)
    try bench.wakeUntilSent()
    #expect(bench.air.map(\.pushId) == ["p3"])
  }

  @Test("a push that waits to be tried again is not tried earlier by one that does not wait")
  func backingOff() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", at: bench.now))
    try bench.answer(.unavailable)
    try bench.send(push("p2", on: bench))
    try bench.send(DispatcherBench.push("p3", at: bench.now))
    #expect(bench.air.isEmpty && bench.outcomes.isEmpty)
    try bench.wakeUntilSent()
    #expect(bench.air.map(\.pushId) == ["p1"])
  }

  @Test("an edit waits in its message's place, and goes with it")
  func edited() throws {
    let bench = DispatcherBench()
    func edit() -> Push {
      var edit = DispatcherBench.push("edit", presentation: .silent, at: bench.now, body: "with its last text")
      (edit.replaces, edit.messageId, edit.reason) = (true, "m-p1", nil)
      return edit
    }
    try bench.send(push("p1", on: bench))
    try bench.send(edit())
    #expect(bench.air.isEmpty && bench.outcomes.map(\.errorCode) == ["superseded"])
    let begin = bench.now
    try bench.wakeUntilSent()
    #expect(bench.air.map(\.pushId) == ["edit"] && bench.now == begin + Self.wait)
    try bench.answer(.sent)
    let other = DispatcherBench()
    try other.send(push("p1", on: other))
    try other.send(edit())
    try shown("p1", on: other)
    #expect(other.outcomes.map(\.errorCode) == ["superseded", "shown_live"])
  }

  @Test("the wait outlives a restart")
  func restart() throws {
    let bench = DispatcherBench()
    try bench.send(push("p1", on: bench))
    try bench.restart()
    #expect(bench.air.isEmpty)
    try shown("p1", on: bench)
    #expect(bench.outcomes.map(\.errorCode) == ["shown_live"])
    try bench.send(push("p2", on: bench))
    let begin = bench.now
    try bench.restart()
    try bench.wakeUntilSent()
    #expect(bench.air.map(\.pushId) == ["p2"] && bench.now == begin + Self.wait)
  }

  @Test("a clock that is ahead, or was set back, holds nothing back for longer")
  func clocks() throws {
    let bench = DispatcherBench()
    var ahead = push("p1", on: bench)
    ahead.targets[0].notBefore = bench.now + 200_000
    try bench.send(ahead)
    #expect(bench.air.map(\.pushId) == ["p1"])
    try bench.answer(.sent)
    try bench.send(push("p2", on: bench))
    let begin = bench.driver.steadyNow
    bench.setWallClock(by: -200_000)
    try bench.wakeUntilSent()
    #expect(bench.air.map(\.pushId) == ["p2"] && bench.driver.steadyNow - begin <= Self.wait)
  }
}
