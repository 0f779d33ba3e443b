#if DEBUG
  import NudgeSchema
  import Testing

  @testable import StreamRuntime

  @Suite("What surrounds a stage: the policy in force, and where its statistics go")
  struct StageSurroundingsTests {
    /// Remembers the policies of its steps.
    private struct Obedient: Stage {
      typealias Row = CountingStage.Row
      static let definition = CountingStage.definition
      struct Statistics: Sendable {
        var policies: [String] = []
        var tasks: Set<Int32> = []
      }
      var policy = "its own"
      private var known = Statistics()

      mutating func open(in step: Step<Self>) throws { known.tasks.insert(step.partition) }
      mutating func process(_ record: InputRecord, in step: Step<Self>) throws { known.policies.append(step.policy) }
      mutating func close(partition: Int32) { known.tasks.remove(partition) }
      func statistics(now: Milliseconds) -> Statistics? { known }
    }

    private func poll(_ values: Int, from offset: Int64) -> PollResult {
      PollResult(
        records: (0..<values).map {
          InputRecord(
            topic: .timeline, topicName: "nudge.timeline", partition: 0, offset: offset + Int64($0), timestamp: 0,
            key: Array("k".utf8), value: [])
        })
    }

    @Test(
      "steps of a turn have the policy in force when it began; statistics are shown each turn, and when tasks are gone")
    func turns() {
      let io = RecordingIO()
      var policy = "first"
      var shown: [Obedient.Statistics] = []
      let thread = StreamThread(
        Obedient(), io: io, topics: TopicNames(), partitionCounts: [:], limits: StreamLimits(), writer: "w",
        surroundings: StageSurroundings(policy: { policy }, show: { shown.append($0) }), observe: { _ in })
      io.polls = [PollResult(change: .assigned([0]))]
      for _ in 0..<100 where thread.runningTasks.isEmpty { #expect(thread.turn() == nil) }
      #expect(thread.turn() == nil && shown.last?.tasks == [0])
      io.polls = [poll(2, from: 0)]
      for _ in 0..<100 where shown.last?.policies.count != 2 { #expect(thread.turn() == nil) }
      policy = "second"
      io.polls = [poll(1, from: 2)]
      for _ in 0..<100 where shown.last?.policies.count != 3 { #expect(thread.turn() == nil) }
      #expect(shown.last?.policies == ["first", "first", "second"])
      #expect(thread.stop() == .stopped)
      #expect(shown.last?.tasks == [])
    }

    @Test("without surroundings the stage's own policy is in force")
    func alone() {
      let driver = StageDriver(Obedient())
      _ = driver.send(bytes: [], to: .timeline, key: [1])
      driver.policy = "another"
      _ = driver.send(bytes: [], to: .timeline, key: [1])
      #expect(driver.stage.statistics(now: 0)?.policies == ["its own", "another"])
    }
  }
#endif
