import Foundation
import NudgeSchema
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("Trouble with FCM and tokens")
  struct FCMTroubleTests {
    private func register(_ user: String, _ device: String, _ token: String) -> PublishedEvent {
      PublishedEvent(
        topic: .userEvents, key: user,
        value: ChatLoad.event(
          "device.registered", "\(user)-\(device)-\(ChatLoad.now())", ChatLoad.now(),
          #""userId":"\#(user)","deviceId":"\#(device)","token":"\#(token)","platform":"android""#))
    }

    /// People with a direct conversation with ann, who writes to all of them.
    private func introduce(_ users: [String]) -> [PublishedEvent] {
      users.map { user in
        PublishedEvent(
          topic: .chatEvents, key: "ann-\(user)",
          value: ChatLoad.event(
            "conversation.updated", "c-\(user)", ChatLoad.now(),
            #""conversationId":"ann-\#(user)","kind":"direct","members":[{"userId":"ann","displayName":"Ann"},"#
              + #"{"userId":"\#(user)","displayName":"\#(user)"}]"#))
      }
    }

    private func write(_ round: String, to users: [String]) -> [PublishedEvent] {
      users.map { user in
        PublishedEvent(
          topic: .chatEvents, key: "ann-\(user)",
          value: ChatLoad.event(
            "message.created", "e-\(round)-\(user)", ChatLoad.now(),
            #""conversationId":"ann-\#(user)","messageId":"\#(round)-\#(user)","senderId":"ann","text":"Hello?""#))
      }
    }

    private func expected(_ rounds: [(String, [String])]) -> [String: Set<String>] {
      var expected: [String: Set<String>] = [:]
      for (round, users) in rounds { for user in users { expected["\(round)-\(user)"] = [user] } }
      return expected
    }

    @Test("P3, P4, T3: FCM's answers end as the table says, and a token it does not know is pruned")
    func answers() throws {
      let pipeline = try Pipeline(
        "trouble",
        faults: """
          {"faults": [
            {"tokenPrefix": "busy-", "answer": "UNAVAILABLE", "retryAfter": "1", "times": 2},
            {"tokenPrefix": "gone-", "answer": "UNREGISTERED"},
            {"tokenPrefix": "wrong-", "answer": "INVALID_ARGUMENT"},
            {"tokenPrefix": "late-", "answer": "ACCESS_TOKEN_EXPIRED", "times": 1}]}
          """)
      try pipeline.start(instance: "one")
      let users = ["bob", "cem", "dan", "eve", "fay", "gus"]
      try pipeline.publisher.publish(
        introduce(users) + [
          register("bob", "bob-1", "busy-bob"), register("cem", "cem-1", "gone-cem"),
          register("cem", "cem-2", "fine-cem"), register("dan", "dan-1", "gone-dan"),
          register("eve", "eve-1", "late-eve"), register("fay", "fay-1", "wrong-fay"),
          register("gus", "gus-1", "busy-gus"),
        ])
      try pipeline.settle(nil)
      try pipeline.publisher.publish(write("1", to: users))
      try pipeline.settle(expected([("1", users)]))
      func results(_ user: String) -> [String: String] {
        Dictionary(pipeline.checker.outcomes(of: user).map { ($0.deviceId, $0.result) }) { "\($0) and \($1)" }
      }
      #expect(results("bob") == ["bob-1": "sent"])
      #expect(results("cem") == ["cem-1": "invalid_token", "cem-2": "sent"])
      #expect(results("dan") == ["dan-1": "invalid_token"])
      #expect(results("eve") == ["eve-1": "sent"])
      #expect(results("fay") == ["fay-1": "rejected"])
      #expect(results("gus") == ["gus-1": "sent"])
      for user in ["bob", "gus", "eve"] {
        #expect(pipeline.checker.outcomes(of: user).first?.attempts == 2, "\(user)")
        let requests = pipeline.checker.requests.filter { $0.recipientId == user }
        #expect(requests.map(\.status) == [user == "eve" ? 401 : 503, 200], "\(user)")
        #expect(Set(requests.map(\.pushId)).count == 1, "\(user)")
        if user != "eve", requests.count == 2 {
          #expect(requests[1].time - requests[0].time >= 10_000, "Google asks for 10 s at least")
        }
      }
      #expect(pipeline.checker.outcomes(of: "dan").first?.errorCode == "UNREGISTERED")

      try pipeline.publisher.publish(write("2", to: ["cem", "dan"]))
      let all = expected([("1", users), ("2", ["cem", "dan"])])
      try pipeline.settle(all)
      #expect(pipeline.checker.decision(of: "2-dan", for: "dan")?.reason == "no_device")
      #expect(pipeline.checker.requests.filter { $0.messageId == "2-cem" }.map(\.token) == ["fine-cem"])
      #expect(pipeline.checker.requests.filter { $0.token.hasPrefix("gone-") }.count == 2)
      // Rejected pushes appear there too.
      try pipeline.judge(all, allowing: [DeadLetterCode.fcmRejected.rawValue])
    }

    @Test(
      "P3, P7, P8: 20 % of the answers 503 and 1 % hanging, two dispatchers, one killed twice: each push and device ends once, and each message is shown once"
    )
    func flaky() throws {
      // Limited, so that the last attempts succeed and the test ends.
      let pipeline = try Pipeline(
        "flaky",
        faults: """
          {"seed": 14, "faults": [
            {"ratio": 0.01, "times": 5, "action": "hang"},
            {"ratio": 0.2, "times": 80, "answer": "UNAVAILABLE"}]}
          """)
      try pipeline.start(instance: "one")
      let victim = try #require(try pipeline.start([.dispatcher], instance: "two").first)
      let load = ChatLoad("f")
      try pipeline.introduce(load)
      pipeline.publisher.start(rate: 100, load.chat)
      for share in [4, 2] {
        let count = load.messages / share
        try pipeline.wait(for: "a part of the load to be decided") { $0.decisionCount >= count }
        try pipeline.kill(victim)
        try victim.start()
      }
      try pipeline.waitUntilReady([victim])
      try pipeline.settle(load.expected, atMost: 240)
      let requests = pipeline.checker.requests
      #expect(requests.filter { $0.status == 503 }.count > 20)
      // A device replaces by the message's id, so a second push of the message would alert twice.
      var pushes: [String: Set<String>] = [:]
      for request in requests where request.status == 200 {
        guard let messageId = request.messageId else { continue }
        pushes["\(request.token) \(messageId)", default: []].insert(request.pushId)
      }
      #expect(!pushes.isEmpty && pushes.values.allSatisfy { $0.count == 1 })
      try pipeline.judge(load.expected)
    }

    @Test("T2: a token claimed by somebody else is lost to its former owner at once, what waits for them included")
    func claimed() throws {
      let pipeline = try Pipeline(
        "claimed", faults: #"{"faults": [{"tokenPrefix": "stuck-", "answer": "UNAVAILABLE", "times": 1}]}"#)
      try pipeline.start(instance: "one")
      let users = ["hal", "ivy", "jon", "kim"]
      try pipeline.publisher.publish(
        introduce(users) + [register("hal", "hal-1", "stuck-phone"), register("jon", "jon-1", "shared-phone")])
      try pipeline.settle(nil)
      try pipeline.publisher.publish(write("1", to: ["hal", "jon"]))
      // hal's push waits at least 10 s for its second attempt.
      try pipeline.wait(for: "the first requests") { checker in
        checker.requests.contains { $0.recipientId == "hal" && $0.status == 503 }
          && checker.requests.contains { $0.recipientId == "jon" && $0.status == 200 }
      }
      try pipeline.publisher.publish([
        register("ivy", "ivy-1", "stuck-phone"), register("kim", "kim-1", "shared-phone"),
      ])
      let first = expected([("1", ["hal", "jon"])])
      try pipeline.settle(first, atMost: 9)
      #expect(pipeline.checker.outcomes(of: "hal").map(\.result) == ["cancelled"])

      try pipeline.publisher.publish(write("2", to: users))
      let all = expected([("1", ["hal", "jon"]), ("2", users)])
      try pipeline.settle(all)
      for user in ["hal", "jon"] {
        #expect(pipeline.checker.decision(of: "2-\(user)", for: user)?.reason == "no_device")
        #expect(pipeline.checker.requests.filter { $0.recipientId == user }.count == 1)
      }
      for user in ["ivy", "kim"] {
        #expect(pipeline.checker.requests.filter { $0.recipientId == user }.map(\.status) == [200])
      }
      try pipeline.judge(all)
    }
  }
}
