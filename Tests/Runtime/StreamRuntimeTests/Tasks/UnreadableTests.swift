#if DEBUG
  import NudgeSchema
  import Testing

  @testable import StreamRuntime

  @Suite("Rows and records of a later release")
  struct UnreadableTests {
    /// A row format of two versions, of which this release reads the first.
    private struct VersionedRow: StateRow {
      struct FormatError: Error, CustomStringConvertible {
        let description: String
      }
      init() {}
      init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
        guard bytes.first == 1 else { throw FormatError(description: "its version is 2; this program reads 1") }
      }
      func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] { [1] }
    }

    /// Reads a row for each record and writes an output; refuses records with the value "later".
    private struct ReadingStage: Stage {
      typealias Row = VersionedRow
      static let definition = StageDefinition(
        name: "reading", inputs: [.pushes, .userEvents], outputs: [.outcomes], changelog: .dispatcherState)
      let refusal: Rejection

      func process(_ record: InputRecord, in step: Step<Self>) throws {
        let key = String(decoding: record.key ?? [], as: UTF8.self)
        try step.set(VersionedRow(), for: RowKey("k", "before-\(key)"))
        if record.value == Array("later".utf8) { throw refusal }
        _ = try step.row(RowKey("k", key))
        try step.emit(bytes: [1], to: .outcomes, key: key, partition: 0)
      }
    }

    private func record(_ offset: Int64, _ topic: Topic, key: String, value: String = "x") -> InputRecord {
      InputRecord(
        topic: topic, topicName: topic.rawValue, partition: 0, offset: offset, timestamp: 0, key: Array(key.utf8),
        value: Array(value.utf8))
    }

    private func run(
      _ io: RecordingIO, _ records: [InputRecord], refusal: Rejection = Rejection(.internal, "none")
    ) throws -> StreamExit? {
      let thread = StreamThread(
        ReadingStage(refusal: refusal), io: io, topics: TopicNames(prefix: ""), partitionCounts: [:],
        limits: StreamLimits(), writer: "w", observe: { _ in })
      io.polls = [PollResult(change: .assigned([0]))]
      for _ in 0..<100 where thread.runningTasks.isEmpty { #expect(thread.turn() == nil) }
      io.polls = [PollResult(records: records)]
      for _ in 0..<20 { if let exit = thread.turn() { return exit } }
      return nil
    }

    private func reason(_ exit: StreamExit?) throws -> String {
      guard case .failed(let reason) = exit else {
        Issue.record("the thread did not fail: \(exit.map { "\($0)" } ?? "it runs")")
        return ""
      }
      return reason
    }

    @Test(
      "a row that cannot be read ends the thread with the versions; the record is no dead letter, earlier steps commit")
    func row() throws {
      let io = RecordingIO()
      io.storedRows = [(RowKey("k", "later"), [2])]
      let exit = try run(
        io, [record(0, .pushes, key: "a"), record(1, .pushes, key: "later"), record(2, .pushes, key: "b")])
      let reason = try reason(exit)
      #expect(reason.contains("its version is 2; this program reads 1"))
      #expect(reason.contains("Run the release that wrote the row"))
      #expect(io.outputs.map(\.topic) == [.outcomes])
      #expect(io.outputs.first?.key == Array("a".utf8))
      let produced = try #require(io.calls.lastIndex(of: "produce"))
      #expect(try #require(io.calls.lastIndex(of: "commit")) > produced)
    }

    @Test(
      "a record of a later release on Nudge's own topic ends the thread",
      arguments: [
        Rejection(.unknownType, "unknown type \"push.moved\""), Rejection(.unsupportedVersion, "schemaVersion 2"),
        Rejection(.schemaViolation, "push.kind has a value it may not have", isUnknownValue: true),
      ])
    func ownTopic(_ refusal: Rejection) throws {
      let io = RecordingIO()
      let exit = try run(
        io, [record(7, .pushes, key: "a"), record(8, .pushes, key: "b", value: "later")], refusal: refusal)
      let reason = try reason(exit)
      #expect(reason.contains(refusal.message) && reason.contains("nudge.pushes-0 at offset 8"))
      #expect(reason.contains("upgrade reading"))
      #expect(io.outputs.map(\.topic) == [.outcomes])
      #expect(io.calls.contains("commit"))
    }

    @Test("a record that is wrong for every release, or on a producers' topic, is dead-lettered and the thread goes on")
    func deadLetters() throws {
      for (topic, refusal) in [
        (Topic.userEvents, Rejection(.unknownType, "unknown type")),
        (.userEvents, Rejection(.schemaViolation, "kind is not one of the allowed values", isUnknownValue: true)),
        (.pushes, Rejection(.schemaViolation, "targets is empty")), (.pushes, Rejection(.invalidJSON, "no JSON")),
      ] {
        let io = RecordingIO()
        let exit = try run(
          io, [record(0, topic, key: "a", value: "later"), record(1, topic, key: "b")], refusal: refusal)
        #expect(exit == nil)
        #expect(io.outputs.map(\.topic) == [.deadLetters, .outcomes])
      }
    }
  }
#endif
