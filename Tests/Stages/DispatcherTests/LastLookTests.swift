import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("The last look before a request")
struct LastLookTests {
  /// Two pushes of one device: the first in flight, the second behind it.
  private func waiting(_ change: (inout Push) -> Void = { _ in }) throws -> DispatcherBench {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("front", conversation: "other"))
    var push = DispatcherBench.push("p1")
    change(&push)
    try bench.send(push)
    return bench
  }

  private func cancel(_ bench: DispatcherBench, _ cancelled: PushCancelled) throws {
    _ = try bench.send(.cancelled(cancelled), user: cancelled.userId, cause: nil)
  }

  @Test("D11: a push decided before quiet hours and retried in them is cancelled")
  func quietHours() throws {
    // 2027-01-15T08:00:00Z is 09:00 in Berlin.
    let hours = QuietHours(start: "09:10", end: "10:00", timeZone: "Europe/Berlin")
    let bench = DispatcherBench { $0.timeBudget = 3_600_000 }
    var push = DispatcherBench.push("p1", presentation: .silent)
    push.quietHours = hours
    try bench.send(push)
    try bench.answer(.unavailable)
    bench.now = DispatcherBench.start + 599_999
    try bench.wake()
    #expect(bench.air.count == 1, "a millisecond before they begin it is sent")
    try bench.answer(.unavailable)
    try bench.wake()
    #expect(bench.air.isEmpty)
    #expect(bench.outcomes.map(\.result) == [.cancelled])
    #expect(bench.outcomes[0].errorCode == "quiet_hours")
    #expect(bench.outcomes[0].attempts == 2)
    // After them, what is still fresh goes.
    var later = DispatcherBench.push("p2", presentation: .silent, at: bench.now)
    later.quietHours = hours
    bench.now = DispatcherBench.start + 3_600_000
    try bench.send(later)
    #expect(bench.air.map(\.pushId) == ["p2"])
  }

  @Test("T2: after a sign-out nothing is sent with that token, later pushes included; a new registration is sent to")
  func revoked() throws {
    let bench = try waiting()
    let hash = DispatcherRules.sha256("token-phone-1")
    try cancel(bench, PushCancelled(userId: "ann", deviceId: "phone", tokenHash: hash, version: 1))
    #expect(bench.outcomes.map(\.result) == [.cancelled])
    try bench.answer(.sent)
    try bench.send(DispatcherBench.push("late"))
    #expect(bench.air.isEmpty)
    #expect(bench.outcomes.last?.result == .cancelled && bench.outcomes.last?.errorCode == "token_revoked")
    try bench.restart()
    try bench.send(DispatcherBench.push("later"))
    #expect(bench.air.isEmpty)
    try bench.send(DispatcherBench.push("new", version: 2))
    #expect(bench.air.map(\.pushId) == ["new"])
  }

  @Test("D7: a read ends the pushes that wait up to it and none after it; a read message is not retried")
  func read() throws {
    let bench = DispatcherBench()
    let start = DispatcherBench.start
    try bench.send(DispatcherBench.push("m0"))
    try bench.answer(.unavailable)
    for (id, time) in [("m1", start + 1), ("m2", start + 2), ("m3", start + 2), ("m4", start + 3)] {
      bench.now = time
      try bench.send(DispatcherBench.push(id))
    }
    try cancel(
      bench, PushCancelled(userId: "ann", messageId: "m-m2", conversationId: "c1", sentUpTo: start + 2, badge: 7))
    #expect(bench.outcomes.map(\.pushId) == ["m0", "m1", "m2"])
    #expect(bench.outcomes.allSatisfy { $0.result == .cancelled })
    // m3 is of the same millisecond, and after the one that was read.
    #expect(bench.air.map(\.pushId) == ["m3"])
    #expect(try bench.lane()?.items.map(\.push.badge) == [7, 7])
    try cancel(bench, PushCancelled(userId: "ann", conversationId: "c1", sentUpTo: start + 3, badge: 0))
    #expect(bench.outcomes.map(\.pushId) == ["m0", "m1", "m2", "m4"])
    // In the air: its answer says how it ends; it is not sent again.
    try bench.answer(.unavailable)
    #expect(bench.outcomes.last?.pushId == "m3" && bench.outcomes.last?.result == .cancelled)
    #expect(bench.wakeAt == nil || bench.air.isEmpty)
  }

  @Test("D6: pushes that keep waiting, in overflow rows too, get the badge of the cancellation")
  func badge() throws {
    let bench = DispatcherBench()
    for number in 0..<40 {
      try bench.send(
        DispatcherBench.push(
          "p\(number)", conversation: number == 3 ? "read" : "c1", body: String(repeating: "x", count: 1_000)))
    }
    #expect(try #require(try bench.lane()).endOverflow > 1)
    try cancel(bench, PushCancelled(userId: "ann", conversationId: "read", sentUpTo: bench.now, badge: 9))
    #expect(bench.outcomes.map(\.pushId) == ["p3"])
    try bench.answer(.sent)
    while !bench.air.isEmpty {
      #expect(String(decoding: bench.air[0].body, as: UTF8.self).contains(#""badge":"9""#))
      try bench.answer(.sent)
    }
    #expect(bench.outcomes.count == 40)
  }

  @Test("D8: a mute spares mentions and answers where they are let through, and pushes that remove notifications")
  func muted() throws {
    let bench = try waiting { $0.mentioned = true }
    try bench.send(DispatcherBench.push("p2"))
    var answer = DispatcherBench.push("answer")
    answer.answered = true
    try bench.send(answer)
    try bench.send(DispatcherBench.push("gone", kind: .deleted, presentation: .badge))
    try bench.send(DispatcherBench.push("read", kind: .read, presentation: .badge, conversation: "c2"))
    try cancel(
      bench, PushCancelled(userId: "ann", conversationId: "c1", kind: .message, exceptMentions: true))
    #expect(bench.outcomes.map(\.pushId) == ["p2"])
    try cancel(bench, PushCancelled(userId: "ann", conversationId: "c1"))
    #expect(bench.outcomes.map(\.pushId) == ["p2", "p1", "answer"])
    #expect(try bench.lane()?.items.map(\.push.pushId) == ["front", "gone", "read"])
    try cancel(bench, PushCancelled(userId: "ann", deviceId: "phone"))
    #expect(bench.outcomes.map(\.pushId) == ["p2", "p1", "answer", "gone", "read"])
  }

  // MARK: Edited messages

  private func edit(_ id: String, of message: String) -> Push {
    var push = DispatcherBench.push(id, presentation: .silent, body: "New text")
    push.messageId = "m-" + message
    push.replaces = true
    push.sentAt = DispatcherBench.start
    return push
  }

  @Test("D13: an edit replaces the message's waiting push and appears as that one would have")
  func editWaiting() throws {
    let bench = try waiting()
    try bench.send(edit("e1", of: "p1"))
    try bench.send(edit("e2", of: "p1"))
    #expect(bench.outcomes.map(\.pushId) == ["p1", "e1"])
    #expect(bench.outcomes.allSatisfy { $0.result == .cancelled && $0.errorCode == "superseded" })
    try bench.answer(.sent)
    let request = try #require(bench.air.first)
    #expect(request.pushId == "e2")
    let body = String(decoding: request.body, as: UTF8.self)
    #expect(body.contains("New text") && body.contains(#""sound":"default""#) && body.contains(#""priority":"high""#))
  }

  @Test("D13, D2, P11: an edit of an urgent message that waits is urgent: it passes later quiet hours and a Focus")
  func editUrgent() throws {
    // 08:00 UTC.
    let hours = QuietHours(start: "07:00", end: "12:00", timeZone: nil)
    for isUrgent in [true, nil] {
      let bench = try waiting { $0.urgent = isUrgent }
      try bench.send(edit("e1", of: "p1"))
      try cancel(bench, PushCancelled(userId: "ann", quietHours: hours))
      try bench.answer(.sent)
      let bodies = bench.air.map { String(decoding: $0.body, as: UTF8.self) }
      #expect(bodies.map { $0.contains(#""interruption-level":"time-sensitive""#) } == (isUrgent == true ? [true] : []))
      #expect(bench.outcomes.contains { $0.errorCode == "quiet_hours" } == (isUrgent == nil))
    }
  }

  @Test(
    "D13: an edit that does not know its sender takes title and sender from the waiting push in whose place it goes")
  func editWaitingWithoutSender() throws {
    let bench = try waiting()
    var push = edit("e1", of: "p1")
    push.senderId = nil
    push.title = "Hikers"
    try bench.send(push)
    try bench.answer(.sent)
    let request = try #require(bench.air.first)
    let body = String(decoding: request.body, as: UTF8.self)
    #expect(request.pushId == "e1" && body.contains("New text"))
    #expect(body.contains(#""senderId""#) && !body.contains("Hikers"))
  }

  @Test("D13: an edit behind its message in flight is silent if that was sent, and alerts if it was not")
  func editInAir() throws {
    for answer in [PushAnswer.sent, .unavailable] {
      let bench = DispatcherBench()
      try bench.send(DispatcherBench.push("p1"))
      try bench.send(edit("e1", of: "p1"))
      #expect(bench.outcomes.isEmpty)
      try bench.answer(answer)
      #expect(bench.outcomes.map(\.result) == [answer.isSent ? .sent : .cancelled])
      let request = try #require(bench.air.first)
      #expect(request.pushId == "e1")
      let body = String(decoding: request.body, as: UTF8.self)
      #expect(body.contains(#""sound":"default""#) != answer.isSent)
      try bench.answer(.sent)
      #expect(bench.outcomes.count == 2)
    }
  }

  @Test("P4: a push that FCM rejects has an outcome and a dead letter")
  func rejected() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", devices: ["phone", "tablet"]))
    try bench.answer(.sent)
    try bench.answer(PushAnswer(.rejected, httpStatus: 400, errorCode: "INVALID_ARGUMENT"))
    #expect(bench.outcomes.map(\.result) == [.sent, .rejected])
    let letter = try #require(bench.deadLetters.first)
    #expect(bench.deadLetters.count == 1)
    func header(_ name: String) -> String? {
      letter.headers.last { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
    }
    #expect(header(RecordHeader.errorCode) == "fcm_rejected" && header(RecordHeader.errorStage) == "dispatcher")
    #expect(header(RecordHeader.errorMessage) == "FCM answered 400 INVALID_ARGUMENT")
    #expect(header(RecordHeader.originTopic) == "nudge.pushes" && header(RecordHeader.originOffset) == "0")
    #expect(header(RecordHeader.originTimestamp) == String(DispatcherBench.start))
    guard case .push(let push) = try bench.driver.decode(PushEvent.self, from: letter).body else {
      Issue.record("the dead letter is no push")
      return
    }
    #expect(push.pushId == "p1" && push.targets.map(\.deviceId) == ["tablet"])
  }
}
