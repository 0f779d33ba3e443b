import Foundation
import NudgeSchema
import ServiceKit
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("What a person on call asks")
  struct OnCallTests {
    @Test("explain, tail, lag and dead letters answer from the topics of a pipeline that ran")
    func answers() throws {
      let pipeline = try Pipeline("oncall")
      let scene = OnCallScene(pipeline: pipeline)
      try pipeline.start(instance: nil)
      try scene.publish([
        scene.device("bob", "bob-phone", token: "token-of-bob"), scene.conversation("lunch", ["ann", "bob", "cy"]),
        scene.preferences("cy", "off", #""enabled":false"#),
      ])
      try scene.publish(
        [scene.message("m1", in: "lunch", from: "ann", mentions: ["bob"])], ["m1": ["bob", "cy"]])
      // Nothing is known of this conversation yet.
      try pipeline.publisher.publish([scene.message("m2", in: "late", from: "ann")])
      try pipeline.wait(for: "the dead letter") { $0.count(of: "nudge.dead-letters") == 1 }

      // A person who was notified.
      let (status, text) = try pipeline.nudge(["explain", "--user", "bob", "--message", "m1"])
      #expect(status == 0, "\(text)")
      for part in [
        "ALERT, relevant", "message.created by ann", "mentioned", "quiet_hours", "no quiet hours",
        "bob-phone (android)  sent: FCM took it, 1 attempt", "now         bob-phone: an alert since", "badge 1",
        "token hash \(TokenHash.of("token-of-bob"))", "registered 2",
      ] { #expect(text.contains(part), "\(part) in\n\(text)") }
      #expect(!text.contains("token-of-bob") && !text.contains("secret words"), "T4")
      #expect(
        try pipeline.nudge(["explain", "--user", "bob", "--message", "m1", "--texts"]).output.contains(
          "secret words of m1"))

      // A person who was not.
      let cy = try scene.json(["explain", "--user", "cy"])
      let story = try #require((cy.value["stories"] as? [NSDictionary])?.first)
      let decision = try #require((story["decisions"] as? [NSDictionary])?.first?["record"] as? NSDictionary)
      #expect(cy.status == 0 && decision["reason"] as? String == "notifications_disabled")
      #expect(
        decision["text"] as? String == "you turned notifications off", "the reason is no text of a message")

      // Messages without a decision: followed from the event on, to where they stopped.
      func missing(_ user: String, _ message: String) throws -> String? {
        let answer = try scene.json(["explain", "--user", user, "--message", message])
        #expect(answer.status == 1)
        return (answer.value["missing"] as? NSDictionary)?["cause"] as? String
      }
      #expect(try missing("bob", "m2") == "dead_lettered")
      #expect(try missing("ann", "m1") == "sender")
      #expect(try missing("stranger", "m1") == "no_recipient")
      #expect(try missing("bob", "never-sent") == "no_event")

      let token = try pipeline.nudge(["explain", "--token-hash", String(TokenHash.of("token-of-bob").prefix(12))])
      #expect(token.status == 0 && token.output.contains("belongs to bob, device bob-phone"), "\(token.output)")

      let tail = try pipeline.nudge(["tail", "decisions", "--reason", "notifications_disabled"])
      #expect(tail.status == 0 && tail.output.split(separator: "\n").count == 1 && tail.output.contains("userId=cy"))
      let pushes = try pipeline.nudge(["tail", "pushes", "--user", "bob", "--json"]).output
      #expect(pushes.contains("m1") && !pushes.contains("token-of-bob") && !pushes.contains("secret words"), "T4")

      // The broker's own findings are of a single node for tests; the pipeline's must be good.
      let doctor = try pipeline.nudge(["doctor"]).output
      for part in [
        "ok       topics: all 13", "ok       group oncall.nudge-analyzer: 1 member", "ok       lag:",
        "ok       clock:",
        "ok       brokers: 1 up", "notice   dead letters: 1 in the last hour",
      ] { #expect(doctor.contains(part), "\(part) in\n\(doctor)") }
      #expect(!doctor.contains("PROBLEM"), "\(doctor)")

      // No lag while all stages run; lag while one is down.
      #expect(try pipeline.nudge(["lag", "--max-age", "10s"]).status == 0)
      try deadLetters(pipeline, scene)
      try load(pipeline, scene)
      pipeline.stop()
      try pipeline.publisher.publish([scene.message("m3", in: "lunch", from: "ann")])
      try waitUntil("the message is behind ingest's offsets") {
        try pipeline.nudge(["lag"]).output.contains("1 unprocessed in 1 of 4 partitions")
      }
      #expect(try pipeline.nudge(["lag", "--max-age", "1ms"]).status == 1)
      #expect(try missing("bob", "m3") == "not_ingested")
      pipeline.hasPassed = true
    }

    /// A load on a cluster that others use too: it is told from them, accounted for, and leaves no device behind.
    private func load(_ pipeline: Pipeline, _ scene: OnCallScene) throws {
      let arguments = ["load", "--rate", "60", "--duration", "3s", "--ramp", "1s", "--burst", "3x500ms/1s"]
      let dry = try pipeline.nudge(arguments)
      #expect(dry.status == 0 && dry.output.contains("would publish 270 messages"), "\(dry.output)")
      let (status, summary) = try scene.json(arguments + ["--groups", "12", "--yes"])
      #expect(status == 0, "\(summary)")
      #expect((summary["account"] as? NSDictionary)?["balanced"] as? Bool == true, "\(summary)")
      #expect(summary["messages"] as? Int == 270 && (summary["outcomes"] as? NSDictionary)?["sent"] as? Int ?? 0 > 50)
      #expect((summary["latencyMs"] as? NSDictionary)?["p50"] is Int)
      try waitUntil("the sign-outs are processed") { try pipeline.nudge(["lag", "--max-age", "1ms"]).status == 0 }
      let run = try #require(summary["run"] as? String)
      let decided = try pipeline.nudge(["tail", "decisions", "--json", "--limit", "100000"]).output.split(
        separator: "\n"
      )
      .filter { $0.contains("load-\(run)-") }
      // A message that waits has a deferral, and a final decision up to two minutes later.
      let pairs = decided.map { line in
        [line.firstMatch(of: /"messageId":"([^"]*)"/)?.1, line.firstMatch(of: /"userId":"([^"]*)"/)?.1]
      }
      #expect(Set(pairs).count == summary["candidates"] as? Int)
      let person = try #require(decided.last?.firstMatch(of: /"userId":"(load-[^"]*)"/)?.1)
      let story = try scene.json(["explain", "--user", String(person)]).value
      let devices = try #require(story["devices"] as? [NSDictionary])
      #expect(!devices.isEmpty && devices.allSatisfy { $0["isReachable"] as? Bool == false }, "\(devices)")
    }

    /// A dead letter is listed and shown; replayed after its conversation has arrived, it is no longer listed.
    private func deadLetters(_ pipeline: Pipeline, _ scene: OnCallScene) throws {
      let list = try pipeline.nudge(["dead-letters", "list"])
      #expect(list.status == 1 && list.output.contains("1  unknown_conversation  by ingest"), "\(list.output)")
      let shown = try pipeline.nudge(["dead-letters", "show", "--reason", "unknown_conversation"]).output
      #expect(shown.contains("key late") && !shown.contains("secret words"), "\(shown)")

      try scene.publish([scene.conversation("late", ["ann", "bob"])])
      let selection = ["dead-letters", "replay", "--reason", "unknown_conversation"]
      #expect(try pipeline.nudge(selection).output.contains("1 dead letter would be written again"))
      #expect(try pipeline.nudge(["dead-letters", "list"]).status == 1, "a dry run changes nothing")
      #expect(try pipeline.nudge(selection + ["--yes"]).status == 64, "without a reason for the audit")
      let replayed = try pipeline.nudge(selection + ["--yes", "--why", "the conversation came late"])
      #expect(
        replayed.status == 0 && replayed.output.contains("1 dead letter was written again, audited as"),
        "\(replayed.output)")
      try pipeline.wait(for: "the message to be decided and sent") { checker in
        checker.requests.contains { $0.messageId == "m2" && $0.recipientId == "bob" }
      }
      #expect(try pipeline.nudge(["dead-letters", "list"]).status == 0, "handled letters are left out")
      #expect(try pipeline.nudge(["dead-letters", "list", "--handled"]).status == 1)
      #expect(try pipeline.nudge(selection + ["--yes", "--why", "again"]).output.contains("0 dead letters"))
      let audit = try pipeline.nudge(["tail", "audit", "--json"]).output
      #expect(audit.contains("dead_letters.handled") && audit.contains("the conversation came late"), "\(audit)")
    }
  }
}
