import Foundation
import NudgeSchema
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("Replays on a pipeline")
  struct ReplayTests {
    @Test(
      "resend-missing brings back exactly what is missing, wanted, unread and fresh, once; force is counted and capped")
    func replays() throws {
      let pipeline = try Pipeline("replay")
      let scene = OnCallScene(pipeline: pipeline)
      try pipeline.start(instance: nil)
      // A group of 50 listeners with a phone each, half of them with notifications off when the messages come.
      let people = (0..<50).map { "p\($0)" }
      let off = people.filter { $0.last.flatMap { Int(String($0)) }.map { $0 % 2 == 0 } ?? false }
      try scene.publish(
        people.map { scene.device($0, "\($0)-phone", token: "token-\($0)") }
          + people.map {
            scene.preferences($0, "start", #""maxAnalysesPerHour":500,"enabled":\#(!off.contains($0))"#)
          } + [scene.conversation("all", ["ann"] + people)])
      let all = Set(people)
      let messages = ["m1", "m2", "m3"]
      let old = ChatLoad.now() - 2 * 3_600_000
      var expected = Dictionary(uniqueKeysWithValues: messages.map { ($0, all) })
      expected["old"] = all
      try scene.publish(
        messages.map { scene.message($0, in: "all", from: "ann", mentions: people) }
          + [scene.message("old", in: "all", from: "ann", mentions: people, at: old)], expected)
      let before = requests(pipeline)
      #expect(before.count == 3 * 25 && before.allSatisfy { !off.contains($0.recipientId) })

      // Everybody wants to hear again; one has read the first message meanwhile.
      try scene.publish(
        off.map { scene.preferences($0, "again", #""enabled":true"#) } + [
          PublishedEvent(
            topic: .userEvents, key: off[0],
            value: ChatLoad.event(
              "message.read", "read-1", ChatLoad.now(),
              #""userId":"\#(off[0])","conversationId":"all","messageId":"m1""#))
        ], expected)

      let resend = ["replay", "resend-missing", "--since", "30m", "--reason", "notifications_disabled"]
      let dry = try scene.json(resend).value
      #expect(dry["wouldSend"] as? Int == 3 * 25 - 1, "\(dry)")
      #expect((dry["standings"] as? NSDictionary)?["expired"] as? Int == 25)
      #expect((dry["suppressed"] as? NSDictionary)?["already_read"] as? Int == 1)
      try pipeline.look()
      #expect(requests(pipeline).count == before.count, "a dry run sends nothing")

      let run = try scene.json(resend + ["--yes", "--why", "notifications were off by mistake", "--rate", "1000"])
      #expect(run.status == 0 && run.value["result"] as? String == "completed", "\(run.value)")
      try pipeline.settle(expected)
      let resent = requests(pipeline).dropFirst(before.count)
      #expect(resent.count == 3 * 25 - 1)
      #expect(resent.allSatisfy { off.contains($0.recipientId) })
      #expect(!resent.contains { $0.recipientId == off[0] && $0.messageId == "m1" }, "it was read")
      #expect(Set(resent.map { "\($0.recipientId) \($0.messageId ?? "")" }).count == resent.count, "nobody twice")

      // A second time nothing is missing any more.
      let again = try scene.json(resend + ["--yes", "--why", "again"])
      #expect(again.value["wouldSend"] as? Int == 0)
      try pipeline.settle(expected)
      #expect(requests(pipeline).count == before.count + resent.count)

      try force(pipeline, scene, &expected)
      try simulate(scene)
      let list = try pipeline.nudge(["replay", "list"]).output
      #expect(list.contains("notifications were off by mistake") && list.contains("completed"), "\(list)")
      try stop(pipeline, scene, expected)
      #expect(!pipeline.checker.requests.contains { $0.messageId == "old" && off.contains($0.recipientId) })
      try pipeline.judge(nil)
    }

    /// Requests that show a message, but for "old": its catch-ups come whenever a person's offset (P11) ends.
    private func requests(_ pipeline: Pipeline) -> [SeenRequest] {
      pipeline.checker.requests.filter { $0.messageId != nil && $0.messageId != "old" }
    }

    /// By force 100 notifications of people with two devices each are 200 requests, audited; one more is refused before
    /// anything is written.
    private func force(_ pipeline: Pipeline, _ scene: OnCallScene, _ expected: inout [String: Set<String>]) throws {
      let people = (0..<10).map { "f\($0)" }
      try scene.publish(
        people.flatMap { person in
          ["phone", "tablet"].map { scene.device(person, "\(person)-\($0)", token: "token-\(person)-\($0)") }
        } + people.map { scene.preferences($0, "start", #""maxAnalysesPerHour":500"#) }
          + [scene.conversation("few", ["ann", "f0"])], expected)
      // One notification before a time, a hundred after it.
      expected["g0"] = ["f0"]
      try scene.publish([scene.message("g0", in: "few", from: "ann")], expected)
      let middle = RFC3339.text(ChatLoad.now() + 1)
      Thread.sleep(forTimeInterval: 0.01)
      let messages = (1...10).map { "g\($0)" }
      for message in messages { expected[message] = Set(people) }
      try scene.publish(
        [scene.conversation("few", ["ann"] + people, version: "-2")]
          + messages.map { scene.message($0, in: "few", from: "ann", mentions: people) }, expected)
      let before = requests(pipeline)
      #expect(before.filter { messages.contains($0.messageId ?? "") }.count == 200)

      func forced(since: String, _ confirmed: Int) throws -> (status: Int32, output: String) {
        try pipeline.nudge([
          "replay", "force", "--since", since, "--conversation", "few", "--yes", "--confirm", "\(confirmed)", "--why",
          "FCM lost them", "--rate", "1000",
        ])
      }
      let oneMore = try forced(since: "30m", 101)
      #expect(
        oneMore.status == 1
          && oneMore.output.contains("101 notifications are selected; by force one replay makes at most 100"),
        "\(oneMore.output)")
      let unsaid = try forced(since: middle, 99)
      #expect(unsaid.status == 1 && unsaid.output.contains("not confirmed"), "\(unsaid.output)")
      try pipeline.look()
      #expect(requests(pipeline).count == before.count)

      let done = try forced(since: middle, 100)
      #expect(done.status == 0 && done.output.contains("completed"), "\(done.output)")
      try pipeline.settle(expected)
      let sent = requests(pipeline).dropFirst(before.count)
      #expect(sent.count == 200)
      #expect(Set(sent.map { "\($0.token) \($0.messageId ?? "")" }).count == 200, "each device once of each message")
      #expect(sent.allSatisfy { messages.contains($0.messageId ?? "") })
      #expect(Set(sent.map(\.pushId)).isDisjoint(with: before.map(\.pushId)), "new pushes, with ids of their own")
      let audit = try pipeline.nudge(["tail", "audit", "--json", "--type", "replay.ended"]).output
      #expect(audit.contains(#""result":"completed""#) && audit.contains(#""recipients":100"#), "\(audit)")
      let begun = try pipeline.nudge(["tail", "audit", "--json", "--type", "replay.started"]).output
      #expect(begun.contains("FCM lost them") && begun.contains(#""would_send":100"#), "\(begun)")
    }

    /// This program's analyzer decides the whole timeline as the services did, replays included.
    private func simulate(_ scene: OnCallScene) throws {
      let (status, result) = try scene.json(["simulate", "--since", "1h", "--expect-same"])
      #expect(status == 0, "\(result)")
      #expect(result["compared"] as? Int ?? 0 >= 4 * 50 && result["same"] as? Int == result["compared"] as? Int)
      // With a longer freshness, what was too old would have notified those who had notifications on.
      let other = try scene.json([
        "replay", "simulate", "--since", "1h", "--message", "old", "--freshness", "24h", "--expect-same",
      ])
      let change = (other.value["changes"] as? [NSDictionary])?.first
      #expect(other.status == 3 && change?["was"] as? String == "expired", "\(other.value)")
      #expect(change?["wouldBe"] as? String == "alert, high (relevant)" && change?["messages"] as? Int == 25)
    }

    /// A replay that runs is stopped from elsewhere: it ends at once, and nothing it asks for notifies any more.
    private func stop(_ pipeline: Pipeline, _ scene: OnCallScene, _ expected: [String: Set<String>]) throws {
      let before = requests(pipeline).count
      final class Ended: @unchecked Sendable {
        // Written by the one thread, read after it was waited for.
        var result: (status: Int32, output: String)?
        let done = DispatchSemaphore(value: 0)
      }
      let ended = Ended()
      let arguments = [
        "replay", "force", "--since", "30m", "--conversation", "all", "--message", "m1", "--yes", "--confirm", "50",
        "--why", "by mistake", "--rate", "1", "--bootstrap-servers", pipeline.brokers, "--topic-prefix",
        pipeline.names.prefix,
      ]
      let program = DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge")
      Thread.detachNewThread {
        ended.result = try? RealKafka.run(program, arguments)
        ended.done.signal()
      }
      var id: String?
      try waitUntil("the replay has begun") {
        let history = try scene.json(["replay", "list"]).value
        let mine = (history["replays"] as? [NSDictionary])?.first {
          ($0["started"] as? NSDictionary)?["why"] as? String == "by mistake"
        }
        id = mine?["replayId"] as? String
        return (mine?["progress"] as? NSDictionary) != nil
      }
      let name = try #require(id)
      // Without --yes nothing is stopped.
      let asked = try pipeline.nudge(["replay", "stop", name])
      #expect(asked.status == 0 && asked.output.contains("would be stopped"), "\(asked.output)")
      let still = try scene.json(["replay", "list"]).value
      #expect(
        (still["replays"] as? [NSDictionary])?.first { $0["replayId"] as? String == name }?["condition"] as? String
          != "stopped")
      #expect(try pipeline.nudge(["replay", "stop", name, "--yes", "--why", "wrong conversation"]).status == 0)
      #expect(ended.done.wait(timeout: .now() + 30) == .success)
      let result = try #require(ended.result)
      #expect(result.status == 1 && result.output.contains("was stopped"), "\(result.output)")
      try pipeline.settle(expected)
      let sent = requests(pipeline).count - before
      #expect(sent >= 1 && sent < 50)
      let resumed = try pipeline.nudge(["replay", "resume", name, "--yes", "--why", "again"])
      #expect(resumed.status == 1 && resumed.output.contains("cannot be resumed"), "\(resumed.output)")
      try pipeline.look()
      #expect(requests(pipeline).count - before == sent)
    }
  }
}
