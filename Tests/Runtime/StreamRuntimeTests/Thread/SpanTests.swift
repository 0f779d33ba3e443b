#if DEBUG
  import NudgeSchema
  import ServiceKit
  import Synchronization
  import Testing

  @testable import StreamRuntime

  @Suite("Spans of stages")
  struct SpanTests {
    /// Records spans. Its clock ticks with each reading.
    private final class Recorder: SpanRecorder {
      private let state = Mutex((now: UInt64(1_000), spans: [Span]()))
      var spans: [Span] { state.withLock { $0.spans } }

      func now() -> UInt64 {
        state.withLock {
          $0.now += 1
          return $0.now
        }
      }
      func record(_ span: Span) { state.withLock { $0.spans.append(span) } }
    }

    private static let sampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"

    private func record(_ offset: Int64, _ traceparent: String?, value: String = "x") -> InputRecord {
      InputRecord(
        topic: .timeline, topicName: "nudge.timeline", partition: 0, offset: offset, timestamp: 0,
        key: Array("key".utf8),
        value: Array(value.utf8),
        headers: traceparent.map { [RecordHeaderField(RecordHeader.traceparent, $0)] } ?? [])
    }

    /// A thread with one task that has worked on records, and committed them.
    private func run(
      _ records: [InputRecord], _ spans: (any SpanRecorder)?, fails: ((String) -> IOFailure?)? = nil
    ) throws -> RecordingIO {
      let io = RecordingIO()
      let thread = StreamThread(
        CountingStage(), io: io, topics: TopicNames(), partitionCounts: [:], limits: StreamLimits(), writer: "w",
        spans: spans, observe: { _ in })
      io.polls = [PollResult(change: .assigned([0]))]
      for _ in 0..<100 where thread.runningTasks.isEmpty { #expect(thread.turn() == nil) }
      io.fails = fails
      io.polls = [PollResult(records: records)]
      for _ in 0..<100 where io.calls.count(where: { $0 == "commit" }) < 1 { _ = thread.turn() }
      // The turn that takes its outcome.
      _ = thread.turn()
      return io
    }

    private func traceparents(_ io: RecordingIO) -> [String?] {
      io.outputs.map { output in
        output.headers.first { $0.name == RecordHeader.traceparent }.map { String(decoding: $0.value, as: UTF8.self) }
      }
    }

    @Test(
      "a record whose trace is recorded has a span from its step to its commit, which its outputs name as their cause")
    func processing() throws {
      let recorder = Recorder()
      let io = try run([record(7, Self.sampled), record(8, nil), record(9, Self.unsampled)], recorder)
      let span = try #require(recorder.spans.first)
      #expect(recorder.spans.count == 1)
      #expect(
        span.context.traceID == "4bf92f3577b34da6a3ce929d0e0e4736"
          && TraceContext.spanID(span.parent) == "00f067aa0ba902b7")
      #expect(span.name == "process nudge.timeline" && span.kind == .consumer && span.failure == nil)
      #expect(span.end > span.start)
      let attributes = Dictionary(uniqueKeysWithValues: span.attributes.map { ($0.name, $0.value) })
      #expect(
        attributes == [
          "messaging.system": .string("kafka"), "messaging.operation.name": .string("process"),
          "messaging.operation.type": .string("process"), "messaging.consumer.group.name": .string("nudge-counting"),
          "messaging.destination.name": .string("nudge.timeline"), "messaging.destination.partition.id": .string("0"),
          "messaging.kafka.offset": .int(7), "nudge.stage": .string("counting"),
        ])
      #expect(traceparents(io) == [span.context.traceparent, nil, Self.unsampled])
    }

    @Test("where no spans are recorded, trace contexts go along as they came")
    func off() throws {
      #expect(traceparents(try run([record(7, Self.sampled)], nil)) == [Self.sampled])
    }

    @Test("whoever processes a record again gives the span the same id, another record another")
    func stable() throws {
      let (first, second) = (Recorder(), Recorder())
      _ = try run([record(7, Self.sampled), record(8, Self.sampled)], first)
      _ = try run([record(7, Self.sampled)], second)
      #expect(first.spans.count == 2 && first.spans[0].context != first.spans[1].context)
      #expect(first.spans[0].context == second.spans[0].context)
    }

    @Test("a record that is refused has a span that failed, with the dead letter's code and not its text")
    func refused() throws {
      let recorder = Recorder()
      let io = try run([record(7, Self.sampled, value: "poison secret")], recorder)
      #expect(recorder.spans.map(\.failure) == ["schema_violation"])
      #expect(!"\(recorder.spans)".contains("secret") && io.outputs.count == 1)
    }

    @Test("what is not committed has no span yet")
    func uncommitted() throws {
      let recorder = Recorder()
      _ = try run([record(7, Self.sampled)], recorder) {
        $0 == "commit" ? IOFailure(kind: .retriable, operation: "commit", reason: "simulated") : nil
      }
      #expect(recorder.spans.isEmpty)
    }
  }
#endif
