#if DEBUG
  import NudgeSchema
  import Synchronization
  import Testing

  @testable import StreamRuntime

  @Suite("Effects of a lost task are handed over to its next owner")
  struct HandoverTests {
    /// Replies when a test says so.
    private final class Outside: EffectPerformer {
      private struct Request: Sendable {
        let effect: SendingRequest
        let reply: @Sendable (SendingReply) -> Void
      }
      private let requests = Mutex<[Request]>([])
      func perform(_ effect: SendingRequest, reply: @escaping @Sendable (SendingReply) -> Void) {
        requests.withLock { $0.append(Request(effect: effect, reply: reply)) }
      }
      func stop() {}
      var origins: [Int64] { requests.withLock { $0.map(\.effect.origin) } }
      func accept(_ index: Int) {
        let request = requests.withLock { $0[index] }
        request.reply(SendingReply(number: index + 1, request: request.effect, isAccepted: true))
      }
    }

    private final class Bench {
      let io = RecordingIO()
      let outside = Outside()
      let thread: StreamThread<SendingStage, RecordingIO>

      init() {
        thread = StreamThread(
          SendingStage(), io: io, topics: TopicNames(prefix: ""), partitionCounts: [:], limits: StreamLimits(),
          writer: "w", performer: outside, observe: { _ in })
      }

      func turn(until condition: () -> Bool) throws {
        for _ in 0..<2000 where !condition() { #expect(thread.turn() == nil) }
        try #require(condition())
      }

      func assign() throws {
        io.polls = [PollResult(change: .assigned([0]))]
        try turn { thread.runningTasks == [0] }
      }

      func poll(_ records: [InputRecord]) throws {
        io.polls = [PollResult(records: records)]
        try turn { io.polls.isEmpty }
        for _ in 0..<3 { #expect(thread.turn() == nil) }
      }

      /// A push of the lane "k".
      func push(_ offset: Int64) -> InputRecord {
        InputRecord(
          topic: .pushes, topicName: "nudge.pushes", partition: 0, offset: offset, timestamp: 0, key: Array("k".utf8),
          value: [1])
      }

      var outcomes: [String] { io.outputs.map { String(decoding: $0.value ?? [], as: UTF8.self) } }
    }

    /// What a thread hands over, as the records that the next owner reads.
    private func records(_ written: [OutputRecord], from offset: Int64) -> [InputRecord] {
      written.enumerated().map { index, record in
        InputRecord(
          topic: record.topic, topicName: record.topic.rawValue, partition: record.partition,
          offset: offset + Int64(index), timestamp: 0, key: record.key, value: record.value, headers: record.headers)
      }
    }

    @Test("the loss is answered once what is in flight is handed over; its answer follows when it comes")
    func former() throws {
      let bench = Bench()
      try bench.assign()
      try bench.poll([bench.push(0)])
      try bench.turn { bench.outside.origins == [0] }
      let assigns = bench.io.calls.count { $0 == "assign" }
      var refusals = 3
      bench.io.fails = { call in
        guard call == "handOver", refusals > 0 else { return nil }
        refusals -= 1
        return IOFailure(kind: .retriable, operation: call, reason: "the broker is away")
      }
      bench.io.polls = [PollResult(change: .lost([0]))]
      try bench.turn { refusals == 0 }
      #expect(bench.io.handedOver.isEmpty)
      #expect(bench.io.calls.count { $0 == "assign" } == assigns, "the group still waits for the answer")
      try bench.turn { !bench.io.handedOver.isEmpty }
      for _ in 0..<3 { #expect(bench.thread.turn() == nil) }
      #expect(bench.io.calls.count { $0 == "assign" } == assigns + 1)
      let pending = try #require(records(bench.io.handedOver, from: 1).first)
      #expect(pending.partition == 0 && pending.header(RecordHeader.handover) != nil)
      #expect(try SendingStage.handedOver(pending).reply == nil)
      bench.outside.accept(0)
      try bench.turn { bench.io.handedOver.count == 2 }
      let answered = try SendingStage.handedOver(records(bench.io.handedOver, from: 1)[1])
      let before = try SendingStage.handedOver(pending)
      #expect(answered.reply?.isAccepted == true && answered.ticket == before.ticket)
    }

    @Test("a thread that is fenced hands over what is in flight and what has been answered before it ends")
    func fenced() throws {
      let bench = Bench()
      try bench.assign()
      try bench.poll([bench.push(0)])
      try bench.turn { bench.outside.origins == [0] }
      bench.io.fails = { $0 == "poll" ? IOFailure(kind: .fenced, operation: $0, reason: "another has the name") : nil }
      var exit: StreamExit?
      for _ in 0..<20 where exit == nil { exit = bench.thread.turn() }
      #expect(exit == .fenced)
      let handed = try #require(records(bench.io.handedOver, from: 1).first)
      #expect(try SendingStage.handedOver(handed).reply == nil && bench.io.handedOver.count == 1)
    }

    @Test("a broker that does not answer holds up the end of a fenced thread for a bounded time")
    func fencedWithoutBroker() throws {
      let bench = Bench()
      try bench.assign()
      try bench.poll([bench.push(0)])
      try bench.turn { bench.outside.origins == [0] }
      bench.io.fails = { call in
        switch call {
        case "poll": IOFailure(kind: .fenced, operation: call, reason: "another has the name")
        case "handOver": IOFailure(kind: .retriable, operation: call, reason: "the broker is away")
        default: nil
        }
      }
      let began = bench.io.now
      var exit: StreamExit?
      for _ in 0..<20 where exit == nil { exit = bench.thread.turn() }
      #expect(exit == .fenced && bench.io.now - began < 10_000 && bench.io.handedOver.isEmpty)
    }

    @Test("without the right to write the loss is answered, and nothing more is tried")
    func refused() throws {
      let bench = Bench()
      try bench.assign()
      try bench.poll([bench.push(0)])
      try bench.turn { bench.outside.origins == [0] }
      let assigns = bench.io.calls.count { $0 == "assign" }
      bench.io.fails = { $0 == "handOver" ? IOFailure(kind: .fatal, operation: $0, reason: "forbidden") : nil }
      bench.io.polls = [PollResult(change: .lost([0]))]
      try bench.turn { bench.io.calls.count { $0 == "assign" } == assigns + 1 }
      for _ in 0..<20 { #expect(bench.thread.turn() == nil) }
      #expect(bench.io.calls.count { $0 == "handOver" } == 1)
    }

    /// What a former owner hands over of a push that was in flight when it lost the task, answered or not.
    private func handovers(answered: Bool) throws -> [OutputRecord] {
      let former = Bench()
      try former.assign()
      try former.poll([former.push(0)])
      try former.turn { former.outside.origins == [0] }
      former.io.polls = [PollResult(change: .lost([0]))]
      try former.turn { former.io.handedOver.count == 1 }
      if answered {
        former.outside.accept(0)
        try former.turn { former.io.handedOver.count == 2 }
      }
      return former.io.handedOver
    }

    @Test("an answer that was handed over before the task began is used, and nothing is sent")
    func answeredBefore() throws {
      let next = Bench()
      next.io.handovers = records(try handovers(answered: true), from: 1)
      try next.assign()
      try next.poll([next.push(0)] + next.io.handovers)
      try next.turn { !next.outcomes.isEmpty }
      for _ in 0..<20 { #expect(next.thread.turn() == nil) }
      #expect(next.outside.origins.isEmpty && next.outcomes == ["1 0"])
    }

    @Test("an answer that is handed over while the task runs is used")
    func answeredLater() throws {
      let written = records(try handovers(answered: true), from: 1)
      let next = Bench()
      next.io.handovers = [written[0]]
      try next.assign()
      try next.poll([next.push(0), written[0]])
      for _ in 0..<20 { #expect(next.thread.turn() == nil) }
      #expect(next.outside.origins.isEmpty && next.outcomes.isEmpty, "it waits")
      try next.poll([written[1]])
      try next.turn { !next.outcomes.isEmpty }
      #expect(next.outside.origins.isEmpty && next.outcomes == ["1 0"])
    }

    @Test("a lane whose request left with a committed row goes on when the answer is handed over, and sends nothing")
    func waitingLane() throws {
      let written = records(try handovers(answered: true), from: 1)
      let next = Bench()
      var row = SendingStage.Row(waiting: [0])
      row.attempts = 1
      row.notBefore = next.io.now + SendingStage.unansweredAfter
      let bytes = try row.encoded(coder: RecordCoder(), at: .latest)
      next.io.storedRows = [(RowKey("lane", "k"), bytes)]
      try next.assign()
      let began = next.io.now
      try next.poll(written)
      try next.turn { !next.outcomes.isEmpty }
      #expect(next.outside.origins.isEmpty && next.outcomes == ["2 0"])
      #expect(next.io.now - began < 2000, "\(next.io.now - began) ms")
    }

    @Test("what a former owner had in flight is sent again once no answer can come any more, and not earlier")
    func silent() throws {
      let next = Bench()
      next.io.handovers = records(try handovers(answered: false), from: 1)
      try next.assign()
      let began = next.io.now
      try next.poll([next.push(0)] + next.io.handovers)
      try next.turn { !next.outside.origins.isEmpty }
      let waited = next.io.now - began
      #expect(waited > 24_000 && waited < 27_000, "\(waited) ms")
    }

    @Test("a handover that cannot be read is a dead letter, and later ones are taken")
    func unreadable() throws {
      let next = Bench()
      try next.assign()
      let bad = InputRecord(
        topic: .pushes, topicName: "nudge.pushes", partition: 0, offset: 0, timestamp: 0, key: Array("k".utf8),
        value: Array("h".utf8), headers: [RecordHeaderField(RecordHeader.handover, "1")])
      try next.poll([bad])
      try next.turn { next.io.outputs.contains { $0.topic == .deadLetters } }
      #expect(next.thread.runningTasks == [0])
    }
  }
#endif
