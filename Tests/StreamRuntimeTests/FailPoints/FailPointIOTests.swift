#if DEBUG
  import Foundation
  import NudgeSchema
  import ServiceKit
  import Testing

  @testable import StreamRuntime

  @Suite("Fail-points")
  struct FailPointIOTests {
    private let base = RecordingIO()
    private let capture = LogCapture()

    private func points(_ text: String) throws -> FailPoints {
      FailPoints(try FailPointPlan(text), logger: Logger(label: "test", sink: capture.sink))
    }

    /// One transaction as a stream thread makes it.
    private func transaction(_ io: FailPointIO<RecordingIO>) throws {
      try io.begin()
      try io.flush()
      try io.sendOffsets([])
      try io.commit()
    }

    @Test(
      "a point fails its call, at the time it was told to and never again; what came before it was done",
      arguments: [
        ("before-transaction", []), ("mid-transaction", ["begin", "flush"]),
        ("before-commit", ["begin", "flush", "sendOffsets"]),
        ("commit-sent", ["begin", "flush", "sendOffsets", "commit"]),
      ])
    func transactions(_ point: String, _ done: [String]) throws {
      let io = FailPointIO(base, try points("\(point)=fail@2"))
      let whole = ["begin", "flush", "sendOffsets", "commit"]
      try transaction(io)
      let failure = #expect(throws: IOFailure.self) { try transaction(io) }
      #expect(failure?.kind == .retriable)
      #expect(base.calls == whole + done)
      try transaction(io)
      #expect(base.calls == whole + done + whole)
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

    @Test("effect-sent is reached where an answer has come and the next transaction begins")
    func effects() throws {
      struct Echo: EffectPerformer {
        func perform(_ effect: Int, reply: @escaping @Sendable (Int) -> Void) { reply(effect) }
        func stop() {}
      }
      let points = try points("effect-sent=fail")
      let io = FailPointIO(base, points)
      try transaction(io)
      let performer = FailPointPerformer(Echo(), points)
      performer.perform(1) { #expect($0 == 1) }
      #expect(throws: IOFailure.self) { try transaction(io) }
      try transaction(io)
      #expect(base.calls.filter { $0 == "commit" }.count == 2)
    }

    @Test("a stall holds up the call, which is made then")
    func stalls() throws {
      let io = FailPointIO(base, try points("before-commit=stall:50ms"))
      let time = try ContinuousClock().measure { try transaction(io) }
      #expect(time >= .milliseconds(50))
      #expect(base.calls.last == "commit")
    }

    @Test("the process that is to die is gone at once, by SIGKILL")
    func dies() async {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        let logger = Logger(label: "test", sink: LogCapture().sink)
        let io = FailPointIO(RecordingIO(), FailPoints(try FailPointPlan("before-commit=die@2"), logger: logger))
        try io.commit()
        try io.commit()
      }
    }
  }
#endif
