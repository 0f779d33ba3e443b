import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("Replies to requests that left before a task was lost")
struct OutlivingReplyTests {
  private func reply(_ answer: PushAnswer, to request: SendRequest) -> SendReply {
    SendReply(
      id: request.id, answer: answer, startedAt: DispatcherBench.start, finishedAt: DispatcherBench.start)
  }

  @Test("the same push and device have the same ticket after a loss, whether the lane's row was committed or not")
  func tickets() throws {
    let bench = DispatcherBench()
    let cause = bench.nextCause()
    try bench.send(DispatcherBench.push("p1", devices: ["phone", "tablet"]), cause: cause)
    let first = bench.air
    let tickets = first.compactMap(DispatcherStage.ticket)
    #expect(Set(tickets.map(\.effect)).count == 2)
    // Committed: the lane asks again once the request counts as lost.
    try bench.restart()
    try bench.wakeUntilSent()
    let again = bench.air.compactMap(DispatcherStage.ticket)
    #expect(Set(again.map(\.effect)).isSubset(of: tickets.map(\.effect)) && !again.isEmpty)
    #expect(again.allSatisfy { $0.attempt == 2 })
    // Not committed: the record is read again.
    let other = DispatcherBench()
    try other.send(DispatcherBench.push("p1", devices: ["phone", "tablet"]), cause: cause)
    #expect(other.air.compactMap(DispatcherStage.ticket) == tickets)
  }

  @Test("a lane that waits for the answer of a former owner asks as soon as that is here, and for nothing else")
  func hereBefore() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.send(DispatcherBench.push("p2"))
    let sent = try #require(bench.air.compactMap(DispatcherStage.ticket).first)
    try bench.restart()
    #expect(bench.air.isEmpty)
    try bench.replyIsHere(to: EffectTicket(RowKey("another"), attempt: 1))
    let other = WaitingPush.EffectKey(
      userId: "ann", deviceId: "phone", pushId: "p2", cause: bench.nextCause())
    try bench.replyIsHere(to: EffectTicket(other.rowKey, attempt: 1))
    #expect(bench.air.isEmpty)
    try bench.replyIsHere(to: sent)
    #expect(bench.air.compactMap(DispatcherStage.ticket).map(\.effect) == [sent.effect])
    // A repeat of the record changes nothing.
    try bench.replyIsHere(to: sent)
    #expect(bench.air.count == 1)
  }

  @Test("FCM's verdict on the earlier request ends the push, counted as one attempt; a passing refusal decides nothing")
  func verdicts() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    let first = bench.air[0]
    let sent = try #require(DispatcherStage.ticket(for: first))
    try bench.restart()
    try bench.wakeUntilSent()
    let second = bench.air[0]
    #expect(DispatcherStage.reply(reply(.unavailable, to: first), to: sent, asReplyTo: second) == nil)
    #expect(DispatcherStage.reply(reply(.noProject, to: first), to: sent, asReplyTo: second) == nil)
    #expect(DispatcherStage.reply(reply(.reset, to: first), to: sent, asReplyTo: second) == nil)
    let adopted = try #require(DispatcherStage.reply(reply(.sent, to: first), to: sent, asReplyTo: second))
    #expect(adopted.id == second.id)
    try bench.answer(adopted.answer, to: second, requests: adopted.requests)
    #expect(bench.outcomes.map(\.result) == [.sent] && bench.outcomes[0].attempts == 1)
    #expect(try bench.lane() == nil)
  }
}
