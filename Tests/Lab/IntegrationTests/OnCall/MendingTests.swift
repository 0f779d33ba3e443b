import Foundation
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import NudgeLab

extension PipelineTests {
  /// Failures of FCM and mistakes of producers, mended by the commands of docs/operations.md.
  @Suite("Mending on a pipeline")
  struct MendingTests {
    @Test("resend-failed makes a push again on the device that lacks it, once; the device that has it is left alone")
    func resendFailed() throws {
      let pipeline = try Pipeline(
        "mending", faults: #"{"faults": [{"tokenPrefix": "odd-", "answer": "INVALID_ARGUMENT", "times": 2}]}"#)
      let scene = OnCallScene(pipeline: pipeline)
      try pipeline.start(instance: nil)
      try scene.publish([
        scene.device("bob", "bob-phone", token: "odd-bob"), scene.device("bob", "bob-tablet", token: "good-bob"),
        scene.device("cy", "cy-phone", token: "odd-cy"), scene.device("dan", "dan-phone", token: "good-dan"),
        scene.conversation("team", ["ann", "bob", "cy", "dan"]),
      ])
      let all: Set<String> = ["bob", "cy", "dan"]
      // Refused once for each of the two odd tokens.
      try scene.publish([scene.message("m1", in: "team", from: "ann", mentions: all.sorted())], ["m1": all])
      let before = pipeline.checker.requests
      #expect(before.filter { $0.status == 400 }.map(\.token).sorted() == ["odd-bob", "odd-cy"])
      #expect(pipeline.checker.outcomes(of: "cy").map(\.result) == ["rejected"])

      let resend = ["replay", "resend-failed", "--since", "30m"]
      let dry = try scene.json(resend)
      #expect(dry.status == 0 && dry.value["wouldSend"] as? Int == 2, "\(dry.value)")
      try pipeline.look()
      #expect(pipeline.checker.requests.count == before.count, "a dry run sends nothing")

      let run = try scene.json(resend + ["--yes", "--why", "our own fault", "--rate", "1000"])
      #expect(run.status == 0 && run.value["result"] as? String == "completed", "\(run.value)")
      try pipeline.settle(["m1": all])
      let again = pipeline.checker.requests.dropFirst(before.count).filter { $0.messageId == "m1" }
      #expect(again.map(\.token).sorted() == ["odd-bob", "odd-cy"] && again.allSatisfy { $0.status == 200 })
      let second = try scene.json(resend + ["--yes", "--why", "again"])
      #expect(second.value["wouldSend"] as? Int == 0, "\(second.value)")
      try pipeline.judge(nil, allowing: ["fcm_rejected"])
    }

    @Test(
      "a dead letter is corrected and published, another one replayed once its conversation is known; each notifies once"
    )
    func editAndReplay() throws {
      let pipeline = try Pipeline("mended")
      let scene = OnCallScene(pipeline: pipeline)
      try pipeline.start(instance: nil)
      try scene.publish([
        scene.device("bob", "bob-phone", token: "token-of-bob"), scene.conversation("lunch", ["ann", "bob"]),
      ])
      // One producer is of a later release; the other's conversation comes later.
      var early = scene.message("m1", in: "lunch", from: "ann", mentions: ["bob"])
      early.value = early.value.replacing(#""schemaVersion":1"#, with: #""schemaVersion":9"#)
      try pipeline.publisher.publish([early, scene.message("m2", in: "dinner", from: "ann", mentions: ["bob"])])
      try pipeline.wait(for: "two dead letters") { $0.deadLetters.count == 2 }
      #expect(
        pipeline.checker.deadLetters.compactMap { $0.headers["nudge-error-code"] }.sorted()
          == ["unknown_conversation", "unsupported_version"])

      let edit = ["dead-letters", "edit", "--reason", "unsupported_version", "--since", "30m"]
      let wrong = try pipeline.nudge(edit + ["--set", "schemaVersion=8"])
      #expect(wrong.status == 1, "\(wrong.output)")
      let dry = try pipeline.nudge(edit + ["--set", "schemaVersion=1"])
      #expect(dry.status == 0 && dry.output.contains("would"), "\(dry.output)")
      #expect(pipeline.checker.decision(of: "m1", for: "bob") == nil)
      let done = try pipeline.nudge(edit + ["--set", "schemaVersion=1", "--yes", "--why", "wrong version"])
      #expect(done.status == 0, "\(done.output)")
      try pipeline.wait(for: "the corrected message") { checker in
        checker.requests.contains { $0.messageId == "m1" && $0.status == 200 }
      }

      pipeline.sentByOthers += 1
      try scene.publish([scene.conversation("dinner", ["ann", "bob"])])
      let replay = ["dead-letters", "replay", "--reason", "unknown_conversation", "--since", "30m"]
      #expect(try pipeline.nudge(replay).output.contains("1 dead letter would be written again"))
      let replayed = try pipeline.nudge(replay + ["--yes", "--why", "the conversation came late"])
      #expect(
        replayed.status == 0 && replayed.output.contains("1 dead letter was written again"), "\(replayed.output)")
      try pipeline.wait(for: "the message that came early") { checker in
        checker.requests.contains { $0.messageId == "m2" && $0.status == 200 }
      }
      // Both are handled: a second time there is nothing.
      #expect(try pipeline.nudge(replay).output.contains("0 dead letters would be"))
      #expect(try pipeline.nudge(edit + ["--set", "schemaVersion=1"]).status == 1)
      #expect(pipeline.checker.requests.map(\.messageId).sorted { $0 ?? "" < $1 ?? "" } == ["m1", "m2"])
      let audit = try pipeline.nudge(["tail", "audit", "--json"]).output
      #expect(audit.contains("wrong version") && audit.contains("the conversation came late"), "\(audit)")
      pipeline.stop()
      pipeline.hasPassed = true
    }

    @Test("nudge rejections --follow prints a producer's own refusals as they come, and no other's")
    func rejections() throws {
      let pipeline = try Pipeline("rejections")
      let scene = OnCallScene(pipeline: pipeline)
      let keys = pipeline.directory.appendingPathComponent("keys")
      func key(_ name: String) -> String { "the-key-of-\(name)-has-32-characters-or-more" }
      try Data(["chat", "other"].map { "\($0) \(key($0))\n" }.joined().utf8).write(to: keys)
      let ingest = try pipeline.start(
        [.ingest], instance: nil, ["--http-address", "127.0.0.1:0", "--api-keys-file", keys.path])
      let port = try String(contentsOf: ingest[0].log, encoding: .utf8)
        .firstMatch(of: /HTTP API listens.*?"port":(\d+)/).flatMap { Int($0.1) }
      func post(_ message: String, as name: String) throws {
        let answer = try SocketClient(port: try #require(port)).request(
          "POST", "/v1/events",
          headers: ["Content-Type: application/json", "Authorization: Bearer \(key(name))"],
          body: scene.message(message, in: "nobody-knows", from: "ann").value)
        #expect(answer.status == 202, "\(answer.body)")
      }
      try post("before", as: "chat")
      try post("others", as: "other")
      try pipeline.wait(for: "two dead letters") { $0.deadLetters.count == 2 }

      let follower = Process()
      let output = Pipe()
      follower.executableURL = DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge")
      follower.arguments = [
        "rejections", "--producer", "chat", "--follow", "--json", "--since", "30m", "--bootstrap-servers",
        pipeline.brokers,
        "--topic-prefix", pipeline.names.prefix,
      ]
      follower.standardOutput = output
      follower.standardError = FileHandle.nullDevice
      try follower.run()
      let printed = PipeText(output)
      func read(lines: Int) -> String {
        printed.read("\(lines) lines") { $0.count(where: \.isNewline) >= lines }
        return printed.text
      }
      var text = read(lines: 1)
      #expect(text.contains("e-before") && text.contains("unknown_conversation"), "\(text)")
      try post("others-2", as: "other")
      try post("after", as: "chat")
      text = read(lines: 2)
      #expect(text.contains("e-after") && !text.contains("e-others"), "\(text)")
      follower.interrupt()
      follower.waitUntilExit()
      #expect(follower.terminationStatus == ExitCode.interrupted)
      pipeline.stop()
      pipeline.hasPassed = true
    }
  }
}
