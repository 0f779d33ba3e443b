#if DEBUG
  import NudgeSchema
  import ServiceKit
  import TestSupport
  import Testing

  @testable import StreamRuntime

  @Suite("Metrics of stages")
  struct StageMetricTests {
    private enum Metric: StageMetric {
      case letter(String)
      case seconds
      case version(String, from: String)

      static let expected = ["a", "b"].map(Self.letter)

      var series: StageSeries {
        switch self {
        case .letter(let text): StageSeries("nudge_t_total", help: "T.", labels: ["t": text])
        case .seconds:
          StageSeries("nudge_t_seconds", help: "S.", labels: [:], observation: .init(value: 2, bounds: [1, 5]))
        case .version(let text, _): StageSeries("nudge_t_versions_total", help: "V.", labels: ["v": text])
        }
      }

      var openLabel: StageOpenLabel? {
        if case .version(let text, let source) = self { StageOpenLabel(text, from: source) } else { nil }
      }

      func labeled(_ value: String) -> Self { .version(value, from: "") }
    }

    /// Counts a record as its value says, and refuses what is neither `a` nor `b`.
    private struct CountingLetters: Stage {
      typealias Row = CountingStage.Row
      typealias Metric = StageMetricTests.Metric
      static let definition = CountingStage.definition

      func process(_ record: InputRecord, in step: Step<Self>) throws {
        let text = String(decoding: record.value ?? [], as: UTF8.self)
        step.count(.letter(text))
        guard text == "a" || text == "b" else { throw Rejection(.schemaViolation, "neither") }
      }
    }

    private func exposition(_ counts: [(Metric, Int)]) -> String {
      let metrics = MetricsRegistry()
      let observer = StreamObserver(
        stage: "s", logger: Logger(label: "test", sink: LogCapture().sink), health: HealthState(), metrics: metrics,
        expected: Metric.expected)
      observer.observe(.counted(counts.map { StageCount(metric: $0, count: $1) }), thread: 0)
      return metrics.exposition()
    }

    @Test(
      "expected series are there from the start, observations count in their histogram, others appear when they count")
    func series() {
      let text = exposition([(.letter("a"), 3), (.seconds, 2), (.letter("late"), 4)])
      #expect(text.contains("nudge_t_total{t=\"a\"} 3\n") && text.contains("nudge_t_total{t=\"b\"} 0\n"))
      #expect(text.contains("nudge_t_total{t=\"late\"} 4\n"))
      #expect(text.contains("nudge_t_seconds_bucket{le=\"1\"} 0\n"))
      #expect(text.contains("nudge_t_seconds_bucket{le=\"5\"} 2\n") && text.contains("nudge_t_seconds_sum 4\n"))
    }

    @Test("however many values a label takes, 32 have series of their own, and two of one source's")
    func openLabels() {
      let mallory = exposition((0..<100).map { (.version("fake-\($0)", from: "mallory"), 1) })
      #expect(mallory.contains("nudge_t_versions_total{v=\"fake-1\"} 1\n"))
      #expect(mallory.contains("nudge_t_versions_total{v=\"other\"} 98\n"))
      // Each value twice; of the second source, too, where the value is known.
      let many = exposition(
        (0..<100).flatMap { [(.version("9.\($0)", from: "p\($0 / 2)"), 1), (.version("9.\($0)", from: "mallory"), 1)] })
      let series = many.split(separator: "\n").filter { $0.hasPrefix("nudge_t_versions_total{") }
      #expect(series.count == OpenLabels.limit + 1)
      #expect(many.contains("nudge_t_versions_total{v=\"9.31\"} 2\n"))
      #expect(many.contains("nudge_t_versions_total{v=\"other\"} 136\n"))
    }

    @Test("what is counted counts when the step is committed; what a refused step counted does not")
    func committed() throws {
      let io = RecordingIO()
      var told: [[Metric: Int]] = []
      let thread = StreamThread(
        CountingLetters(), io: io, topics: TopicNames(), partitionCounts: [:], limits: StreamLimits(), writer: "w",
        observe: {
          guard case .counted(let counts) = $0 else { return }
          told.append(counts.reduce(into: [:]) { $0[$1.metric as? Metric ?? .seconds] = $1.count })
        })
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
      #expect(told == [[.letter("a"): 1, .letter("b"): 2]])
      poll(["a"], from: 4)
      for _ in 0..<1_000 where told.count < 2 { _ = thread.turn() }
      #expect(told == [[.letter("a"): 1, .letter("b"): 2], [.letter("a"): 1]])
    }
  }
#endif
