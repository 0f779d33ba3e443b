import Foundation
import NudgeSchema
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("Crashes")
  struct CrashTests {
    @Test(
      "O4, P7: a service killed in the middle of a load goes on where it was: nothing is lost, decided or sent twice",
      arguments: DemoProgram.services)
    func kill(_ program: DemoProgram) throws {
      let pipeline = try Pipeline("kill-\(program.shortName)")
      let services = try pipeline.start(instance: "one")
      let victim = try #require(services.first { $0.program == program })
      let load = ChatLoad("k")
      try pipeline.introduce(load)
      pipeline.publisher.start(rate: 150, load.chat)
      for share in [4, 2] {
        // The second crash may come while it is still catching up.
        let count = load.messages / share
        try pipeline.wait(for: "a part of the load to be decided") { [publisher = pipeline.publisher] in
          publisher.published >= count && $0.decisionCount >= count
        }
        try pipeline.kill(victim)
        try victim.start()
      }
      try pipeline.waitUntilReady([victim])
      try pipeline.settle(load.expected)
      #expect(pipeline.checker.decisionCount == load.messages * (load.members - 1))
      try pipeline.judge(load.expected)
    }

    @Test(
      "P10: a service killed while devices report records each receipt once, although every report comes twice",
      arguments: DemoProgram.services)
    func receipts(_ program: DemoProgram) throws {
      let pipeline = try Pipeline("receipts-\(program.shortName)")
      let services = try pipeline.start(instance: "one")
      let victim = try #require(services.first { $0.program == program })
      let load = ChatLoad("r", messages: 150)
      try pipeline.introduce(load)
      pipeline.publisher.start(rate: 150, load.chat)
      try pipeline.settle(load.expected)

      let targets = pipeline.checker.messageTargets
      #expect(targets.count > 300)
      var wanted: [String: Int] = ["arrived": targets.count]
      var reports: [@Sendable () -> PublishedEvent] = []
      for round in 0..<2 {
        for (number, (push, device)) in targets.enumerated() {
          let fields =
            #""userId":"\#(push.userId)","deviceId":"\#(device)","pushId":"\#(push.pushId)","#
            + #""conversationId":"\#(push.conversationId ?? "")","messageId":"\#(push.messageId ?? "")""#
          for type in number % 3 == 0 ? ["opened", "received"] : ["received"] {
            if round == 0, type == "opened" { wanted["opened", default: 0] += 1 }
            let user = push.userId
            let id = "\(push.pushId)-\(device)-\(type)-\(round)"
            reports.append {
              PublishedEvent(
                topic: .userEvents, key: user,
                value: ChatLoad.event("notification.\(type)", id, ChatLoad.now(), fields))
            }
          }
        }
      }
      let all = wanted.values.reduce(0, +)
      pipeline.publisher.start(rate: 300, reports)
      for share in [4, 2] {
        try pipeline.wait(for: "a part of the reports to be recorded") { $0.receiptCount >= all / share }
        try pipeline.kill(victim)
        try victim.start()
      }
      try pipeline.waitUntilReady([victim])
      try pipeline.settle(load.expected)
      #expect(pipeline.checker.receiptsByState == wanted)
      #expect(try pipeline.judge(load.expected).receiptsByState == wanted)
    }

    @Test("all three are killed and lose their disks in the middle of a load: the changelogs have what they lack")
    func lostState() throws {
      let pipeline = try Pipeline("lost")
      let services = try pipeline.start(instance: "one")
      let load = ChatLoad("l")
      try pipeline.introduce(load)
      pipeline.publisher.start(rate: 150, load.chat)
      try pipeline.wait(for: "a third of the load to be decided") { $0.decisionCount >= load.messages / 3 }
      for service in services {
        try pipeline.kill(service)
        let state = pipeline.stateDirectory(service.program, instance: "one")
        #expect(FileManager.default.fileExists(atPath: state.path))
        try FileManager.default.removeItem(at: state)
        try service.start()
      }
      try pipeline.waitUntilReady(services)
      try pipeline.settle(load.expected)
      try pipeline.judge(load.expected)
    }
  }
}
