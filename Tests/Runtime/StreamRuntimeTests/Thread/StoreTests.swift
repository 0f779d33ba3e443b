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
      let thread = try runningThread(io, limits) { _, rows in stored += rows }
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

    @Test("a task with one row is stored in time, however many rows of others wait")
    func ageWhileOthersOverflow() throws {
      let io = RecordingIO()
      var limits = StreamLimits()
      limits.maxUnstoredRows = 100
      limits.maxUnstoredAge = 1000
      limits.maxBatchRecords = 40
      var stored: [Int32: Int] = [:]
      let thread = try runningThread(io, limits) { task, rows in stored[task, default: 0] += rows }
      io.takes = ["poll": 100]
      var next: Int64 = 0
      io.source = { count in
        (0..<count).map { _ in
          defer { next += 1 }
          return record(next, partition: next == 0 ? 3 : tasks[Int(next % 3)])
        }
      }
      var waitedSince: Milliseconds?
      for _ in 0..<200 where stored[3] == nil {
        #expect(thread.turn() == nil)
        if waitedSince == nil, thread.task(3)?.unstoredCount == 1 { waitedSince = io.steadyClock }
      }
      let waited = io.steadyClock - (try #require(waitedSince))
      #expect(stored[3] == 1)
      // Its turn comes with the poll after.
      #expect(waited <= limits.maxUnstoredAge + 2 * 100, "\(waited) ms, \(stored)")
      #expect(stored.filter { $0.key != 3 }.reduce(0) { $0 + $1.value } > limits.maxUnstoredRows)
    }

    private func runningThread(
      _ io: RecordingIO, _ limits: StreamLimits, stored: @escaping (_ task: Int32, _ rows: Int) -> Void
    ) throws -> StreamThread<CountingStage, RecordingIO> {
      let thread = StreamThread(
        CountingStage(), io: io, topics: TopicNames(prefix: ""), partitionCounts: [:], limits: limits, writer: "w",
        performer: nil,
        observe: { event in
          if case .stored(let task, let rows, _) = event { stored(task, rows) }
        })
      io.polls = [PollResult(change: .assigned(tasks))]
      for _ in 0..<100 where thread.runningTasks.count < tasks.count { #expect(thread.turn() == nil) }
      try #require(thread.runningTasks == tasks)
      return thread
    }

    private func record(_ offset: Int64, partition: Int32) -> InputRecord {
      InputRecord(
        topic: .timeline, topicName: Topic.timeline.rawValue, partition: partition, offset: offset, timestamp: 0,
        key: Array("key-\(offset)".utf8), value: Array("x".utf8))
    }
  }
#endif
