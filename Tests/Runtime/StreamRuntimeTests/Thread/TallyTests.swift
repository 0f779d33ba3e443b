#if DEBUG
  import NudgeSchema
  import ServiceKit
  import Testing

  @testable import StreamRuntime

  @Suite("Tallies of stages")
  struct TallyTests {
    /// Counts a record at the place that its value says, and refuses the others.
    private struct TallyingStage: Stage {
      typealias Row = CountingStage.Row
      static let definition = CountingStage.definition
      static let tallies = ["a", "b"].map { StageTally("nudge_t_total", help: "T.", labels: ["t": $0]) }

      func process(_ record: InputRecord, in step: Step<Self>) throws {
        let text = String(decoding: record.value ?? [], as: UTF8.self)
        step.count(text == "b" ? 1 : 0)
        guard text == "a" || text == "b" else { throw Rejection(.schemaViolation, "neither") }
      }
    }

    @Test("tallies are series, observations count in their histogram, and later ones appear when they count")
    func series() {
      let metrics = MetricsRegistry()
      let observer = StreamObserver(
        stage: "s", logger: Logger(label: "test", sink: LogCapture().sink), health: HealthState(), metrics: metrics,
        tallies: [
          StageTally("nudge_t_total", help: "T.", labels: ["t": "a"]),
          StageTally("nudge_t_seconds", help: "S.", labels: [:], observation: .init(value: 2, bounds: [1, 5])),
        ], laterTally: { $0 == 7 ? StageTally("nudge_t_total", help: "T.", labels: ["t": "late"]) : nil })
      observer.observe(.counted([0: 3, 1: 2, 7: 4, 8: 1]), thread: 0)
      let text = metrics.exposition()
      #expect(text.contains("nudge_t_total{t=\"a\"} 3\n"))
      #expect(text.contains("nudge_t_total{t=\"late\"} 4\n"))
      #expect(text.contains("nudge_t_seconds_bucket{le=\"1\"} 0\n"))
      #expect(text.contains("nudge_t_seconds_bucket{le=\"5\"} 2\n") && text.contains("nudge_t_seconds_sum 4\n"))
    }

    @Test("tallies count when the step is committed; those of a refused step do not")
    func committed() throws {
      let io = RecordingIO()
      var told: [[Int: Int]] = []
      let thread = StreamThread(
        TallyingStage(), io: io, topics: TopicNames(), partitionCounts: [:], limits: StreamLimits(), writer: "w",
        observe: { if case .counted(let counts) = $0 { told.append(counts) } })
      io.polls = [PollResult(change: .assigned([0]))]
      for _ in 0..<100 where thread.runningTasks.isEmpty { #expect(thread.turn() == nil) }
      func poll(_ values: [String], from offset: Int64) {
        io.polls = [
          PollResult(
            records: values.enumerated().map {
              InputRecord(
                topic: .timeline, topicName: "nudge.timeline", partition: 0, offset: offset + Int64($0), timestamp: 0,
                key: Array("k".utf8), value: Array($1.utf8))
            })
        ]
      }
      var isAway = true
      io.fails = {
        isAway && $0 == "commit" ? IOFailure(kind: .retriable, operation: "commit", reason: "simulated") : nil
      }
      poll(["a", "b", "x", "b"], from: 0)
      for _ in 0..<20 { _ = thread.turn() }
      #expect(io.calls.contains("commit") && told.isEmpty)
      isAway = false
      for _ in 0..<1_000 where told.isEmpty { _ = thread.turn() }
      #expect(told == [[0: 1, 1: 2]])
      poll(["a"], from: 4)
      for _ in 0..<1_000 where told.count < 2 { _ = thread.turn() }
      #expect(told == [[0: 1, 1: 2], [0: 1]])
    }
  }
#endif
