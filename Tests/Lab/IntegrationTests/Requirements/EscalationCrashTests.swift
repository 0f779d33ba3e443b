import Foundation
import NudgeSchema
import Testing

@testable import NudgeLab

extension PipelineTests.CrashTests {
  /// Direct messages that cannot wait, from Ann to one person each.
  private struct Urgent {
    let people = 24

    func person(_ number: Int) -> String { "ek-p\(number)" }
    func message(_ number: Int) -> String { "ek-m\(number)" }

    var introductions: [PublishedEvent] {
      (0..<people).flatMap { number -> [PublishedEvent] in
        let (person, now) = (person(number), ChatLoad.now())
        return [
          PublishedEvent(
            topic: .userEvents, key: person,
            value: ChatLoad.event(
              "device.registered", "\(person)-d", now,
              #""userId":"\#(person)","deviceId":"\#(person)-phone","token":"token-\#(person)","platform":"android""#)),
          PublishedEvent(
            topic: .chatEvents, key: "ek-c\(number)",
            value: ChatLoad.event(
              "conversation.updated", "\(person)-c", now,
              #""conversationId":"ek-c\#(number)","kind":"direct","members":[{"userId":"ek-ann","displayName":"Ann"},"#
                + #"{"userId":"\#(person)","displayName":"\#(person)"}]"#)),
        ]
      }
    }

    var chat: [@Sendable () -> PublishedEvent] {
      (0..<people).map { number in
        let message = message(number)
        return {
          PublishedEvent(
            topic: .chatEvents, key: "ek-c\(number)",
            value: ChatLoad.event(
              "message.created", "\(message)-e", ChatLoad.now(),
              #""conversationId":"ek-c\#(number)","messageId":"\#(message)","senderId":"ek-ann","#
                + #""text":"This is urgent, call me""#))
        }
      }
    }

    /// Every third message is read.
    func isRead(_ number: Int) -> Bool { number % 3 == 0 }

    func read(_ number: Int) -> PublishedEvent {
      PublishedEvent(
        topic: .userEvents, key: person(number),
        value: ChatLoad.event(
          "message.read", "\(message(number))-r", ChatLoad.now(),
          #""userId":"\#(person(number))","conversationId":"ek-c\#(number)""#))
    }
  }

  @Test(
    "D21: analyzer and dispatcher are killed with escalations waiting and webhooks in flight: each message is told once, under one id, and none that was read"
  )
  func escalations() throws {
    // The webhook answers late, so that a kill comes between a request and its answer.
    let pipeline = try Pipeline("kill-escalation", faults: #"{"faults":[{"endpoint":"webhook","delayMs":2500}]}"#)
    let policy = pipeline.directory.appendingPathComponent("policy.json")
    try Data(#"{"escalation": {"againSeconds": 6, "webhookSeconds": 4}}"#.utf8).write(to: policy)
    try pipeline.start([.ingest], instance: "one")
    let analyzer = try #require(try pipeline.start([.analyzer], instance: "one", ["--policy", policy.path]).first)
    let dispatcher = try #require(try pipeline.start([.dispatcher], instance: "one", pipeline.webhook).first)
    let load = Urgent()
    try pipeline.introduce(load.introductions)
    pipeline.publisher.start(rate: 20, load.chat)
    try pipeline.wait(for: "all messages to be decided") { $0.decisionCount == load.people }
    try pipeline.publisher.publish((0..<load.people).filter(load.isRead).map(load.read))

    // All wait for their second push.
    #expect(pipeline.checker.escalations.isEmpty)
    try pipeline.kill(analyzer)
    try analyzer.start()
    func told(_ kind: String) -> [Wire.Push] { pipeline.checker.escalations.filter { $0.kind == kind } }
    try pipeline.wait(for: "some to be pushed again") { _ in told("message").count >= 4 }
    try pipeline.kill(analyzer)
    try pipeline.kill(dispatcher)
    for service in [analyzer, dispatcher] { try service.start() }
    func asked() -> [SeenRequest] { pipeline.checker.requests.filter { $0.token == SeenRequest.webhook } }
    try pipeline.wait(for: "webhooks in flight") { _ in asked().count >= 3 }
    let inFlight = Set(asked().map(\.pushId)).subtracting(pipeline.checker.webhookOutcomes)
    #expect(!inFlight.isEmpty)
    for service in [dispatcher, analyzer] { try pipeline.kill(service) }
    for service in [dispatcher, analyzer] { try service.start() }
    try pipeline.waitUntilReady([analyzer, dispatcher])

    let unread = Set((0..<load.people).filter { !load.isRead($0) }.map(load.message))
    try pipeline.wait(for: "the webhook to be told of all") { _ in told("escalation").count >= unread.count }
    try pipeline.settle(nil)
    for kind in ["message", "escalation"] {
      #expect(told(kind).map { $0.messageId ?? "" }.sorted() == unread.sorted(), "one \(kind) for each, and no other")
    }
    // What was in flight came again, under the same id.
    let requests = Dictionary(grouping: asked(), by: \.pushId)
    #expect(Set(requests.keys) == Set(told("escalation").map(\.pushId)))
    #expect(inFlight.allSatisfy { requests[$0]?.count ?? 0 > 1 }, "\(requests.mapValues(\.count))")
    try pipeline.judge(nil)
  }
}
