import NudgeCodec
import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("P7: answers are handed over as push.answered")
struct HandoverTests {
  private static let cause = Origin(topic: "nudge.timeline", partition: 3, offset: 9000, index: 2, generation: 7)
  private static let ticket = EffectTicket(
    WaitingPush.EffectKey(userId: "ben", deviceId: "ben-phone", pushId: "push-1", cause: cause).rowKey, attempt: 3)

  private func record(of reply: SendReply?) throws -> InputRecord {
    let written = try #require(try DispatcherStage.handover(of: HandedOver(Self.ticket, reply: reply), now: 77))
    #expect(written.key == Array("ben".utf8))
    return InputRecord(
      topic: .pushes, topicName: "nudge.pushes", partition: 0, offset: 1, timestamp: 0, key: written.key,
      value: written.value, headers: [RecordHeaderField(RecordHeader.handover, "1")])
  }

  @Test("what FCM decided arrives as it was; anything else decides nothing")
  func verdicts() throws {
    let decided: [PushAnswer] = [
      PushAnswer(.sent(name: "projects/p/messages/1"), httpStatus: 200), PushAnswer(.sent(name: nil), httpStatus: 200),
      PushAnswer(.invalidToken, httpStatus: 404, errorCode: "UNREGISTERED"),
      PushAnswer(.senderMismatch, httpStatus: 403, errorCode: "SENDER_ID_MISMATCH"),
      PushAnswer(.rejected, httpStatus: 400, errorCode: "INVALID_ARGUMENT"),
    ]
    for answer in decided {
      let reply = SendReply(id: 9, answer: answer, requests: 2, startedAt: 50, finishedAt: 60)
      let read = try DispatcherStage.handedOver(try record(of: reply))
      #expect(read.ticket == Self.ticket && read.reply?.answer == answer)
      #expect(read.reply?.requests == 2 && read.reply?.startedAt == 50 && read.reply?.finishedAt == 60)
    }
    let open: [PushAnswer.Verdict] = [
      .subscriptionRefused, .projectRefused, .platformRefused, .quotaExceeded(.device), .quotaExceeded(.project),
      .serverFailed, .unreachable,
      .notSent,
    ]
    for verdict in open {
      let reply = SendReply(id: 9, answer: PushAnswer(verdict), startedAt: 50, finishedAt: 60)
      let read = try #require(try DispatcherStage.handedOver(try record(of: reply)).reply)
      let effect = SendRequest(
        id: 1, destination: .fcm(project: nil),
        subject: .init(userId: "ben", deviceId: "ben-phone", pushId: "push-1", attempt: 4),
        token: "t", body: [])
      #expect(DispatcherStage.reply(read, to: Self.ticket, asReplyTo: effect) == nil, "\(verdict)")
    }
    #expect(try DispatcherStage.handedOver(try record(of: nil)).reply == nil)
  }

  @Test("the record names person, device, push and attempt, and the same answer has the same event id")
  func fields() throws {
    let reply = SendReply(id: 9, answer: PushAnswer(.sent(name: "n"), httpStatus: 200), startedAt: 50, finishedAt: 60)
    let (first, again) = (try record(of: reply), try record(of: reply))
    #expect(first.value == again.value)
    let event = try RecordCodec().decode(PushEvent.self, from: try #require(first.value))
    guard case .answered(let body) = event.body else {
      Issue.record("another type")
      return
    }
    #expect(event.origin == Self.cause && event.envelope.occurredAt == 60)
    #expect(body.userId == "ben" && body.deviceId == "ben-phone" && body.pushId == "push-1" && body.attempt == 3)
    #expect(body.result == .sent)
    #expect(throws: Rejection.self) {
      try DispatcherStage.handedOver(
        InputRecord(
          topic: .pushes, topicName: "nudge.pushes", partition: 0, offset: 1, timestamp: 0, key: Array("ann".utf8),
          value: first.value))
    }
  }
}
