#if DEBUG
  import NudgeSchema
  import Testing

  @testable import StreamRuntime

  @Suite("A position is one of topics with ids")
  struct TopicIDsTests {
    private static let former = TopicIDs([.timeline: "old", .analyzerState: "state"])

    /// Runs a thread that is assigned task 0 until it does nothing new, and returns what it reported.
    private func events(
      _ io: RecordingIO, until isDone: (StreamThread<CountingStage, RecordingIO>, [StreamEvent]) -> Bool
    )
      -> (thread: StreamThread<CountingStage, RecordingIO>, events: [StreamEvent])
    {
      var events: [StreamEvent] = []
      let thread = StreamThread(
        CountingStage(), io: io, topics: TopicNames(prefix: "p."), partitionCounts: [:], limits: StreamLimits(),
        writer: "w", observe: { events.append($0) })
      io.polls = [PollResult(change: .assigned([0]))]
      for _ in 0..<200 where !isDone(thread, events) { #expect(thread.turn() == nil) }
      return (thread, events)
    }

    private func position(_ ids: TopicIDs?) -> PositionRecord {
      PositionRecord(sequence: 3, next: ["nudge.timeline": 9], writer: "w", topicIDs: ids)
    }

    @Test("another input, or another changelog, keeps the task from running, however long it is")
    func another() {
      for (now, expected) in [
        (
          TopicIDs([.timeline: "new", .analyzerState: "state"]),
          StreamEvent.inputReplaced(task: 0, topic: "p.nudge.timeline", position: 9)
        ),
        (
          TopicIDs([.timeline: "old", .analyzerState: "new"]),
          StreamEvent.changelogReplaced(task: 0, topic: "p.nudge.analyzer-state")
        ),
      ] {
        let io = RecordingIO()
        io.position = position(Self.former)
        io.inputEnd = 1_000
        io.topics = now
        // It looks again.
        let run = events(io) { _, events in events.count { $0 == expected } >= 2 }
        #expect(run.events.count { $0 == expected } == 2)
        #expect(run.thread.runningTasks.isEmpty)
      }
    }

    @Test("a position of a former release adopts the ids of now, and they are written although no record comes")
    func adopts() throws {
      let io = RecordingIO()
      io.position = position(nil)
      io.topics = Self.former
      let run = events(io) { thread, events in
        events.contains { if case .committed = $0 { true } else { false } }
      }
      #expect(run.thread.runningTasks == [0])
      #expect(run.thread.task(0)?.position.topicIDs == Self.former)
      #expect(run.thread.task(0)?.position.sequence == 4)
    }

    @Test("known ids cause no transaction; neither does a broker without ids, and its positions keep those they have")
    func nothingNew() {
      for (known, now) in [(Self.former, Self.former), (Self.former, TopicIDs()), (nil, TopicIDs())] {
        let io = RecordingIO()
        io.position = position(known)
        io.topics = now
        let run = events(io) { thread, _ in !thread.runningTasks.isEmpty }
        for _ in 0..<20 { #expect(run.thread.turn() == nil) }
        #expect(run.thread.runningTasks == [0] && run.thread.task(0)?.isDirty == false)
        #expect(run.thread.task(0)?.position.sequence == 3)
        #expect(run.thread.task(0)?.topicIDs == known ?? TopicIDs())
      }
    }

    @Test("position records of former releases are read, and those of this one by former releases")
    func format() throws {
      let coder = RecordCoder()
      let former = #"{"next":{"nudge.timeline":9},"sequence":3,"writer":"w"}"#
      let read = try coder.decode(PositionRecord.self, from: Array(former.utf8))
      #expect(read == position(nil))
      #expect(String(decoding: try coder.encode(position(nil)), as: UTF8.self) == former)
      #expect(
        String(decoding: try coder.encode(position(Self.former)), as: UTF8.self)
          == #"{"next":{"nudge.timeline":9},"sequence":3,"topicIDs":{"nudge.analyzer-state":"state","nudge.timeline":"old"},"writer":"w"}"#
      )
      #expect(try coder.decode(PositionRecord.self, from: coder.encode(position(Self.former))) == position(Self.former))
    }
  }
#endif
