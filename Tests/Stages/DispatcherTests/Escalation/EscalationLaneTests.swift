import Foundation
import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("Escalations in their lanes: the webhook is told as reliably as a device")
struct EscalationLaneTests {
  private static let start = DispatcherBench.start

  private func bench() -> DispatcherBench { DispatcherBench { $0.hasWebhook = true } }

  private func escalation(
    _ id: String = "e1", message: String = "m1", expiresIn: Milliseconds = 3_600_000
  ) -> Push {
    Push(
      pushId: id, kind: .escalation, userId: "ann", targets: [], priority: .high, presentation: .badge, mentioned: true,
      sentAt: Self.start - 600_000, reason: .relevant, badge: 2, conversationId: "c1", messageId: message,
      senderId: "bob",
      escalation: Escalation(
        pushedAt: Self.start - 600_000, pushedAgainAt: Self.start - 300_000, senderName: "Bob", groupName: "Hikers"),
      ttlSeconds: 0, expiresAt: Self.start + expiresIn, decidedAt: Self.start)
  }

  private func fields(_ request: SendRequest) throws -> (type: String?, data: [String: Any]) {
    let root = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
    #expect(root["timestamp"] as? String == RFC3339.text(Self.start))
    return (root["type"] as? String, root["data"] as? [String: Any] ?? [:])
  }

  @Test("issue 41: the webhook is told who should see which message, and nothing of its text")
  func told() throws {
    let bench = bench()
    try bench.send(escalation())
    let request = try #require(bench.air.first)
    #expect(request.destination == .webhook && request.token.isEmpty)
    let (type, data) = try fields(request)
    #expect(type == "message.escalated")
    #expect(data["userId"] as? String == "ann" && data["messageId"] as? String == "m1")
    #expect(data["conversationId"] as? String == "c1" && data["senderId"] as? String == "bob")
    #expect(data["senderName"] as? String == "Bob" && data["groupName"] as? String == "Hikers")
    #expect(data["mentioned"] as? Bool == true && data["priority"] as? String == "high")
    #expect(data["reason"] as? String == "relevant")
    #expect(data["pushedAgainAt"] as? String == RFC3339.text(Self.start - 300_000))
    #expect(
      Set(data.keys) == [
        "userId", "conversationId", "messageId", "senderId", "senderName", "groupName", "mentioned", "priority",
        "reason", "sentAt", "pushedAt", "pushedAgainAt",
      ])
    try bench.answer(PushAnswer(webhookStatus: 204, retryAfter: nil, now: bench.now))
    let outcome = try #require(bench.outcomes.first)
    #expect(outcome.result == .sent && outcome.deviceId == "webhook" && outcome.pushId == "e1")
    #expect(outcome.httpStatus == 204 && outcome.attempts == 1)
    #expect(try bench.lane("webhook") == nil)
  }

  @Test("P3: after 503 it is told again, with the same id, also after a crash; a repeat of the record changes nothing")
  func retried() throws {
    let bench = bench()
    let cause = bench.nextCause()
    for _ in 0..<2 { try bench.send(escalation(), cause: cause) }
    #expect(bench.air.count == 1)
    try bench.answer(PushAnswer(webhookStatus: 503, retryAfter: nil, now: bench.now))
    #expect(bench.air.isEmpty && bench.outcomes.isEmpty)
    try bench.restart()
    try bench.wakeUntilSent()
    #expect(bench.now >= Self.start + 10_000)
    let second = try #require(bench.air.first)
    #expect(second.subject.pushId == "e1" && second.attempt == 2)
    // The process dies with a request in flight: it is repeated once its answer can no longer come.
    let died = bench.now
    try bench.restart()
    try bench.wakeUntilSent()
    #expect(bench.now >= died + 25_000 && bench.air.first?.attempt == 3)
    try bench.answer(PushAnswer(webhookStatus: 200, retryAfter: nil, now: bench.now))
    #expect(bench.outcomes.map(\.result) == [.sent])
  }

  @Test("it is tried for as long as it is fresh, beyond the time budget of pushes")
  func freshness() throws {
    let bench = bench()
    try bench.send(escalation())
    var attempts = 0
    while bench.outcomes.isEmpty, attempts < 1_000 {
      try bench.wakeUntilSent()
      guard !bench.air.isEmpty else { break }
      attempts += 1
      try bench.answer(PushAnswer(webhookStatus: 500, retryAfter: nil, now: bench.now))
    }
    #expect(bench.outcomes.map(\.result) == [.gaveUp])
    #expect(bench.now > Self.start + 3_000_000 && bench.now <= Self.start + 3_700_000 && attempts > 10)
  }

  @Test("issue 41: never for what was read: a read that comes while it waits takes it back")
  func read() throws {
    let bench = bench()
    try bench.send(escalation())
    try bench.answer(PushAnswer(webhookStatus: 503, retryAfter: nil, now: bench.now))
    try bench.send(
      .cancelled(
        PushCancelled(userId: "ann", messageId: "m0", conversationId: "c1", sentUpTo: Self.start - 600_000)),
      user: "ann", cause: nil)
    #expect(bench.outcomes.isEmpty, "of that millisecond only the message that was read is meant")
    try bench.send(
      .cancelled(
        PushCancelled(userId: "ann", messageId: "m1", conversationId: "c1", sentUpTo: Self.start - 600_000)),
      user: "ann", cause: nil)
    #expect(bench.outcomes.map(\.result) == [.cancelled])
    try bench.wakeUntilSent()
    #expect(bench.air.isEmpty)
    // One whose request failed after the read is not sent again.
    try bench.send(escalation("e2", message: "m2"))
    try bench.cancel(message: "m2", conversation: "c1")
    try bench.answer(PushAnswer(webhookStatus: 503, retryAfter: nil, now: bench.now))
    #expect(bench.outcomes.map(\.result) == [.cancelled, .cancelled])
  }

  @Test("a webhook that refuses waits for an operator and harms no push; nor does a refused project harm the webhook")
  func apart() throws {
    let bench = bench()
    try bench.send(escalation())
    try bench.answer(PushAnswer(webhookStatus: 404, retryAfter: nil, now: bench.now))
    try bench.send(DispatcherBench.push("p1"))
    #expect(bench.air.map(\.subject.deviceId) == ["phone"])
    try bench.answer(.noProject)
    #expect(bench.outcomes.isEmpty)
    // Both are asked now and then.
    var asked: Set<String> = []
    for _ in 0..<20 {
      try bench.wakeUntilSent()
      guard let request = bench.air.first else { break }
      asked.insert(request.deviceId)
      try bench.answer(
        request.deviceId == "webhook" ? PushAnswer(webhookStatus: 404, retryAfter: nil, now: bench.now) : .sent)
      if asked.count == 2 { break }
    }
    #expect(asked == ["phone", "webhook"] && bench.outcomes.map(\.result) == [.sent])
    try bench.wakeUntilSent()
    try bench.answer(PushAnswer(webhookStatus: 200, retryAfter: nil, now: bench.now))
    #expect(bench.outcomes.map(\.result) == [.sent, .sent])
  }

  @Test("a request that the receiver refuses for good ends as rejected, and is no dead letter")
  func rejected() throws {
    let bench = bench()
    try bench.send(escalation())
    try bench.answer(PushAnswer(webhookStatus: 422, retryAfter: nil, now: bench.now))
    #expect(bench.outcomes.map(\.result) == [.rejected] && bench.outcomes.map(\.errorCode) == ["HTTP_422"])
    #expect(bench.deadLetters.isEmpty && bench.rejections.isEmpty)
  }

  @Test("without a webhook an escalation ends at once, and its outcome says why; a push without targets is refused")
  func noWebhook() throws {
    let bench = DispatcherBench()
    try bench.send(escalation())
    #expect(bench.air.isEmpty && bench.outcomes.map(\.errorCode) == ["no_webhook"])
    #expect(bench.outcomes.map(\.result) == [.cancelled])
    var empty = DispatcherBench.push("p1")
    empty.targets = []
    try bench.send(empty)
    #expect(bench.rejections.count == 1)
  }

  @Test("D16: an erased person's escalation is taken back, and no row stays")
  func erased() throws {
    let bench = bench()
    try bench.send(escalation())
    try bench.answer(PushAnswer(webhookStatus: 503, retryAfter: nil, now: bench.now))
    try bench.send(.cancelled(PushCancelled(userId: "ann", erased: true)), user: "ann", cause: nil)
    #expect(bench.outcomes.map(\.result) == [.cancelled])
    #expect(try bench.driver.allRows().isEmpty)
  }

  @Test(
    "an answer of the webhook by its status",
    arguments: [
      (200, "sent"), (202, "sent"), (301, "project_refused"), (302, "project_refused"), (400, "rejected"),
      (401, "project_refused"), (404, "project_refused"), (408, "server_failed"), (410, "project_refused"),
      (422, "rejected"), (429, "quota_device"), (500, "server_failed"), (503, "server_failed"), (599, "server_failed"),
    ])
  func answers(_ status: Int, _ verdict: String) {
    let answer = PushAnswer(webhookStatus: status, retryAfter: "7", now: 0)
    #expect(answer.verdictName == verdict && answer.httpStatus == status)
    #expect(answer.retryAfter == (verdict == "sent" ? nil : 7_000))
    #expect(answer.errorCode == (verdict == "sent" ? nil : "HTTP_\(status)"))
  }
}
