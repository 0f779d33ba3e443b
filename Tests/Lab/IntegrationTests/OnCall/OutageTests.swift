import Foundation
import NudgeSchema
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("An outage of FCM shows")
  struct OutageTests {
    private struct Finding: Decodable {
      var subject: String
      var weight: String
      var text: String
    }

    private struct Lag: Decodable {
      struct Pushes: Decodable {
        var waiting: Int
        var isStanding: Bool
      }
      var pushes: Pushes
    }

    private func delivery(_ pipeline: Pipeline) throws -> Finding? {
      try pipeline.nudge(["doctor", "--json"]).output.split(separator: "\n")
        .compactMap { try? JSONDecoder().decode(Finding.self, from: Data($0.utf8)) }.first { $0.subject == "delivery" }
    }

    private func lag(_ pipeline: Pipeline) throws -> Lag.Pushes {
      let output = try pipeline.nudge(["lag", "--json"]).output
      let line = try #require(output.split(separator: "\n").last)
      return try JSONDecoder().decode(Lag.self, from: Data(line.utf8)).pushes
    }

    private func message(_ number: Int) -> PublishedEvent {
      PublishedEvent(
        topic: .chatEvents, key: "ann-bob",
        value: ChatLoad.event(
          "message.created", "e-\(number)", ChatLoad.now(),
          #""conversationId":"ann-bob","messageId":"m-\#(number)","senderId":"ann","text":"Hello?""#))
    }

    @Test("P3: doctor, lag and the log say within 30 s that pushes do not leave, and within 30 s that they leave again")
    func shows() throws {
      let pipeline = try Pipeline("outage")
      let services = try pipeline.start(instance: "one")
      let dispatcher = try #require(services.first { $0.program == .dispatcher })
      func logs(_ message: String) throws -> Bool {
        try String(contentsOf: dispatcher.log, encoding: .utf8).contains(#""message":"\#(message)""#)
      }
      try pipeline.publisher.publish([
        PublishedEvent(
          topic: .chatEvents, key: "ann-bob",
          value: ChatLoad.event(
            "conversation.updated", "c-bob", ChatLoad.now(),
            #""conversationId":"ann-bob","kind":"direct","members":[{"userId":"ann","displayName":"Ann"},"#
              + #"{"userId":"bob","displayName":"Bob"}]"#)),
        PublishedEvent(
          topic: .userEvents, key: "bob",
          value: ChatLoad.event(
            "device.registered", "d-bob", ChatLoad.now(),
            #""userId":"bob","deviceId":"phone","token":"token-of-bob","platform":"android""#)),
      ])
      try pipeline.settle(nil)
      try pipeline.publisher.publish([message(1)])
      try pipeline.wait(for: "the first push") { !$0.outcomes(of: "bob").isEmpty }
      #expect(try delivery(pipeline)?.weight == "good")
      #expect(try !lag(pipeline).isStanding)

      pipeline.setFCMFrozen(true)
      defer { pipeline.setFCMFrozen(false) }
      try pipeline.publisher.publish([message(2)])
      try pipeline.wait(for: "the doctor to have a problem", atMost: 30) { _ in
        let finding = try delivery(pipeline)
        return finding?.weight == "problem" && finding?.text.contains("1 push without an outcome") == true
      }
      let standing = try lag(pipeline)
      #expect(standing.isStanding && standing.waiting == 1)
      #expect(try pipeline.nudge(["lag", "--max-age", "5s"]).status == 1)
      #expect(try pipeline.nudge(["doctor"]).status == 1)
      #expect(try logs("pushes do not leave") && !logs("pushes leave again"))

      pipeline.setFCMFrozen(false)
      // Somebody else's push is the first that arrives, or the one that waited.
      try pipeline.publisher.publish([message(3)])
      try pipeline.wait(for: "all pushes to have left", atMost: 90) { $0.outcomes(of: "bob").count == 3 }
      try pipeline.wait(for: "the log to say that it is over", atMost: 30) { _ in try logs("pushes leave again") }
      #expect(try delivery(pipeline)?.weight == "good")
      #expect(try !lag(pipeline).isStanding)
      pipeline.stop()
      pipeline.hasPassed = true
    }
  }
}
