#if DEBUG
  import NudgeSchema
  import Synchronization
  import Testing

  @testable import StreamRuntime

  @Suite("A thread whose coordinator is slow, away or refuses")
  struct CoordinatorTests {
    private let key = Array("key".utf8)

    /// A thread with one task, its I/O, and what it tells.
    private final class Bench<S: Stage> {
      let io = RecordingIO()
      let thread: StreamThread<S, RecordingIO>
      private let told = Mutex<[StreamEvent]>([])
      var events: [StreamEvent] { told.withLock { $0 } }

      init(
        _ stage: S, performer: (any EffectPerformer<S.Effect, S.Reply>)? = nil, limits: StreamLimits = StreamLimits(),
        tasks: [Int32] = [0], heldBack: Set<Int32> = []
      ) throws {
        var tell: (StreamEvent) -> Void = { _ in }
        thread = StreamThread(
          stage, io: io, topics: TopicNames(prefix: ""), partitionCounts: [:], limits: limits, writer: "w",
          performer: performer, observe: { tell($0) })
        tell = { [unowned self] event in told.withLock { $0.append(event) } }
        io.heldBack = heldBack
        io.polls = [PollResult(change: .assigned(tasks))]
        for _ in 0..<100 where thread.runningTasks.isEmpty { #expect(thread.turn() == nil) }
        try #require(thread.runningTasks == [0])
      }

      func count(_ call: String) -> Int { io.calls.count { $0 == call } }

      /// Turns until something is so, or too many.
      func turn(atMost turns: Int = 1000, until condition: () -> Bool) throws {
        for _ in 0..<turns where !condition() { _ = thread.turn() }
        try #require(condition())
      }
    }

    private func record(_ offset: Int64, _ topic: Topic = .timeline, value: String = "x") -> InputRecord {
      InputRecord(
        topic: topic, topicName: topic.rawValue, partition: 0, offset: offset, timestamp: 0, key: key,
        value: Array(value.utf8))
    }

    private func failure(_ kind: IOFailure.Kind) -> IOFailure {
      IOFailure(kind: kind, operation: "commit", reason: "simulated")
    }

    @Test("uncommitted work is bounded while the coordinator is away for ten minutes")
    func bounded() throws {
      let bench = try Bench(CountingStage())
      var next: Int64 = 0
      bench.io.source = { count in
        defer { next += Int64(count) }
        return (next..<next + Int64(count)).map { record($0) }
      }
      // A broker that was away leaves a thread that may not begin before it has new producers, and is not frozen.
      bench.io.fails = { $0 == "openProducers" && bench.count("commit") > 0 ? failure(.retriable) : nil }
      // Longer than from one look at the broker to the next.
      bench.io.takes["commit"] = 1500
      try bench.turn { bench.count("commit") == 1 }
      bench.io.takes["commit"] = 0
      bench.io.hasLostBroker = true
      let limits = StreamLimits()
      let gone = bench.io.steadyClock
      var largest = 0
      var turns = 0
      while bench.io.steadyClock - gone < 600_000, turns < 100_000 {
        #expect(bench.thread.turn() == nil)
        largest = max(largest, bench.thread.task(0)?.records ?? 0)
        turns += 1
      }
      #expect(bench.count("commit") == 1)
      #expect(largest > 0 && largest <= limits.maxBatchRecords)
      // The polled records that wait are no more than a batch either.
      #expect(next <= Int64(3 * limits.maxBatchRecords))
      #expect(bench.io.isPaused)
      bench.io.fails = nil
      bench.io.hasLostBroker = false
      let before = next
      try bench.turn { next > before && bench.count("commit") > 2 }
      #expect(!bench.io.isPaused)
    }

    @Test("outputs of all tasks together close a transaction")
    func perThread() throws {
      var limits = StreamLimits()
      limits.maxTransactionBytes = 10_000
      let bench = try Bench(CountingStage(), limits: limits)
      var next: Int64 = 0
      bench.io.source = { count in
        defer { next += Int64(count) }
        return (next..<next + Int64(count)).map { record($0) }
      }
      try bench.turn { next > 4000 }
      // About 75 bytes an output.
      #expect(bench.count("commit") > 10)
    }

    @Test("a slow commit is not a failure")
    func slowIsNotBroken() throws {
      let bench = try Bench(CountingStage())
      let opened = bench.count("openProducers")
      bench.io.takes = ["commit": 1200]
      for offset in 0..<3 as Range<Int64> {
        bench.io.polls = [PollResult(records: [record(offset)])]
        try bench.turn { bench.count("commit") == Int(offset) + 1 }
      }
      #expect(bench.count("openProducers") == opened)
    }

    @Test(
      "after a transaction that carried little the next one waits as long as that took, or until there are enough records"
    )
    func waitsForCompany() throws {
      let bench = try Bench(CountingStage())
      bench.io.takes = ["commit": 6]
      bench.io.polls = [PollResult(records: [record(0)])]
      try bench.turn { bench.count("commit") == 1 }
      let ended = bench.io.steadyClock
      bench.io.polls = [PollResult(records: [record(1)])]
      #expect(bench.thread.turn() == nil)
      #expect(bench.count("commit") == 1)
      try bench.turn { bench.count("commit") == 2 }
      #expect(bench.io.steadyClock - ended == 6 + 6, "the wait, and the transaction")
      bench.io.polls = [PollResult(records: (2..<18).map { record($0) })]
      #expect(bench.thread.turn() == nil)
      #expect(bench.count("commit") == 3)
      bench.io.polls = [PollResult(records: [record(18)])]
      #expect(bench.thread.turn() == nil)
      #expect(bench.count("commit") == 4, "the one before was worth its cost")
    }

    @Test("a restored task runs while another restore still waits")
    func oneByOne() throws {
      let bench = try Bench(CountingStage(), tasks: [0, 1], heldBack: [1])
      #expect(bench.thread.runningTasks == [0])
      bench.io.polls = [PollResult(records: [record(0)])]
      try bench.turn { bench.count("commit") == 1 }
      #expect(bench.thread.runningTasks == [0])
      bench.io.heldBack = []
      try bench.turn { bench.thread.runningTasks == [0, 1] }
      #expect(bench.thread.task(0)?.position.sequence == 1)
    }

    @Test(
      "transactions that stay open are looked for every 10 s, whatever is waited for; a failure is passed over"
    )
    func watched() throws {
      let bench = try Bench(CountingStage())
      bench.io.fails = { $0 == "watchTransactions" ? failure(.retriable) : nil }
      let start = bench.io.steadyClock
      try bench.turn(atMost: 10_000) { bench.io.steadyClock - start >= 65_000 }
      #expect(bench.count("watchTransactions") == 6)
      #expect(bench.thread.runningTasks == [0])
    }

    @Test("a broker that was away is reason for new producers, also of a thread that has nothing to commit")
    func lostBroker() throws {
      let bench = try Bench(CountingStage())
      let opened = bench.count("openProducers")
      bench.io.hasLostBroker = true
      try bench.turn { bench.count("openProducers") > opened }
      bench.io.hasLostBroker = false
      bench.io.polls = [PollResult(records: [record(0)])]
      try bench.turn { bench.thread.task(0)?.position.sequence == 1 }
      // The outcomes of the earlier transactions were looked up.
      #expect(bench.count("readChangelogs") > 1)
    }

    @Test(
      "after an unknown outcome the changelog is read on behind the last known commit to the end it had, before anything is sent again"
    )
    func wholeLook() throws {
      let bench = try Bench(CountingStage())
      bench.io.polls = [PollResult(records: [record(0)])]
      try bench.turn { bench.thread.task(0)?.position.sequence == 1 }
      // A transaction is open in the changelog, behind the commit, whose position record has the offset 4.
      bench.io.heldBackEnd = 9
      bench.io.heldBack = [0]
      var isUnknown = true
      bench.io.fails = { isUnknown && $0 == "commit" ? failure(.retriable) : nil }
      bench.io.polls = [PollResult(records: [record(1)])]
      try bench.turn { bench.count("commit") == 2 }
      isUnknown = false
      let start = bench.io.steadyClock
      while bench.io.steadyClock - start < 60_000 { #expect(bench.thread.turn() == nil) }
      #expect(bench.count("commit") == 2)
      #expect(bench.io.read == [0: 5])
      bench.io.heldBack = []
      try bench.turn { bench.thread.task(0)?.position.sequence == 2 }
      #expect(bench.count("commit") == 3)
    }

    @Test("a refusal for good inside a transaction ends the thread with its reason")
    func fatal() throws {
      let bench = try Bench(CountingStage())
      bench.io.fails = { $0 == "commit" ? failure(.fatal) : nil }
      bench.io.polls = [PollResult(records: [record(0)])]
      for _ in 0..<10 where bench.thread.turn() == nil {}
      #expect(bench.thread.turn() == .failed("commit: simulated"))
    }

    @Test("a thread that cannot commit says so after some seconds, and why")
    func frozen() throws {
      let bench = try Bench(CountingStage())
      var isAway = true
      bench.io.fails = { isAway && ($0 == "commit" || $0 == "openProducers") ? failure(.retriable) : nil }
      bench.io.polls = [PollResult(records: [record(0)])]
      let start = bench.io.steadyClock
      func told() -> [Milliseconds] {
        bench.events.compactMap {
          if case .notCommitting(let since, let reason) = $0, !reason.isEmpty { since } else { nil }
        }
      }
      try bench.turn { told().count == 3 }
      #expect(told()[0] >= StreamLimits().commitPatience)
      #expect(bench.io.steadyClock - start < 10_000)
      isAway = false
      try bench.turn { bench.events.contains { if case .committed = $0 { true } else { false } } }
    }

    /// The times of a stage's steps, in order.
    private final class StepTimes {
      var records: [Milliseconds] = []
      var all: [Milliseconds] = []
      /// Replies that came before the last record.
      var repliesBetween = 0
      var elapse: (Milliseconds) -> Void = { _ in }
    }

    /// Takes a millisecond a record, and asks for an effect with each.
    private struct SlowStage: Stage {
      typealias Row = CountingStage.Row
      static let definition = StageDefinition(
        name: "slow", inputs: [.pushes], outputs: [.outcomes], changelog: .dispatcherState)
      let times: StepTimes

      func process(_ record: InputRecord, in step: Step<Self>) throws {
        times.repliesBetween = times.all.count - times.records.count
        times.records.append(step.now)
        times.all.append(step.now)
        times.elapse(1)
        step.perform(Int(record.offset))
      }
      func receive(_ reply: Int, in step: Step<Self>) throws { times.all.append(step.now) }
      func effectCancelled(_ effect: Int, in step: Step<Self>) throws {}
      typealias Effect = Int
      typealias Reply = Int
    }

    private struct AtOnce: EffectPerformer {
      func perform(_ effect: Int, reply: @escaping @Sendable (Int) -> Void) { reply(effect) }
      func stop() {}
    }

    @Test("replies taken between the records of a batch: no later record has an earlier time")
    func timesRise() throws {
      let times = StepTimes()
      let bench = try Bench(SlowStage(times: times), performer: AtOnce())
      times.elapse = { bench.io.elapse($0) }
      try bench.turn { bench.count("commit") == 1 }
      bench.io.polls = [PollResult(records: (0..<100).map { record($0, .pushes) })]
      try bench.turn { times.records.count == 100 }
      #expect(times.repliesBetween >= 32)
      #expect(times.all == times.all.sorted())
    }

    @Test("a commit refused because the group does not know the member ends the effects at once")
    func outOfGroup() throws {
      let performer = HeldReplies()
      let bench = try Bench(AskingStage(), performer: performer)
      try bench.turn { bench.count("commit") == 1 }
      bench.io.polls = [PollResult(records: [record(0, .pushes)])]
      try bench.turn { performer.count == 1 }
      bench.io.fails = { $0 == "commit" ? failure(.notMember) : nil }
      try bench.turn { bench.events.contains { if case .transactionFailed = $0 { true } else { false } } }
      bench.io.polls = [PollResult(records: [record(1, .pushes)])]
      for _ in 0..<200 { #expect(bench.thread.turn() == nil) }
      #expect(performer.count == 1)
    }

    @Test("inputs that wait for effects go on when half of them are done, not at each answer")
    func hysteresis() throws {
      var limits = StreamLimits()
      limits.maxEffects = 100
      let performer = HeldReplies()
      let bench = try Bench(AskingStage(), performer: performer, limits: limits)
      try bench.turn { bench.count("commit") >= 1 }
      var next: Int64 = 0
      bench.io.source = { _ in
        defer { next += 1 }
        return [record(next, .pushes)]
      }
      try bench.turn(atMost: 10_000) { bench.io.isPaused }
      let pauses = bench.count("setPaused")
      for _ in 0..<40 {
        performer.answer(1)
        #expect(bench.thread.turn() == nil)
      }
      #expect(bench.io.isPaused)
      #expect(bench.count("setPaused") == pauses)
      try bench.turn {
        performer.answer(1)
        return !bench.io.isPaused
      }
      #expect(bench.count("setPaused") == pauses + 1)
    }

    @Test(
      "a thread that cannot commit waits between its attempts, whatever is due, and does not turn the processor",
      arguments: ["commit", "openProducers"])
    func waits(_ refused: String) throws {
      let bench = try Bench(CountingStage())
      bench.io.takes["poll"] = 1
      // A timer that is due soon, and then stays due.
      bench.io.polls = [PollResult(records: [record(0, value: CountingStage.timer(after: 1))])]
      bench.io.fails = { $0 == refused || $0 == "commit" ? failure(.retriable) : nil }
      let start = bench.io.steadyClock
      let polls = bench.count("poll")
      while bench.io.steadyClock - start < 60_000 { #expect(bench.thread.turn() == nil) }
      // One each 100 ms, and some for the steps of each attempt.
      #expect(bench.count("poll") - polls < 1000)
      bench.io.fails = nil
      try bench.turn { bench.events.contains { if case .committed = $0 { true } else { false } } }
      #expect(bench.io.steadyClock - start < 63_000)
    }

    @Test("a stage with effects that cannot commit waits, too, though it wants to be woken")
    func waitsWithEffects() throws {
      let bench = try Bench(WakingStage(), performer: HeldReplies())
      bench.io.takes["poll"] = 1
      bench.io.polls = [PollResult(records: [record(0, .pushes)])]
      bench.io.fails = { $0 == "commit" ? failure(.retriable) : nil }
      let start = bench.io.steadyClock
      let polls = bench.count("poll")
      while bench.io.steadyClock - start < 60_000 { #expect(bench.thread.turn() == nil) }
      #expect(bench.count("poll") - polls < 1000)
    }

    /// Wants to be woken soon after each record.
    private struct WakingStage: Stage {
      typealias Row = CountingStage.Row
      static let definition = StageDefinition(
        name: "waking", inputs: [.pushes], outputs: [.outcomes], changelog: .dispatcherState)

      func process(_ record: InputRecord, in step: Step<Self>) throws { step.wake(at: step.now + 1) }
      func receive(_ reply: Int, in step: Step<Self>) throws {}
      func effectCancelled(_ effect: Int, in step: Step<Self>) throws {}
      typealias Effect = Int
      typealias Reply = Int
    }
  }
#endif
