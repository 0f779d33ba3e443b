import Foundation
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("Offsets moved by Kafka's own tools")
  struct MovedOffsetsTests {
    @Test("a reset of all groups to the earliest offsets decides, sends and changes nothing again, and is logged")
    func reset() throws {
      let pipeline = try Pipeline("moved")
      let load = ChatLoad("before", groups: 8, messages: 120)
      let before = try pipeline.processLoad(load)

      // The tool refuses while a group has members; ended services have left it.
      let groups = ["ingest", "analyzer", "dispatcher"]
      let (status, output) = try RealKafka.run(
        "kafka-consumer-groups.sh",
        ["--bootstrap-server", pipeline.brokers] + groups.flatMap { ["--group", pipeline.group($0)] }
          + ["--reset-offsets", "--to-earliest", "--all-topics", "--execute"])
      #expect(status == 0 && !output.contains("Error"), "\(output)")

      let services = try pipeline.start(instance: nil)
      for service in services {
        let log = try String(contentsOf: service.log, encoding: .utf8)
        #expect(log.contains("moved by somebody else"), "\(service.program.rawValue)")
      }
      // Repeated work would come before the new events.
      let more = ChatLoad("after", groups: 8, messages: 40)
      try pipeline.introduce(more)
      pipeline.publisher.start(rate: 200, more.chat)
      let expected = load.expected.merging(more.expected) { $1 }
      try pipeline.settle(expected)
      let added = more.messages * (more.members - 1)
      let judge = try pipeline.judge(expected)
      #expect(judge.decisionCount == before.decisionCount + added)
      #expect(judge.candidateRecipientCount == before.candidateRecipientCount + added)
      #expect(before.requests.allSatisfy { old in judge.requests.filter { $0 == old }.count == 1 })
      let tokensBefore = Set(before.requests.map(\.pushId))
      #expect(judge.requests.filter { tokensBefore.contains($0.pushId) }.count == before.requests.count)
    }
  }
}
