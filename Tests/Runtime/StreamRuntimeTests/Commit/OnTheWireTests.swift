#if DEBUG
  import NudgeSchema
  import Testing

  @testable import StreamRuntime

  @Suite("While a transaction is in flight")
  struct OnTheWireTests {
    private func record(_ offset: Int64, _ topic: Topic = .timeline) -> InputRecord {
      InputRecord(
        topic: topic, topicName: topic.rawValue, partition: 0, offset: offset, timestamp: 0, key: Array("key".utf8),
        value: [1])
    }

    private func thread<S: Stage>(
      _ stage: S, _ io: RecordingIO, performer: (any EffectPerformer<S.Effect, S.Reply>)? = nil,
      observe: @escaping (StreamEvent) -> Void = { _ in }
    ) throws -> StreamThread<S, RecordingIO> {
      let thread = StreamThread(
        stage, io: io, topics: TopicNames(), partitionCounts: [:], limits: StreamLimits(), writer: "w",
        performer: performer, observe: observe)
      io.polls = [PollResult(change: .assigned([0]))]
      for _ in 0..<100 where thread.runningTasks.isEmpty { #expect(thread.turn() == nil) }
      try #require(thread.runningTasks == [0])
      return thread
    }

    private func turn<S: Stage>(
      _ thread: StreamThread<S, RecordingIO>, atMost turns: Int = 1000, until condition: () -> Bool
    ) throws {
      for _ in 0..<turns where !condition() { #expect(thread.turn() == nil) }
      try #require(condition())
    }

    private func commits(_ io: RecordingIO) -> Int { io.calls.count { $0 == "commit" } }

    @Test("records are processed into the next transaction, which has its own position and is sent after the outcome")
    func goesOn() throws {
      let io = RecordingIO()
      let thread = try thread(CountingStage(), io)
      io.isOnTheWire = true
      io.polls = [PollResult(records: [record(0)])]
      try turn(thread) { commits(io) == 1 }
      io.polls = [PollResult(records: [record(1)]), PollResult(records: [record(2)])]
      for _ in 0..<20 { #expect(thread.turn() == nil) }
      let task = try #require(thread.task(0))
      #expect(commits(io) == 1)
      #expect(task.records == 2 && task.sealed?.records == 1)
      #expect(task.position.sequence == 0)
      io.isOnTheWire = false
      #expect(thread.turn() == nil)
      #expect(task.position.sequence == 1 && task.position.next(.timeline) == 1)
      // After the wait for company.
      try turn(thread) { commits(io) == 2 }
      try turn(thread) { task.position.sequence == 2 }
      #expect(task.position.next(.timeline) == 3)
      #expect(io.outputs.map { $0.value.map { String(decoding: $0, as: UTF8.self) } } == ["1 0", "2 1", "3 2"])
    }

    @Test("a failed transaction is sent again unchanged, and later work follows it")
    func sentAgain() throws {
      let io = RecordingIO()
      var failures = 0
      let thread = try thread(CountingStage(), io) { if case .transactionFailed = $0 { failures += 1 } }
      io.isOnTheWire = true
      io.fails = {
        $0 == "commit" ? IOFailure(kind: .retriable, operation: "commit", reason: "no answer") : nil
      }
      io.polls = [PollResult(records: [record(0)])]
      try turn(thread) { commits(io) == 1 }
      io.polls = [PollResult(records: [record(1)])]
      for _ in 0..<5 { #expect(thread.turn() == nil) }
      io.isOnTheWire = false
      try turn(thread) { failures == 1 }
      // Nothing is added while the outcome is unknown.
      io.polls = [PollResult(records: [record(2)])]
      for _ in 0..<50 { #expect(thread.turn() == nil) }
      #expect(thread.task(0)?.records == 1)
      io.fails = nil
      try turn(thread) { thread.task(0)?.position.next(.timeline) == 3 }
      let written = io.outputs.map { $0.value.map { String(decoding: $0, as: UTF8.self) } ?? "" }
      #expect(written.first == "1 0" && Array(written.suffix(3)) == ["1 0", "2 1", "3 2"])
      #expect(Set(written.dropLast(2)) == ["1 0"], "the same content until it is committed")
    }

    @Test("effects do not wait for a commit, unless it takes long")
    func effects() throws {
      let io = RecordingIO()
      let performer = HeldReplies()
      let thread = try thread(AskingStage(), io, performer: performer)
      try turn(thread) { thread.task(0)?.position.sequence == 1 }
      io.isOnTheWire = true
      io.polls = [PollResult(records: [record(0, .pushes)])]
      let before = commits(io)
      try turn(thread) { commits(io) > before }
      io.polls = [PollResult(records: [record(1, .pushes)])]
      #expect(thread.turn() == nil)
      #expect(performer.count == 2)
      let sent = io.steadyClock
      try turn(thread) { io.steadyClock > sent + StreamLimits().maxEffectLead }
      io.polls = [PollResult(records: [record(2, .pushes)])]
      for _ in 0..<20 { #expect(thread.turn() == nil) }
      #expect(performer.count == 2)
      io.isOnTheWire = false
      try turn(thread) { performer.count == 3 }
    }

    @Test("effects that wait for a slow commit are not done once the group does not know the member any more")
    func outOfGroup() throws {
      let io = RecordingIO()
      let performer = HeldReplies()
      let thread = try thread(AskingStage(), io, performer: performer)
      try turn(thread) { thread.task(0)?.position.sequence == 1 }
      io.isOnTheWire = true
      io.fails = { $0 == "commit" ? IOFailure(kind: .notMember, operation: "commit", reason: "expelled") : nil }
      io.polls = [PollResult(records: [record(0, .pushes)])]
      let before = commits(io)
      try turn(thread) { commits(io) > before }
      let sent = io.steadyClock
      try turn(thread) { io.steadyClock > sent + StreamLimits().maxEffectLead }
      io.polls = [PollResult(records: [record(1, .pushes)])]
      #expect(thread.turn() == nil)
      #expect(performer.count == 1)
      io.isOnTheWire = false
      // Less than what the last proof of ownership would hold for.
      for _ in 0..<10 { #expect(thread.turn() == nil) }
      #expect(performer.count == 1)
    }

    @Test("with the next transaction full nothing more is taken, and inputs pause only if that lasts")
    func bounded() throws {
      let io = RecordingIO()
      let thread = try thread(CountingStage(), io)
      var next: Int64 = 0
      io.source = { count in
        defer { next += Int64(count) }
        return (next..<next + Int64(count)).map { record($0) }
      }
      io.isOnTheWire = true
      io.waitsUntilOutcome = 1
      try turn(thread) { commits(io) == 2 }
      #expect(!io.calls.contains("setPaused"))
      io.isOnTheWire = true
      io.waitsUntilOutcome = nil
      for _ in 0..<100 { #expect(thread.turn() == nil) }
      #expect(io.isPaused && commits(io) <= 3)
      #expect(thread.task(0)?.records == StreamLimits().maxBatchRecords)
      io.isOnTheWire = false
      try turn(thread) { !io.isPaused }
    }

    @Test("a revocation waits for the outcome, and commits later work", arguments: [false, true])
    func revoked(_ isStop: Bool) throws {
      let io = RecordingIO()
      let thread = try thread(CountingStage(), io)
      io.isOnTheWire = true
      io.polls = [PollResult(records: [record(0)])]
      try turn(thread) { commits(io) == 1 }
      io.polls = [PollResult(records: [record(1)])]
      #expect(thread.turn() == nil)
      let task = try #require(thread.task(0))
      io.waitsUntilOutcome = 3
      if isStop {
        #expect(thread.stop() == .stopped)
      } else {
        io.polls = [PollResult(change: .revoked([0]))]
        try turn(thread) { thread.runningTasks.isEmpty }
      }
      #expect(task.position.sequence == 2 && task.position.next(.timeline) == 2)
      #expect(task.store.header?.position == task.position)
    }

    @Test("lost tasks are closed after the outcome, and nothing more of them is sent")
    func lost() throws {
      let io = RecordingIO()
      let thread = try thread(CountingStage(), io)
      io.isOnTheWire = true
      io.polls = [PollResult(records: [record(0)])]
      try turn(thread) { commits(io) == 1 }
      io.waitsUntilOutcome = 3
      io.polls = [PollResult(records: [record(1)], change: .lost([0]))]
      try turn(thread) { thread.runningTasks.isEmpty }
      for _ in 0..<50 { #expect(thread.turn() == nil) }
      #expect(commits(io) == 1)
    }
  }
#endif
