#if DEBUG
  import NudgeSchema
  import Testing

  @testable import StreamRuntime

  @Suite("An input that ends before the position")
  struct InputBehindTests {
    @Test("the task does not run, says so each time it looks, and runs once the input reaches the position")
    func waits() throws {
      let io = RecordingIO()
      io.position = PositionRecord(sequence: 3, next: ["nudge.timeline": 9], writer: "w")
      io.inputEnd = 8
      var events: [StreamEvent] = []
      let thread = StreamThread(
        CountingStage(), io: io, topics: TopicNames(prefix: "p."), partitionCounts: [:], limits: StreamLimits(),
        writer: "w", observe: { events.append($0) })
      io.polls = [PollResult(change: .assigned([0]))]
      let behind = StreamEvent.inputBehind(task: 0, topic: "p.nudge.timeline", position: 9, end: 8)
      for _ in 0..<200 where events.count(where: { $0 == behind }) < 2 { #expect(thread.turn() == nil) }
      #expect(events.count { $0 == behind } == 2)
      #expect(thread.runningTasks.isEmpty)
      io.inputEnd = 9
      for _ in 0..<200 where thread.runningTasks.isEmpty { #expect(thread.turn() == nil) }
      #expect(thread.runningTasks == [0] && thread.task(0)?.next == [.timeline: 9])
    }
  }
#endif
