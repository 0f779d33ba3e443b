import Foundation
import Kafka
import NudgeSchema
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("More partitions")
  struct RepartitionTests {
    private func nudge(_ pipeline: Pipeline, _ arguments: [String], expect status: Int32, _ text: String) throws {
      let answer = try pipeline.nudge(["topics", "repartition"] + arguments)
      #expect(answer.status == status && (text.isEmpty || answer.output.contains(text)), "\(arguments): \(answer)")
    }

    /// Starts the repartition, and kills it once it has told of as many parts. Returns whether it came to its end.
    private func interrupted(_ pipeline: Pipeline, afterLines lines: Int) throws -> Bool {
      let process = Process()
      let output = Pipe()
      process.executableURL = DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge")
      process.arguments = [
        "topics", "repartition", "--partitions", "12", "--yes", "--bootstrap-servers", pipeline.brokers,
        "--topic-prefix",
        pipeline.names.prefix,
      ]
      process.standardError = output
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      var told = 0
      while told < lines, case let data = output.fileHandleForReading.availableData, !data.isEmpty {
        told += data.count { $0 == UInt8(ascii: "\n") }
      }
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
      return process.terminationReason == .exit && process.terminationStatus == 0
    }

    /// Stories from before the repartition have all their parts, also where the person's partition has changed.
    private func explain(_ load: ChatLoad, on pipeline: Pipeline) throws {
      var notified = 0
      let moved = load.expected.sorted { $0.key < $1.key }.flatMap { message, users in
        users.sorted().filter { Murmur2.partition(of: Array($0.utf8), count: 12) > 3 }.map { (message, $0) }
      }
      for (message, user) in moved where notified < 3 {
        let (status, text) = try pipeline.nudge(["explain", "--user", user, "--message", message])
        #expect(status == 0 && text.contains("  decision    "), "\(text)")
        guard text.contains("ALERT,") else { continue }
        notified += 1
        // Sent, or taken back because it was read meanwhile: either way its outcomes are found.
        #expect(text.contains("  push        2") && text.contains(", ended 2"), "\(text)")
      }
      #expect(notified == 3, "none of \(moved.count)")
      let (status, text) = try pipeline.nudge(["simulate", "--since", "1h", "--json"])
      #expect(status == 0 && text.contains("\"compared\""), "\(text)")
    }

    @Test(
      "4 partitions become 12, killed in between again and again: each message is decided once, before, during and after"
    )
    func repartition() throws {
      let pipeline = try Pipeline("repartition")
      let load = ChatLoad("r", groups: 24, messages: 240)
      let running = try pipeline.start(instance: nil)
      try pipeline.introduce(load)
      try nudge(pipeline, ["--partitions", "12", "--yes"], expect: 1, "stop all services")
      pipeline.publisher.start(rate: 200, load.chat)
      try pipeline.settle(load.expected)
      let before = pipeline.checker.decisionCount
      pipeline.stop(running)

      // Producers go on: what they write waits on the former partitions.
      let waiting = ChatLoad("r", groups: 24, messages: 48, firstMessage: 240)
      try pipeline.publisher.publish(waiting.chat.map { $0() })
      try nudge(pipeline, ["--partitions", "6", "--yes"], expect: 1, "is not a multiple of 4")
      try nudge(pipeline, ["--partitions", "2"], expect: 1, "Kafka removes none")
      try nudge(pipeline, ["--partitions", "12", "--yes", "--dry-run"], expect: 64, "exclude each other")
      try nudge(pipeline, ["--partitions", "12", "--dry-run"], expect: 0, "Nothing was written")
      let admin = try Admin(ClientConfiguration(bootstrapServers: pipeline.brokers))
      #expect(try admin.listTopics(timeout: .seconds(30))[pipeline.names(.ingestState)] == 4)

      var kills = 0
      for lines in 1...12 {
        if try interrupted(pipeline, afterLines: lines) { break }
        kills += 1
        guard lines == 3 else { continue }
        // Half done: services refuse to start, and say why.
        try nudge(pipeline, ["--partitions", "24", "--yes"], expect: 1, "finish it first")
        let service = try pipeline.start([.analyzer], instance: nil, waitsUntilReady: false)[0]
        #expect(try pipeline.waitForEnd(of: service) == 70)
        #expect(try String(contentsOf: service.log, encoding: .utf8).contains("nudge topics repartition"))
      }
      #expect(kills >= 4)
      try nudge(pipeline, ["--partitions", "12", "--yes"], expect: 0, "")
      try nudge(pipeline, ["--partitions", "12", "--yes"], expect: 0, "nothing to do")
      let counts = try admin.listTopics(timeout: .seconds(30))
      for topic in Topic.allCases {
        let isOutput = [.decisions, .outcomes, .banners, .deadLetters, .audit].contains(topic)
        #expect(counts[pipeline.names(topic)] == (isOutput ? 4 : 12), "\(topic)")
      }

      try pipeline.repartitioned(to: 12)

      try pipeline.start(instance: nil)
      let after = ChatLoad("r", groups: 24, messages: 240, firstMessage: 288)
      pipeline.publisher.start(rate: 200, after.chat)
      let expected = load.expected.merging(waiting.expected) { $1 }.merging(after.expected) { $1 }
      try pipeline.settle(expected)
      try explain(load, on: pipeline)
      let judge = try pipeline.judge(expected)
      #expect(judge.decisionCount == before + (48 + 240) * 4)
    }
  }
}
