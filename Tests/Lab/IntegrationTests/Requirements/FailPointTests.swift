#if DEBUG
  import Foundation
  import Testing

  @testable import NudgeLab

  extension PipelineTests {
    /// The rows of the crash table (docs/architecture.md, Crashes), each at its exact point.
    @Suite("Told to fail")
    struct FailPointTests {
      /// A run of a service: its fail-points, and its expected end.
      private struct Life {
        var failPoints: String
        var status: Int32
      }

      private static let killed: Int32 = 137
      private static let broken: Int32 = 70

      /// The runs of a service, one after the other, on the same disk.
      private static func lives(_ program: DemoProgram) -> [Life] {
        // All events may be in one transaction; a dispatcher's first may contain only its proof of ownership.
        let first = program == .dispatcher ? "@2" : "@1"
        var lives = [
          Life(failPoints: "before-transaction=die\(first)", status: killed),
          Life(failPoints: "mid-transaction=die\(first)", status: killed),
          Life(failPoints: "before-commit=die\(first)", status: killed),
          Life(failPoints: "commit-sent=die\(first)", status: killed),
          Life(failPoints: "store-write=die", status: killed),
          Life(failPoints: "producer-open=die", status: killed),
          Life(failPoints: "restore-read=die", status: killed),
          Life(failPoints: "store-open=die@2", status: killed),
          // The recovery from a failure dies, too.
          Life(failPoints: "commit-sent=fail\(first);restore-read=die@2", status: killed),
          Life(failPoints: "store-write=fail", status: broken),
          Life(failPoints: "store-open=fail", status: broken),
          Life(failPoints: "no-such-place=die", status: broken),
        ]
        switch program {
        case .dispatcher: lives.insert(Life(failPoints: "effect-sent=die@2", status: killed), at: 3)
        case .analyzer, .ingest, .emulator: break
        }
        return lives
      }

      /// Failures that the process survives. One transaction meets all of them.
      private static func failures(_ program: DemoProgram) -> [String] {
        [
          "before-transaction=fail", "producer-open=fail@2", "mid-transaction=fail", "restore-read=fail@3",
          "before-commit=fail", "before-transaction=stall:300ms@4", "commit-sent=fail",
        ] + (program == .dispatcher ? ["effect-sent=fail"] : [])
          // The transaction time-out is 5 s: the broker has aborted the transaction and fenced its epoch. One service shows it.
          + (program == .analyzer ? ["before-commit=stall:7s@2"] : [])
      }

      private static let share = 24

      @Test(
        "O4, P7: a service dies, stalls or is refused at each place of the crash table: nothing is lost or doubled",
        arguments: DemoProgram.services)
      func everyPlace(_ program: DemoProgram) throws {
        let pipeline = try Pipeline("fail-\(program.shortName)")
        let victim = try #require(
          try pipeline.start(instance: "one").first { $0.program == program })
        let lives = Self.lives(program)
        let load = ChatLoad("f", messages: Self.share * (lives.count + 2))
        try pipeline.introduce(load)
        pipeline.stop([victim])
        var chat = load.chat[...]
        /// A part of the load during which the failure happens.
        func publish() throws {
          try waitUntil("the share before is published") { try pipeline.publisher.isDone() }
          pipeline.publisher.start(rate: 100, Array(chat.prefix(Self.share)))
          chat = chat.dropFirst(Self.share)
        }
        for life in lives {
          let service = try pipeline.start(program, instance: "one", failPoints: life.failPoints)
          try publish()
          let status = try pipeline.waitForEnd(of: service)
          #expect(status == life.status, "\(life.failPoints): \(service.exitReport(status))")
        }

        let failures = Self.failures(program)
        let service = try pipeline.start(program, instance: "one", failPoints: failures.joined(separator: ";"))
        let before = try Self.count(of: "fail-point reached", in: service)
        try publish()
        try waitUntil("all fail-points are reached", state: { "the log is \(service.log.path)" }) {
          try Self.count(of: "fail-point reached", in: service) == before + failures.count
        }
        try pipeline.waitUntilReady([service])
        pipeline.stop([service])

        try pipeline.start([program], instance: "one")
        try publish()
        #expect(chat.isEmpty)
        try pipeline.settle(load.expected)
        #expect(pipeline.checker.decisionCount == load.messages * (load.members - 1))
        try pipeline.judge(load.expected)
      }

      private static func count(of message: String, in service: DemoProcess) throws -> Int {
        try String(contentsOf: service.log, encoding: .utf8).components(separatedBy: message).count - 1
      }

      @Test(
        "a dispatcher frozen in the middle of a transaction wakes when another has its tasks: it sends and commits nothing"
      )
      func zombie() throws {
        let pipeline = try Pipeline("zombie")
        let session = ["--kafka-property", "session.timeout.ms=6000"]
        try pipeline.start([.ingest, .analyzer], instance: "one")
        let zombie = try pipeline.start(
          .dispatcher, instance: "one", failPoints: "mid-transaction=stall:2s@12", session)
        try pipeline.waitUntilReady([zombie])
        let other = try #require(try pipeline.start([.dispatcher], instance: "two", session).first)
        let load = ChatLoad("z", messages: 6_000)
        try pipeline.introduce(load)
        pipeline.publisher.start(rate: 50, load.chat)
        try waitUntil("the dispatcher is in the middle of a transaction") {
          try Self.count(of: "fail-point reached", in: zombie) == 1
        }
        pipeline.freeze(zombie)
        try pipeline.wait(for: "the other to have all tasks") { _ in
          try Self.count(of: #""message":"task runs""#, in: other) >= 2 + Int(Pipeline.partitions)
        }
        let outcomes = pipeline.checker.outcomeCount
        try pipeline.wait(for: "the other to work on all of them") { $0.outcomeCount > outcomes + 100 }
        pipeline.thaw(zombie)
        // Fenced (75) or removed from the group, whichever it learns first.
        try waitUntil("the zombie knows that it is one", state: { "the log is \(zombie.log.path)" }) {
          try Self.count(of: "partitions lost", in: zombie) > 0
        }
        #expect(try Self.count(of: "the transaction of unknown outcome was committed", in: zombie) == 0)
        #expect(try !pipeline.publisher.isDone(), "the load must still be under way when it wakes")
        let published = ChatLoad("z", messages: try pipeline.publisher.stop())
        try pipeline.settle(published.expected)
        try pipeline.judge(published.expected)
      }
    }
  }
#endif
