#if DEBUG
  import NudgeSchema
  import ServiceKit
  import Synchronization
  import TestSupport
  import Testing

  @testable import StreamRuntime

  @Suite("A thread that gives up its tasks")
  struct SettleTests {
    @Test(
      "on stop, an answer that came after a failed commit is committed, and at once",
      arguments: ["before-commit=fail@3", "before-transaction=fail@3;producer-open=fail@2"])
    func answersAfterFailure(_ failPoints: String) throws {
      let base = RecordingIO()
      let logger = Logger(label: "test", sink: LogCapture().sink)
      let io = FailPointIO(base, FailPoints(try FailPointPlan(failPoints), logger: logger))
      let performer = HeldReplies()
      let failures = Mutex(0)
      let thread = StreamThread(
        AskingStage(writesReplies: true), io: io, topics: TopicNames(prefix: ""), partitionCounts: [:],
        limits: StreamLimits(),
        writer: "w", performer: performer,
        observe: { if case .transactionFailed = $0 { failures.withLock { $0 += 1 } } })
      func record(_ offset: Int64) -> PollResult {
        PollResult(records: [
          InputRecord(
            topic: .pushes, topicName: "nudge.pushes", partition: 0, offset: offset, timestamp: 0, key: [1], value: [1])
        ])
      }
      func turn(until condition: () -> Bool) throws {
        for _ in 0..<100 where !condition() { #expect(thread.turn() == nil) }
        try #require(condition())
      }
      base.polls = [PollResult(change: .assigned([0]))]
      try turn { thread.runningTasks == [0] }
      base.polls = [record(0)]
      try turn { performer.count == 1 }
      base.polls = [record(1)]
      try turn { failures.withLock { $0 } == 1 }
      performer.answer()

      let before = base.calls.count
      let start = base.steadyClock
      #expect(thread.stop() == .stopped)
      let calls = base.calls[before...]
      // The answers' outputs, and a commit behind the last of them.
      #expect(calls.filter { $0 == "produce" }.count == performer.count)
      #expect(calls.lastIndex(of: "produce") ?? .max < calls.lastIndex(of: "commit") ?? .min)
      #expect(base.steadyClock - start < 2000, "the drain may take 8 s")
    }
  }
#endif
