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
        _ stage: S, performer: (any EffectPerformer<S.Effect, S.Reply>)? = nil, limits: StreamLimits = StreamLimits()
      ) throws {
        var tell: (StreamEvent) -> Void = { _ in }
        thread = StreamThread(
          stage, io: io, topics: TopicNames(prefix: ""), partitionCounts: [:], limits: limits, writer: "w",
          performer: performer, observe: { tell($0) })
        tell = { [unowned self] event in told.withLock { $0.append(event) } }
        io.polls = [PollResult(change: .assigned([0]))]
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
      let bench = try Bench(WakingStage(), performer: Unheard())
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
      func forgo(_ effect: Int, in step: Step<Self>) throws {}
      typealias Effect = Int
      typealias Reply = Int
    }

    /// Answers nothing.
    private final class Unheard: EffectPerformer {
      func perform(_ effect: Int, reply: @escaping @Sendable (Int) -> Void) {}
      func stop() {}
    }
  }
#endif
