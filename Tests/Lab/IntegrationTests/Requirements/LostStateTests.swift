import Foundation
import NudgeSchema
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("State that is lost in Kafka")
  struct LostStateTests {
    /// Processes a load, then deletes the state of stages. Returns the evidence from before.
    private func lose(_ lost: [DemoProgram], of pipeline: Pipeline, after load: ChatLoad) throws -> PipelineChecker {
      let before = try pipeline.processLoad(load)
      try pipeline.loseState(of: lost.map(\.shortName))
      return before
    }

    /// Starts all services, some without their state, and waits until those report the loss.
    private func start(_ pipeline: Pipeline, lost: [DemoProgram]) throws -> [DemoProcess] {
      let services = try pipeline.start(instance: nil, waitsUntilReady: false)
      for service in services where lost.contains(service.program) {
        try waitUntil("\(service.program.rawValue) says that its state is lost", state: { service.exitReport(0) }) {
          try String(contentsOf: service.log, encoding: .utf8).contains("the state of this task is lost")
        }
        #expect(try !service.isReady())
      }
      return services
    }

    private func nudge(_ pipeline: Pipeline, _ arguments: String..., expect status: Int32, _ text: String) throws {
      let answer = try pipeline.nudge(arguments)
      #expect(answer.status == status && answer.output.contains(text), "\(arguments): \(answer)")
    }

    @Test("all three stages rebuild their state: nobody is notified again, and what they knew they know again")
    func rebuild() throws {
      let lost = DemoProgram.services
      let pipeline = try Pipeline("rebuild")
      let load = ChatLoad("before", groups: 8, messages: 160)
      let before = try lose(lost, of: pipeline, after: load)

      let services = try start(pipeline, lost: lost)
      for stage in lost.map(\.shortName) {
        try nudge(pipeline, "state", "list", "--stage", stage, expect: 1, "LOST")
        try nudge(pipeline, "state", "rebuild", "--stage", stage, expect: 0, "Nothing was written")
        try nudge(pipeline, "state", "list", "--stage", stage, "--json", expect: 1, #""condition":"lost""#)
        try nudge(pipeline, "state", "rebuild", "--stage", stage, "--yes", expect: 0, "Written")
        try nudge(pipeline, "state", "accept-loss", "--stage", stage, "--yes", expect: 0, "nothing to do")
      }
      try pipeline.waitUntilReady(services)
      for stage in lost.map(\.shortName) {
        try nudge(pipeline, "state", "list", "--stage", stage, expect: 0, "transaction")
        try nudge(pipeline, "state", "rebuild", "--stage", stage, "--tasks", "0", expect: 1, "is not lost")
      }

      // Groups, devices and preferences come from before: the people are not introduced again.
      try pipeline.settle(load.expected)
      let more = ChatLoad("before", groups: 8, messages: 160, firstMessage: 160)
      pipeline.publisher.start(rate: 200, more.chat)
      let expected = load.expected.merging(more.expected) { $1 }
      try pipeline.settle(expected)
      let judge = try pipeline.judge(expected)
      #expect(judge.decisionCount == before.decisionCount + more.messages * (more.members - 1))
      #expect(judge.requests.starts(with: before.requests))
      let known = Set(before.requests.map(\.pushId))
      #expect(judge.requests.filter { known.contains($0.pushId) }.count == before.requests.count)
      let rate = Double(before.requests.count) / Double(load.messages)
      #expect(
        Double(judge.requests.count - before.requests.count) > 0.5 * rate * Double(more.messages),
        "people are notified as before")
    }

    @Test("analyzer and dispatcher go on without their state: nobody is notified again")
    func acceptLoss() throws {
      let lost: [DemoProgram] = [.analyzer, .dispatcher]
      let pipeline = try Pipeline("accept")
      let load = ChatLoad("before", groups: 8, messages: 120)
      let before = try lose(lost, of: pipeline, after: load)
      let services = try start(pipeline, lost: lost)
      for stage in lost.map(\.shortName) {
        try nudge(pipeline, "state", "accept-loss", "--stage", stage, "--yes", expect: 0, "with empty state")
      }
      try pipeline.waitUntilReady(services)
      let more = ChatLoad("after", groups: 8, messages: 40)
      try pipeline.introduce(more)
      pipeline.publisher.start(rate: 200, more.chat)
      let expected = load.expected.merging(more.expected) { $1 }
      try pipeline.settle(expected)
      let judge = try pipeline.judge(expected)
      #expect(judge.decisionCount == before.decisionCount + more.messages * (more.members - 1))
      #expect(judge.requests.starts(with: before.requests))
      let known = Set(before.requests.map(\.pushId))
      #expect(judge.requests.filter { known.contains($0.pushId) }.count == before.requests.count)
    }

    @Test("chat.events and nudge.timeline are made again: once that is accepted, the next messages notify at once")
    func inputsMadeAgain() throws {
      let pipeline = try Pipeline("remade")
      let scene = OnCallScene(pipeline: pipeline)
      try pipeline.start(instance: nil)
      try scene.publish([
        scene.device("bob", "bob-phone", token: "token-of-bob"), scene.conversation("lunch", ["ann", "bob"]),
      ])
      let messages = (1...8).map { "m\($0)" }
      try scene.publish(
        messages.map { scene.message($0, in: "lunch", from: "ann", mentions: ["bob"]) },
        Dictionary(uniqueKeysWithValues: messages.map { ($0, ["bob"]) }))
      pipeline.stop()
      try pipeline.remake([pipeline.names(.chatEvents), pipeline.names(.timeline)])

      let services = try pipeline.start(instance: nil, waitsUntilReady: false)
      for service in services where service.program != .dispatcher {
        try waitUntil("\(service.program.rawValue) says that its input is another", state: { service.exitReport(0) }) {
          try String(contentsOf: service.log, encoding: .utf8).contains("an input was deleted and created again")
        }
      }
      for stage in ["ingest", "analyzer"] {
        try nudge(pipeline, "state", "accept-loss", "--stage", stage, "--yes", expect: 0, "Written")
      }
      try pipeline.waitUntilReady(services)
      // A producer that knew the former topic may count on from there.
      let publisher = try Publisher(brokers: pipeline.brokers, names: pipeline.names)
      for message in ["n1", "n2"] {
        try publisher.publish([scene.message(message, in: "lunch", from: "ann", mentions: ["bob"])])
        try pipeline.wait(for: "\(message) to be sent", atMost: 30) { checker in
          checker.requests.contains { $0.messageId == message && $0.status == 200 }
        }
      }
      try pipeline.look()
      let sent = pipeline.checker.requests.compactMap(\.messageId).sorted()
      #expect(sent == messages + ["n1", "n2"], "each once")
      pipeline.stop()
      pipeline.hasPassed = true
    }

    @Test(
      "nudge.pushes is made again while the dispatcher is down, and grows past its position: it waits, and then sends all that is there"
    )
    func pushesMadeAgain() throws {
      let pipeline = try Pipeline("repushed")
      let scene = OnCallScene(pipeline: pipeline)
      let (former, later) = ((1...3).map { "m\($0)" }, (1...12).map { "n\($0)" })
      func publish(_ messages: [String]) throws {
        try pipeline.publisher.publish(
          messages.map { scene.message($0, in: "lunch", from: "ann", mentions: ["bob"]) })
      }
      func wait(_ text: String, _ messages: [String]) throws {
        try pipeline.wait(for: text, atMost: 30) { checker in
          messages.allSatisfy { message in
            checker.requests.contains { $0.messageId == message && $0.status == 200 }
          }
        }
      }
      try pipeline.start(instance: nil)
      try scene.publish([
        scene.device("bob", "bob-phone", token: "token-of-bob"), scene.conversation("lunch", ["ann", "bob"]),
      ])
      try publish(former)
      try wait("the first messages to be sent", former)
      pipeline.stop()
      let pushes = pipeline.names(.pushes)
      let before = try pipeline.ends(of: pushes)
      #expect(before.contains { $0 > 0 })
      try pipeline.remake([pushes])

      try pipeline.start([.ingest, .analyzer], instance: nil)
      try publish(later)
      try waitUntil("the new topic has more records than the former one") {
        try zip(before, pipeline.ends(of: pushes)).allSatisfy { $0 == 0 || $1 > $0 }
      }
      let dispatcher = try pipeline.start([.dispatcher], instance: nil, waitsUntilReady: false)[0]
      try waitUntil("the dispatcher says that its input is another", state: { dispatcher.exitReport(0) }) {
        try String(contentsOf: dispatcher.log, encoding: .utf8).contains("an input was deleted and created again")
      }
      #expect(try !dispatcher.isReady())
      try nudge(pipeline, "state", "list", "--stage", "dispatcher", expect: 1, "REPLACED")
      try pipeline.look()
      #expect(pipeline.checker.requests.compactMap(\.messageId).sorted() == former, "it sends nothing before")
      try nudge(pipeline, "state", "accept-loss", "--stage", "dispatcher", "--yes", expect: 0, "Written")
      try pipeline.waitUntilReady([dispatcher])
      try wait("all messages of the new topic to be sent", later)
      try pipeline.look()
      #expect(
        pipeline.checker.requests.compactMap(\.messageId).sorted() == (former + later).sorted(), "each once")
      pipeline.stop()
      pipeline.hasPassed = true
    }
  }
}
