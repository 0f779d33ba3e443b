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
      let load = ChatLoad("s", groups: 16, messages: 8_000)
      try pipeline.introduce(load)
      try pipeline.start(instance: "second", session)
      pipeline.publisher.start(rate: 80, load.chat)
      try pipeline.wait(for: "both instances of each to work") { checker in
        PipelineChecker.stages.keys.allSatisfy { stage in
          let names = Set(checker.writers(of: stage).compactMap { $0.split(separator: "-").first })
          return names == ["first", "second"]
        }
      }
      try pipeline.wait(for: "a part of the load to be decided") { $0.decisionCount >= 270 }
      pipeline.stop(first)
      #expect(try !pipeline.publisher.isDone(), "the load must still be under way when the first end")
      let decided = pipeline.checker.decisionCount
      try pipeline.wait(for: "the second to go on") { $0.decisionCount >= decided + 270 }
      let published = ChatLoad("s", groups: load.groups, messages: try pipeline.publisher.stop())
      try pipeline.settle(published.expected)
      try pipeline.judge(published.expected)
    }

    @Test(
      "O9: from one instance of each service to three and back to one under load, no task pauses for more than 2 s when an instance leaves, or 12 s when it is killed for good; nothing is lost or doubled"
    )
    func outAndIn() throws {
      let pipeline = try Pipeline("pauses")
      // The products' own session time-out. A killed dispatcher's requests are sent again 13 s later (3 s and 10 s).
      try pipeline.start(instance: "pod-0")
      let load = ChatLoad("p", groups: 24, messages: 8_000)
      try pipeline.introduce(load)
      pipeline.publisher.start(rate: 40, load.chat)
      let started = ChatLoad.now()
      try pipeline.wait(for: "the first messages to be decided") { $0.decisionCount >= 800 }
      let alone = ChatLoad.now()
      // A machine with other work pauses tasks too, whoever leaves.
      let noise = try report(pipeline, "alone", PipelineChecker.stages.keys.sorted(), from: started, to: alone)

      let second = try pipeline.start(instance: "pod-1")
      let third = try pipeline.start(instance: "pod-2")
      try pipeline.wait(for: "three instances of each to work") { checker in
        PipelineChecker.stages.keys.allSatisfy { Set(checker.commits(of: $0).owners.values).count == 3 }
      }
      try report(pipeline, "one to three", PipelineChecker.stages.keys.sorted(), from: alone, to: ChatLoad.now())

      // One stage after the other: the pause of a stage would leave the next without work.
      for service in third {
        let stage = service.program.shortName
        let start = ChatLoad.now()
        pipeline.retire(service)
        try waitForOthers(pipeline, [stage], without: "pod-2", since: ChatLoad.now())
        let pause = try report(pipeline, "\(stage) leaves", [stage], from: start, to: ChatLoad.now())
        #expect(pause <= 2_000 + noise, "\(stage): a task paused for \(pause) ms when an instance left")
      }

      // A host is lost, and nobody brings its processes back.
      let start = ChatLoad.now()
      for service in second { try pipeline.lose(service) }
      try waitForOthers(pipeline, PipelineChecker.stages.keys.sorted(), without: "pod-1", since: start)
      #expect(try !pipeline.publisher.isDone(), "the load must still be under way, or pauses do not show")
      let pause = try report(
        pipeline, "a host is lost", PipelineChecker.stages.keys.sorted(), from: start, to: ChatLoad.now())
      #expect(pause <= 12_000 + noise, "a task paused for \(pause) ms when its host was lost")
      let published = ChatLoad("p", groups: load.groups, messages: try pipeline.publisher.stop())
      try pipeline.settle(published.expected)
      try pipeline.judge(published.expected)
    }

    /// Waits until every task of these stages has committed since a time, and none of them by this instance.
    private func waitForOthers(_ pipeline: Pipeline, _ stages: [String], without instance: String, since: Int64) throws
    {
      try pipeline.wait(for: "others to have the tasks of \(instance) (\(stages))") { checker in
        stages.allSatisfy { stage in
          let commits = checker.commits(of: stage)
          return commits.owners.count == Int(Pipeline.partitions) && !commits.owners.values.contains(instance)
            && commits.latest.values.allSatisfy { $0 > since }
        }
      }
    }

    /// Prints the longest pause of each stage, and returns the longest of all, in milliseconds.
    @discardableResult
    private func report(_ pipeline: Pipeline, _ what: String, _ stages: [String], from start: Int64, to end: Int64)
      throws
      -> Int64
    {
      try pipeline.look()
      let pauses = try stages.map { stage in
        (stage, try #require(pipeline.checker.commits(of: stage).longestPause(from: start, to: end)))
      }
      print(
        "\(what): " + pauses.map { "\($0.0) pauses for \($0.1.length) ms (task \($0.1.task))" }.joined(separator: ", "))
      return pauses.map(\.1.length).max() ?? 0
    }
  }
}
