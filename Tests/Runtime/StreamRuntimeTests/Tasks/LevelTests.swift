#if DEBUG
  import NudgeCodec
  import NudgeSchema
  import Testing

  @testable import StreamRuntime

  @Suite("O7: a release writes what the one before reads, until an operator finalises the upgrade")
  struct LevelTests {
    /// A row that has a second field from level 2 on.
    private struct PersonRow: StateRow, PackedRow {
      static let name: StaticString = "person"
      static var versions: RowVersions { RowVersions(1).and(2, from: FormatLevel(2)) }
      var count: Int
      var color = "red"
      init(count: Int) { self.count = count }
      init(packed row: inout RowReader) throws(RowFormatError) {
        count = Int(try row.signed())
        if row.version >= 2 { color = try row.text() }
      }
      func pack(into row: inout RowWriter) {
        row.signed(count)
        if row.version >= 2 { row.text(color) }
      }
      init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
        try self.init(bytes: bytes)
      }
      func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] { try packed(at: level) }
    }

    /// Counts records, and writes a record of a later kind only where its level is in force.
    private struct PersonStage: Stage {
      typealias Row = PersonRow
      static let definition = StageDefinition(
        name: "person", inputs: [.userEvents, .pushes], outputs: [.outcomes], changelog: .dispatcherState)

      func process(_ record: InputRecord, in step: Step<Self>) throws {
        guard let value = record.value else { throw Rejection(.schemaViolation, "the record has no value") }
        let key = RowKey("k", String(decoding: record.key ?? [], as: UTF8.self))
        try step.set(PersonRow(count: (try step.row(key)?.count ?? 0) + 1), for: key)
        try step.emit(bytes: step.level >= FormatLevel(2) ? [2] : value, to: .outcomes, key: "k", partition: 0)
      }
    }

    private func record(_ offset: Int64, _ topic: Topic = .pushes) -> InputRecord {
      InputRecord(
        topic: topic, topicName: topic.rawValue, partition: 0, offset: offset, timestamp: 0, key: [1], value: [1])
    }

    private func finalising(_ level: Int32, _ offset: Int64, _ topic: Topic = .pushes) -> InputRecord {
      InputRecord(
        topic: topic, topicName: topic.rawValue, partition: 0, offset: offset, timestamp: 0, key: Array("@level".utf8),
        value: nil, headers: [RecordHeaderField(RecordHeader.level, Array("\(level)".utf8))])
    }

    /// A process of a release that knows this level: what it wrote, what it said, and how it ended.
    private func run(
      knowing latest: Int32, from position: PositionRecord? = nil,
      _ batches: [[InputRecord]]
    ) -> (io: RecordingIO, events: [StreamEvent], exit: StreamExit?) {
      let io = RecordingIO()
      io.position = position
      var events: [StreamEvent] = []
      var limits = StreamLimits()
      limits.latestLevel = FormatLevel(latest)
      let thread = StreamThread(
        PersonStage(), io: io, topics: TopicNames(), partitionCounts: [:], limits: limits, writer: "w",
        observe: { events.append($0) })
      io.polls = [PollResult(change: .assigned([0]))]
      var exit: StreamExit?
      for _ in 0..<100 where thread.runningTasks.isEmpty && exit == nil { exit = thread.turn() }
      for batch in batches where exit == nil {
        io.polls = [PollResult(records: batch)]
        for _ in 0..<10 where exit == nil { exit = thread.turn() }
      }
      return (io, events, exit)
    }

    private func positions(_ io: RecordingIO) throws -> [PositionRecord] {
      try io.committed.map { try RecordCoder().decode(PositionRecord.self, from: $0.position) }
    }

    /// The versions of the rows of each transaction.
    private func versions(_ io: RecordingIO) -> [[UInt8]] {
      io.committed.map { $0.changes.compactMap { $0.bytes?.first } }
    }

    @Test(
      "before it is finalised, the later release writes the former version and the former records, also after a restart"
    )
    func waits() throws {
      let first = run(knowing: 2, [[record(0)], [record(1)]])
      #expect(versions(first.io) == [[1], [1]] && first.io.outputs.map(\.value) == [[1], [1]] && first.exit == nil)
      let position = try #require(try positions(first.io).last)
      #expect(position.level == nil)
      let row = try #require(first.io.committed.last?.changes.first?.bytes)
      let former = try PersonRow(count: 2).packed(at: .first)
      #expect(row == former && row.count < PersonRow(count: 2).packed().count)
      // The release before continues at its position.
      let back = run(knowing: 1, from: position, [[record(2)]])
      #expect(back.exit == nil && versions(back.io).filter { !$0.isEmpty } == [[1]])
    }

    @Test(
      "a task that another release ran last has a position at once, without a record, that says what this one knows")
    func known() throws {
      let former = try #require(try positions(run(knowing: 1, [[record(0)]]).io).last)
      #expect(former.known == nil)
      let upgraded = try positions(run(knowing: 2, from: former, [[]]).io)
      #expect(upgraded.map(\.known) == [FormatLevel(2)] && upgraded.map(\.level) == [nil])
      #expect(upgraded.map(\.next) == [former.next])
      let position = try #require(upgraded.last)
      #expect(run(knowing: 2, from: position, [[]]).io.committed.isEmpty, "the same release has nothing to say")
      #expect(try positions(run(knowing: 1, from: position, [[]]).io).map(\.known) == [nil])
      #expect(run(knowing: 2, [[]]).io.committed.isEmpty, "a task that never ran waits for a record")
    }

    @Test(
      "the record that finalises it is the border: the position behind it and the rows of that transaction have the level"
    )
    func finalised() throws {
      let after = run(knowing: 2, [[record(0)], [record(1), finalising(2, 2)], [record(3)]])
      #expect(versions(after.io) == [[1], [2], [2]])
      #expect(try positions(after.io).map(\.level) == [nil, FormatLevel(2), FormatLevel(2)])
      #expect(after.io.outputs.map(\.value) == [[1], [1], [2]])
      #expect(after.events.contains(.levelRaised(task: 0, to: FormatLevel(2))))
      #expect(!after.events.contains { if case .deadLettered = $0 { true } else { false } })
      // A second time, and a lower one, change nothing.
      let again = run(
        knowing: 2, from: try positions(after.io).last,
        [[finalising(2, 4)], [finalising(1, 5)], [record(6)]])
      #expect(try positions(again.io).map(\.level) == [FormatLevel(2), FormatLevel(2), FormatLevel(2)])
      #expect(!again.events.contains { if case .levelRaised = $0 { true } else { false } })
      #expect(versions(again.io).last == [2])
    }

    @Test("a release that does not know the level ends: at the record, after the steps before it, and at the position")
    func laterLevel() throws {
      let at = run(knowing: 1, [[record(0), finalising(2, 1), record(2)]])
      guard case .failed(let reason) = at.exit else { return #expect(Bool(false), "it did not end: \(at.events)") }
      #expect(reason.contains("is at level 2") && reason.contains("knows levels up to 1"))
      #expect(at.io.outputs.count == 1)
      #expect(
        try positions(at.io).map { $0.next["nudge.pushes"] } == [1], "the record is read again by a later release")
      let position = PositionRecord(sequence: 3, next: ["nudge.pushes": 9], writer: "w", level: FormatLevel(2))
      guard case .failed(let second) = run(knowing: 1, from: position, []).exit else {
        return #expect(Bool(false), "a task of a later level runs")
      }
      #expect(second.contains("is at level 2"))
      #expect(run(knowing: 2, from: position, []).exit == nil)
    }

    @Test("on a topic that producers write, such a record finalises nothing")
    func producers() throws {
      let found = run(knowing: 2, [[finalising(2, 0, .userEvents)], [record(0)]])
      #expect(found.io.outputs.map(\.topic) == [.deadLetters, .outcomes])
      #expect(versions(found.io).last == [1] && found.exit == nil)
      #expect(PersonStage.definition.levelInput == .pushes)
    }
  }

  @Suite("The release of a member of a group")
  struct MemberReleaseTests {
    @Test("a client id tells the release and the level that it knows, of each release that there was")
    func parts() throws {
      func release(_ client: String) -> MemberRelease? { MemberRelease(clientID: client, of: "nudge-x-") }
      let own = "nudge-x-host-1-0" + MemberRelease.current.suffix
      #expect(release(own) == .current)
      #expect(
        release("nudge-x-a-0-consumer-0.4.0-level-2") == MemberRelease(version: "0.4.0", latestLevel: FormatLevel(2)))
      #expect(release("nudge-x-a-0-consumer-0.3.0-pre") == MemberRelease(version: "0.3.0-pre", latestLevel: nil))
      #expect(release("nudge-x-a-0-consumer") == MemberRelease(version: nil, latestLevel: nil))
      #expect(
        release("our own") == nil && release("nudge-y-a-0-consumer") == nil && release("nudge-x-a-0-consumers") == nil)
    }
  }
#endif
