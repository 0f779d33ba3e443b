import Foundation
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("Several instances")
  struct ScaleTests {
    @Test("O4: two instances of each service share a load; one of each ends in the middle, and all balances, in order")
    func scaleIn() throws {
      let pipeline = try Pipeline("scale")
      // The group reserves a static member's partitions for a session time-out.
      let session = ["--kafka-property", "session.timeout.ms=6000"]
      let first = try pipeline.start(instance: "first", session)
      let load = ChatLoad("s", groups: 16, messages: 800)
      try pipeline.introduce(load)
      try pipeline.start(instance: "second", session)
      pipeline.publisher.start(rate: 80, load.chat)
      try pipeline.wait(for: "both instances of each to work") { checker in
        PipelineChecker.stages.keys.allSatisfy { stage in
          let names = Set(checker.writers(of: stage).compactMap { $0.split(separator: "-").first })
          return names == ["first", "second"]
        }
      }
      try pipeline.wait(for: "a third of the load to be decided") { $0.decisionCount >= load.messages / 3 }
      pipeline.stop(first)
      #expect(try !pipeline.publisher.isDone(), "the load must still be under way when the first end")
      try pipeline.settle(load.expected)
      try pipeline.judge(load.expected)
    }
  }
}
