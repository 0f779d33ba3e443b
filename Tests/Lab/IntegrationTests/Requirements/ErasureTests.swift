import Foundation
import Kafka
import NudgeSchema
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("Erasure")
  struct ErasureTests {
    /// Ids that are part of nothing else.
    private let gone = "eve-who-leaves"
    private let chat = "chat-that-goes"

    private func direct(_ id: String, _ other: String) -> PublishedEvent {
      PublishedEvent(
        topic: .chatEvents, key: id,
        value: ChatLoad.event(
          "conversation.updated", "c-\(ChatLoad.now())-\(id.count)", ChatLoad.now(),
          #""conversationId":"\#(id)","kind":"direct","members":[{"userId":"ann","displayName":"Ann"},"#
            + #"{"userId":"\#(other)","displayName":"\#(other)"}]"#))
    }

    private func event(_ type: String, _ topic: Topic, key: String, _ fields: String = "") -> PublishedEvent {
      let id = topic == .userEvents ? "userId" : "conversationId"
      return PublishedEvent(
        topic: topic, key: key,
        value: ChatLoad.event(
          type, "\(type)-\(key)-\(ChatLoad.now())", ChatLoad.now(), #""\#(id)":"\#(key)""# + fields))
    }

    /// The current rows of the stages' state that have an id in key or value, by an own reading of the topics.
    private func rows(naming id: String, _ pipeline: Pipeline) throws -> [String] {
      var rows: [String: KafkaRecord] = [:]
      try TopicReader(
        brokers: pipeline.brokers, names: pipeline.names, partitions: Pipeline.partitions, readsToTheEnd: true
      ).readAll { record in
        guard record.topic.hasSuffix("-state") else { return }
        rows["\(record.topic) \(record.partition) \(record.key ?? "")"] = record
      }
      return rows.filter { name, record in
        guard let value = record.value else { return false }
        return name.contains(id) || String(decoding: value, as: UTF8.self).contains(id)
      }.keys.sorted()
    }

    /// Counts of `nudge erase`'s places, by topic.
    private func counts(_ report: NSDictionary) throws -> [String: Int] {
      let places = try #require(report["places"] as? [NSDictionary])
      return Dictionary(
        uniqueKeysWithValues: places.compactMap { place in
          (place["topic"] as? String).flatMap { topic in (place["count"] as? Int).map { (topic, $0) } }
        })
    }

    @Test(
      "D16: nudge erase says where data is, cancels what waits, leaves no row, and refuses what comes until the person registers anew"
    )
    func person() throws {
      let pipeline = try Pipeline(
        "erasure",
        faults: #"{"faults": [{"tokenPrefix": "busy-", "answer": "UNAVAILABLE", "retryAfter": "20", "times": 2}]}"#)
      let scene = OnCallScene(pipeline: pipeline)
      try pipeline.start(instance: "one")
      try scene.publish([
        scene.device(gone, "eve-phone", token: "busy-eve"), scene.device("ben", "ben-phone", token: "busy-ben"),
        direct("ann-eve", gone), direct("ann-ben", "ben"), scene.conversation("three", ["ann", "ben", gone]),
        scene.preferences(gone, "1", #""keywords":["hiking"]"#),
      ])
      // Both pushes wait 20 s for another try.
      try pipeline.publisher.publish([
        scene.message("m1", in: "ann-eve", from: "ann"), scene.message("m2", in: "ann-ben", from: "ann"),
      ])
      try pipeline.wait(for: "two requests that fail") { checker in
        ["ben", gone].allSatisfy { user in checker.requests.contains { $0.recipientId == user && $0.status == 503 } }
      }
      let before = try rows(naming: gone, pipeline)
      let others = try rows(naming: "ben", pipeline).filter { !$0.contains(gone) && !$0.contains("three") }

      let (dry, plan) = try scene.json(["erase", "--user", gone, "--dry-run", "--messages"])
      #expect(dry == 0 && plan["isProven"] == nil)
      let places = try counts(plan)
      for topic in ["nudge.ingest-state", "nudge.analyzer-state", "nudge.dispatcher-state"] {
        #expect(places[topic] == before.count { $0.hasPrefix("\(topic) ") }, "\(topic)")
        #expect(try #require(places[topic]) > 0)
      }
      for topic in [
        "user.events", "chat.events", "nudge.device-claims", "nudge.timeline", "nudge.decisions", "nudge.pushes",
      ] {
        #expect(try #require(places[topic]) > 0, "\(topic)")
      }
      #expect(try rows(naming: gone, pipeline) == before)
      #expect(pipeline.checker.outcomes(of: gone).isEmpty)

      let (status, report) = try scene.json(["erase", "--user", gone, "--yes", "--why", "asked for"])
      #expect(status == 0 && report["isProven"] as? Bool == true, "\(report)")
      try pipeline.wait(for: "the end of the push that waited") { !$0.outcomes(of: gone).isEmpty }
      #expect(pipeline.checker.outcomes(of: gone).map(\.result) == ["cancelled"])
      #expect(try rows(naming: gone, pipeline) == [])
      let kept = try rows(naming: "ben", pipeline)
      #expect(others.allSatisfy { kept.contains($0) } && !others.isEmpty)

      // They are refused, wherever they still appear.
      try pipeline.publisher.publish([
        event("message.read", .userEvents, key: gone, #","conversationId":"three""#),
        scene.message("m3", in: "three", from: gone, mentions: ["ben"]),
        event("conversation.member_added", .chatEvents, key: "three", #","userId":"\#(gone)""#),
      ])
      try pipeline.wait(for: "three dead letters") { $0.deadLetters.count == 3 }
      #expect(pipeline.checker.deadLetters.allSatisfy { $0.headers["nudge-error-code"] == "user_deleted" })
      try pipeline.publisher.publish([scene.message("m4", in: "three", from: "ann", mentions: ["ben", gone])])
      try pipeline.wait(for: "the decision for the one who stays") { $0.decision(of: "m4", for: "ben") != nil }

      // ben's second try came when hers would have.
      try pipeline.wait(for: "the retry for the one who stays", atMost: 90) { checker in
        checker.requests.contains { $0.messageId == "m2" && $0.status == 200 }
      }
      #expect(pipeline.checker.requests.filter { $0.recipientId == gone }.map(\.status) == [503])
      #expect(pipeline.checker.decision(of: "m4", for: gone) == nil)
      #expect(try rows(naming: gone, pipeline) == [])

      try pipeline.publisher.publish([scene.device(gone, "eve-phone", token: "new-eve")])
      try pipeline.wait(for: "the registration") { _ in try !rows(naming: gone, pipeline).isEmpty }
      try pipeline.publisher.publish([
        event("conversation.member_added", .chatEvents, key: "three", #","userId":"\#(gone)","displayName":"Eve""#)
      ])
      try pipeline.publisher.publish([scene.message("m5", in: "three", from: "ann", mentions: [gone])])
      try pipeline.wait(for: "the push to the person who came back") { checker in
        checker.requests.contains { $0.messageId == "m5" && $0.token == "new-eve" && $0.status == 200 }
      }
      pipeline.stop()
      pipeline.hasPassed = true
    }

    @Test("D16: conversation.deleted cancels what waits, leaves no row that names it, and refuses later events")
    func conversation() throws {
      let pipeline = try Pipeline(
        "erased-chat",
        faults: #"{"faults": [{"tokenPrefix": "busy-", "answer": "UNAVAILABLE", "retryAfter": "20", "times": 2}]}"#)
      let scene = OnCallScene(pipeline: pipeline)
      try pipeline.start(instance: "one")
      try scene.publish([
        scene.device("cem", "cem-phone", token: "busy-cem"), scene.device("ben", "ben-phone", token: "busy-ben"),
        direct(chat, "cem"), direct("ann-ben", "ben"),
      ])
      try pipeline.publisher.publish([
        scene.message("m1", in: chat, from: "ann"), scene.message("m2", in: "ann-ben", from: "ann"),
      ])
      try pipeline.wait(for: "two requests that fail") { checker in
        ["m1", "m2"].allSatisfy { id in checker.requests.contains { $0.messageId == id && $0.status == 503 } }
      }
      #expect(try !rows(naming: chat, pipeline).isEmpty)
      try pipeline.publisher.publish([event("conversation.deleted", .chatEvents, key: chat)])
      try pipeline.wait(for: "the end of the push that waited") { checker in
        checker.outcomes(of: "cem").contains { $0.result == "cancelled" }
      }
      try waitUntil("no row names the conversation", state: { "\((try? rows(naming: chat, pipeline)) ?? [])" }) {
        try pipeline.look()
        return try rows(naming: chat, pipeline).isEmpty
      }
      try pipeline.publisher.publish([scene.message("m3", in: chat, from: "ann")])
      try pipeline.wait(for: "a dead letter") { $0.deadLetters.count == 1 }
      #expect(pipeline.checker.deadLetters.first?.headers["nudge-error-code"] == "unknown_conversation")
      try pipeline.wait(for: "the retry in the other conversation", atMost: 90) { checker in
        checker.requests.contains { $0.messageId == "m2" && $0.status == 200 }
      }
      #expect(pipeline.checker.requests.filter { $0.messageId == "m1" }.map(\.status) == [503])
      #expect(try rows(naming: chat, pipeline).isEmpty)
      pipeline.stop()
      pipeline.hasPassed = true
    }
  }
}
