#if DEBUG
  import Foundation
  import NudgeSchema
  import ServiceKit
  import TestSupport
  import Testing

  @testable import StreamRuntime

  @Suite("Fail-points")
  struct FailPointIOTests {
    private let base = RecordingIO()
    private let capture = LogCapture()

    private func points(_ text: String) throws -> FailPoints {
      FailPoints(try FailPointPlan(text), logger: Logger(label: "test", sink: capture.sink))
    }

    private let transaction = SealedTransaction(parts: [], offsets: [])
    private let committed = CommitOutcome.committed(positions: [:])
    private func commit(_ io: FailPointIO<RecordingIO>) -> CommitOutcome? {
      io.begin(transaction)
      return io.takeOutcome()
    }
    private let whole = ["records", "offsets", "commit"]

    @Test(
      "a fail-point fails its commit at the planned visit only, and the earlier calls were made",
      arguments: [
        ("before-transaction", 0, false), ("mid-transaction", 1, false), ("before-commit", 2, false),
        ("commit-sent", 3, true),
      ])
    func transactions(_ point: String, _ done: Int, _ isUnknown: Bool) throws {
      let io = FailPointIO(base, try points("\(point)=fail@2"))
      #expect(commit(io) == committed)
      let outcome = commit(io)
      if case .unknown(let reason) = outcome {
        #expect(isUnknown && reason.contains(point))
      } else if case .notCommitted(let reason) = outcome {
        #expect(!isUnknown && reason.contains(point))
      } else {
        Issue.record("\(String(describing: outcome))")
      }
      #expect(base.calls == whole + whole.prefix(done))
      #expect(commit(io) == committed)
      #expect(base.calls == whole + whole.prefix(done) + whole)
      #expect(capture.entries.count == 1)
    }

    @Test("opening a producer and reading a changelog fail as a broker's refusal would")
    func queries() throws {
      let io = FailPointIO(base, try points("producer-open=fail;restore-read=fail"))
      #expect(throws: IOFailure.self) { try io.openProducers() }
      #expect(throws: IOFailure.self) { try io.readChangelogs([0: 0]) }
      #expect(base.calls.isEmpty)
      // Ends the reading, which is no read.
      try io.readChangelogs([:])
      try io.openProducers()
      try io.readChangelogs([0: 0])
      #expect(base.calls == ["readChangelogs", "openProducers", "readChangelogs"])
    }

    @Test("a store that cannot be opened, or not be written, is a failure of the store; nothing is written then")
    func stores() throws {
      let io = FailPointIO(base, try points("store-open=fail;store-write=fail@2"))
      #expect(throws: StoreFailure.self) { try io.openStore(of: 0) }
      let store = try io.openStore(of: 0)
      func header(_ sequence: Int64) -> StoreHeader {
        StoreHeader(
          position: PositionRecord(sequence: sequence, next: [:], writer: "w"), changelogOffset: 1, storedAt: 0)
      }
      try store.apply([(RowKey("a"), [1])], header: header(1))
      #expect(throws: StoreFailure.self) { try store.apply([(RowKey("b"), [2])], header: header(2)) }
      #expect(store.header == header(1))
      #expect(try store.withRow(RowKey("a")) { Array($0) } == [1])
      #expect(try store.withRow(RowKey("b")) { Array($0) } == nil)
    }

    @Test("effect-sent is reached when a reply has come and the next transaction begins")
    func effects() throws {
      struct Echo: EffectPerformer {
        func perform(_ effect: Int, reply: @escaping @Sendable (Int) -> Void) { reply(effect) }
        func stop() {}
      }
      let points = try points("effect-sent=fail")
      let io = FailPointIO(base, points)
      #expect(commit(io) == committed)
      let performer = FailPointPerformer(Echo(), points)
      performer.perform(1) { #expect($0 == 1) }
      #expect(commit(io) == .notCommitted("fail-point effect-sent"))
      #expect(commit(io) == committed)
      #expect(base.calls.filter { $0 == "commit" }.count == 2)
    }

    @Test("a stall delays the call, which is then made")
    func stalls() throws {
      let io = FailPointIO(base, try points("before-commit=stall:50ms"))
      let time = ContinuousClock().measure { #expect(commit(io) == committed) }
      #expect(time >= .milliseconds(50))
      #expect(base.calls.last == "commit")
    }

    @Test("a process that must die is killed at once by SIGKILL")
    func dies() async {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        let logger = Logger(label: "test", sink: LogCapture().sink)
        let io = FailPointIO(RecordingIO(), FailPoints(try FailPointPlan("before-commit=die@2"), logger: logger))
        let transaction = SealedTransaction(parts: [], offsets: [])
        for _ in 0..<2 {
          io.begin(transaction)
          _ = io.takeOutcome()
        }
      }
    }
  }
#endif
