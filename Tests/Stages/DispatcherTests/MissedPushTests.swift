import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("Pushes that are too late: the person's catch-up tells of them")
struct MissedPushTests {
  /// A push that shows a message of a group.
  private func push(
    _ id: String, devices: [String] = ["phone"], presentation: Presentation = .alert,
    expiresIn: Milliseconds = 3_600_000
  ) -> Push {
    var push = DispatcherBench.push(id, devices: devices, presentation: presentation, expiresIn: expiresIn)
    push.conversation = PushConversation(senderName: "Bob", kind: .group, name: "Hikers")
    return push
  }

  @Test("D18: a push whose freshness ends before its first request is left to the catch-up, with what that must know")
  func expired() throws {
    let bench = DispatcherBench()
    try bench.send(push("p1"))
    try bench.send(push("p2", devices: ["phone", "tablet"], presentation: .silent, expiresIn: 1_000))
    bench.now += 1_001
    try bench.answer(.sent, to: bench.air.first { $0.pushId == "p1" })
    #expect(
      bench.missed == [
        PushMissed(
          userId: "ann", pushId: "p2", device: 0, devices: 2, conversationId: "c1", messageId: "m-p2", cause: .expired,
          presentation: .silent, priority: .medium, sentAt: DispatcherBench.start,
          expiresAt: DispatcherBench.start + 1_000, senderName: "Bob", groupName: "Hikers", text: "Hello",
          senderId: "bob")
      ])
    // The tablet has taken it.
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.catchUp) == [nil, true, nil] && bench.missed.count == 1)
    #expect(bench.missedRecords.allSatisfy { $0.key == Array("ann".utf8) })
  }

  @Test("D18: the oldest of a full lane is left to it, each once, also over a restart; what shows nothing is not")
  func laneFull() throws {
    let bench = DispatcherBench()
    try bench.send(push("p0"))
    try bench.send(DispatcherBench.push("r1", kind: .read, presentation: .badge, conversation: "c9"))
    for number in 1...120 {
      if number == 60 { try bench.restart() }
      try bench.send(push("p\(number)"))
    }
    // The first is in flight, and 99 others wait.
    #expect(bench.missed.map(\.messageId) == (1...21).map { "m-p\($0)" })
    #expect(bench.missed.allSatisfy { $0.cause == .laneFull })
    let full = bench.outcomes.filter { $0.errorCode == "lane_full" }
    #expect(full.count == 22 && full.first?.pushId == "r1" && full.first?.catchUp == nil)
    #expect(full.dropFirst().allSatisfy { $0.catchUp == true })
    #expect(Set(bench.missedIds).count == 21)
  }

  @Test("D18: a push that waits until quiet hours begin is left to it")
  func quietHours() throws {
    let bench = DispatcherBench()
    try bench.send(push("p1"))
    var quiet = push("p2")
    // 2027-01-15T08:00:00Z is the beginning.
    quiet.quietHours = QuietHours(start: "08:01", end: "09:00")
    try bench.send(quiet)
    bench.now += 60_000
    try bench.answer(.sent)
    #expect(bench.outcomes.last?.errorCode == "quiet_hours" && bench.outcomes.last?.catchUp == true)
    #expect(bench.missed.map(\.cause) == [.quietHours])
  }

  @Test(
    "D18: nothing else is: what FCM failed, what was taken back, replays, second pushes, badges, edits of what is shown"
  )
  func others() throws {
    let bench = DispatcherBench()
    try bench.send(push("failed", expiresIn: 1_000))
    try bench.answer(.unavailable)
    bench.now += 1_001
    try bench.wakeUntilSent()
    #expect(bench.outcomes.map(\.result) == [.gaveUp])
    for kind in [Push.Kind.read, .deleted, .badge] {
      try bench.send(DispatcherBench.push("\(kind)", kind: kind, presentation: .badge, expiresIn: -1))
    }
    try bench.send(push("badge", presentation: .badge, expiresIn: -1))
    var again = push("again", expiresIn: -1)
    again.escalation = Escalation(pushedAt: bench.now)
    try bench.send(again)
    var edit = push("edit", presentation: .silent, expiresIn: -1)
    (edit.replaces, edit.reason) = (true, nil)
    try bench.send(edit)
    try bench.send(
      push("replayed", expiresIn: -1), headers: [RecordHeaderField(RecordHeader.replayId, "replay-1")])
    #expect(bench.outcomes.count == 8 && bench.missed.isEmpty)
    #expect(bench.outcomes.allSatisfy { $0.catchUp == nil })
    try bench.send(push("front"))
    try bench.send(push("taken-back"))
    try bench.cancel(message: "m-taken-back")
    #expect(bench.outcomes.last?.result == .cancelled && bench.missed.isEmpty)
  }

  @Test("D18: an edit that took the place of its message in the lane is left with the last text")
  func edited() throws {
    let bench = DispatcherBench()
    try bench.send(push("p1"))
    try bench.send(push("p2"))
    var edit = push("p3", presentation: .silent, expiresIn: 1_000)
    (edit.replaces, edit.reason, edit.messageId, edit.body, edit.conversation) = (true, nil, "m-p2", "Better", nil)
    try bench.send(edit)
    bench.now += 1_001
    try bench.answer(.sent)
    let missed = try #require(bench.missed.first)
    #expect(bench.missed.count == 1 && missed.pushId == "p3" && missed.messageId == "m-p2")
    #expect(missed.text == "Better" && missed.edited == true && missed.groupName == "Hikers")
    #expect(missed.presentation == .alert)
  }
}
