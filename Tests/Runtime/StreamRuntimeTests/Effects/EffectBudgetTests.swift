#if DEBUG
  import NudgeSchema
  import Synchronization
  import Testing

  @testable import StreamRuntime

  @Suite("Effects of groups")
  struct EffectBudgetTests {
    @Test("a group gets as many as are free, so some stay free for another")
    func thresholds() {
      let budget = EffectBudget(limit: 100)
      func fill(_ group: String) -> Int {
        var count = 0
        while budget.hasRoom(for: group) {
          budget.add(group)
          count += 1
        }
        return count
      }
      #expect(fill("slow") == 50)
      #expect(fill("second") == 25)
      #expect(fill("third") > 5 && budget.total < 100)
      for _ in 0..<50 { budget.remove("slow") }
      #expect(fill("third") > 10)
      // A limit that is used up otherwise still lets each group have one.
      while budget.total < 200 { budget.add(nil) }
      #expect(budget.hasRoom(for: "fourth") && !budget.hasRoom(for: "second"))
    }

    /// Asks for an effect of the group in the key, as far as the group has room; counts what is left.
    private struct GroupedStage: Stage {
      enum Metric: StageMetric {
        case full
        static var expected: [Self] { [] }
        var series: StageSeries { StageSeries("nudge_t_total", help: "T.", labels: [:]) }
      }
      typealias Row = CountingStage.Row
      static let definition = StageDefinition(
        name: "grouped", inputs: [.pushes], outputs: [.outcomes], changelog: .dispatcherState)
      func process(_ record: InputRecord, in step: Step<Self>) throws {
        let group = String(decoding: record.key ?? [], as: UTF8.self)
        guard step.hasRoom(forEffectsOf: group) else { return step.count(.full) }
        step.perform(group)
        if record.value == nil { throw Rejection(.schemaViolation, "refused") }
      }
      func receive(_ reply: Int, in step: Step<Self>) throws {}
      func effectCancelled(_ effect: String, in step: Step<Self>) throws {}
      static func group(of effect: String) -> String? { effect }
      typealias Effect = String
      typealias Reply = Int
    }

    private final class Outside: EffectPerformer {
      private struct Request: Sendable {
        let group: String
        let reply: @Sendable (Int) -> Void
      }
      private let requests = Mutex<[Request]>([])
      func perform(_ effect: String, reply: @escaping @Sendable (Int) -> Void) {
        requests.withLock { $0.append(Request(group: effect, reply: reply)) }
      }
      func stop() {}
      func count(_ group: String) -> Int { requests.withLock { $0.count { $0.group == group } } }
      func replyToAll() {
        for request in requests.withLock({ $0 }) { request.reply(0) }
        requests.withLock { $0 = [] }
      }
    }

    @Test(
      "a group that gets no replies leaves room for another; replies, refusals and losses give its own back"
    )
    func slowGroup() throws {
      let (io, outside) = (RecordingIO(), Outside())
      var limits = StreamLimits()
      limits.maxEffects = 20
      let thread = StreamThread(
        GroupedStage(), io: io, topics: TopicNames(prefix: ""), partitionCounts: [:], limits: limits, writer: "w",
        performer: outside, observe: { _ in })
      func turn(until condition: () -> Bool) throws {
        for _ in 0..<200 where !condition() { #expect(thread.turn() == nil) }
        try #require(condition())
      }
      var offset: Int64 = 0
      func poll(_ group: String, count: Int, value: [UInt8]? = [1]) throws {
        io.polls = [
          PollResult(
            records: (0..<count).map { _ in
              defer { offset += 1 }
              return InputRecord(
                topic: .pushes, topicName: "nudge.pushes", partition: 0, offset: offset, timestamp: 0,
                key: Array(group.utf8), value: value)
            })
        ]
        try turn { io.polls.isEmpty }
        for _ in 0..<3 { #expect(thread.turn() == nil) }
      }
      io.polls = [PollResult(change: .assigned([0]))]
      try turn { thread.runningTasks == [0] }
      // Effects of refused steps are not asked for.
      try poll("slow", count: 5, value: nil)
      try poll("slow", count: 30)
      #expect(outside.count("slow") == 10 && !io.isPaused)
      try poll("other", count: 3)
      #expect(outside.count("other") == 3)
      outside.replyToAll()
      for _ in 0..<3 { #expect(thread.turn() == nil) }
      try poll("slow", count: 30)
      #expect(outside.count("slow") == 10)
      io.polls = [PollResult(change: .lost([0]))]
      try turn { thread.runningTasks.isEmpty }
      io.polls = [PollResult(change: .assigned([0]))]
      try turn { thread.runningTasks == [0] }
      offset = 0
      try poll("slow", count: 30)
      #expect(outside.count("slow") == 20)
    }
  }
#endif
