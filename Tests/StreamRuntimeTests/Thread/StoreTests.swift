#if DEBUG
  import NudgeSchema
  import Testing

  @testable import StreamRuntime

  @Suite("When stores are written")
  struct StoreTests {
    private let tasks: [Int32] = [0, 1, 2, 3]

    @Test("committed rows that wait for their stores have a bound over all tasks of a thread")
    func boundOfUnstoredRows() throws {
      let io = RecordingIO()
      var limits = StreamLimits()
      limits.maxUnstoredRows = 100
      limits.maxUnstoredAge = .max / 4
      limits.maxBatchRecords = 40
      var stored = 0
      let thread = StreamThread(
        CountingStage(), io: io, topics: TopicNames(prefix: ""), partitionCounts: [:], limits: limits, writer: "w",
        performer: nil,
        observe: { event in
          if case .stored(_, let rows, _) = event { stored += rows }
        })
      io.polls = [PollResult(change: .assigned(tasks))]
      for _ in 0..<100 where thread.runningTasks.count < tasks.count { #expect(thread.turn() == nil) }
      try #require(thread.runningTasks == tasks)
      var next: Int64 = 0
      io.source = { count in
        (0..<count).map { _ in
          defer { next += 1 }
          // Unevenly: the task that has most is not always the same.
          return record(next, partition: tasks[Int(next * next % 7 % 4)])
        }
      }
      var largest = 0
      for _ in 0..<2000 where next < 4000 {
        #expect(thread.turn() == nil)
        largest = max(largest, tasks.reduce(0) { $0 + (thread.task($1)?.unstoredCount ?? 0) })
      }
      #expect(next >= 4000)
      #expect(largest > 40 && largest <= limits.maxUnstoredRows + limits.maxBatchRecords, "\(largest) rows waited")
      #expect(stored > 3000)
    }

    private func record(_ offset: Int64, partition: Int32) -> InputRecord {
      InputRecord(
        topic: .timeline, topicName: Topic.timeline.rawValue, partition: partition, offset: offset, timestamp: 0,
        key: Array("key-\(offset)".utf8), value: Array("x".utf8))
    }
  }
#endif
