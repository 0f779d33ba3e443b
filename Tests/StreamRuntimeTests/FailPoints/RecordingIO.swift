#if DEBUG
  import NudgeSchema

  @testable import StreamRuntime

  /// An I/O that does nothing and notes what it was asked for: its broker holds nothing, and takes everything. Time passes
  /// where somebody waits.
  final class RecordingIO: StreamIO {
    private(set) var calls: [String] = []
    /// What the next polls bring, in order; nothing afterwards.
    var polls: [PollResult] = []
    private var read: [Int32: Int64] = [:]
    private var now: Milliseconds = 1_000_000
    var wallClock: Milliseconds { now }
    var steadyClock: Milliseconds { now }

    func poll(timeout: Milliseconds, maxRecords: Int, maxBytes: Int) throws(IOFailure) -> PollResult {
      calls.append("poll")
      if !polls.isEmpty { return polls.removeFirst() }
      now += timeout
      return PollResult()
    }
    func assign(_ starts: [InputPosition]) throws(IOFailure) { calls.append("assign") }
    func setPaused(_ paused: Bool) throws(IOFailure) { calls.append("setPaused") }
    func idle(atMost timeout: Milliseconds) {
      calls.append("idle")
      now += timeout
    }
    func committedOffsets(of tasks: [Int32]) throws(IOFailure) -> [CommittedInput] {
      calls.append("committedOffsets")
      return []
    }
    func logStart(of topic: Topic, task: Int32) throws(IOFailure) -> Int64 {
      calls.append("logStart")
      return 0
    }
    func openProducers() throws(IOFailure) { calls.append("openProducers") }
    func begin() throws(IOFailure) { calls.append("begin") }
    func produce(_ output: OutputRecord) throws(IOFailure) { calls.append("produce") }
    func produce(change key: RowKey, bytes: [UInt8]?, task: Int32, tag: TransactionTag) throws(IOFailure) {
      calls.append("change")
    }
    func produce(position bytes: [UInt8], task: Int32) throws(IOFailure) { calls.append("position") }
    func flush() throws(IOFailure) { calls.append("flush") }
    func sendOffsets(_ offsets: [CommittedInput]) throws(IOFailure) { calls.append("sendOffsets") }
    func commit() throws(IOFailure) { calls.append("commit") }
    func positionOffset(of task: Int32) -> Int64? { 4 }
    func changelogEnds(of task: Int32) throws(IOFailure) -> ChangelogEnds {
      calls.append("changelogEnds")
      return ChangelogEnds(start: 0, high: 0)
    }
    func changelogHigh(of task: Int32) throws(IOFailure) -> Int64 {
      calls.append("changelogHigh")
      return 6
    }
    func readChangelogs(_ starts: [Int32: Int64]) throws(IOFailure) {
      calls.append("readChangelogs")
      read = starts
    }
    func pollChangelogs(timeout: Milliseconds) throws(IOFailure) -> [ChangelogItem] {
      calls.append("pollChangelogs")
      return read.map { .end(task: $0.key, offset: $0.value) }
    }
    func openStore(of task: Int32) throws -> ModelStore {
      calls.append("openStore")
      return ModelStore()
    }
  }
#endif
