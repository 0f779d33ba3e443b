#if DEBUG
  import NudgeSchema

  @testable import StreamRuntime

  /// An I/O that does nothing and notes what it was asked for: its broker holds nothing, and takes everything. Time passes
  /// where somebody waits.
  final class RecordingIO: StreamIO {
    private(set) var calls: [String] = []
    private(set) var outputs: [OutputRecord] = []
    /// The parts of the transactions that were committed.
    private(set) var committed: [SealedTransaction.Part] = []
    /// The results of the next polls, in order.
    var polls: [PollResult] = []
    /// Further records, of a task whose inputs are consumed and not paused: is told how many at most.
    var source: ((Int) -> [InputRecord])?
    /// How long a call takes, and why it fails once it has.
    var takes: [String: Milliseconds] = [:]
    var fails: ((String) -> IOFailure?)?
    /// Tasks in whose changelogs a transaction is pending.
    var heldBack: Set<Int32> = [] { didSet { wereHeldBack.formUnion(heldBack) } }
    private var wereHeldBack: Set<Int32> = []
    /// Where such a changelog ends.
    var heldBackEnd: Int64 = 5
    private(set) var isPaused = false
    private var isAssigned = false
    /// The changelogs that are being read, and where that began.
    private(set) var read: [Int32: Int64] = [:]
    var now: Milliseconds = 1_000_000
    var wallClock: Milliseconds { now }
    var steadyClock: Milliseconds { now }

    func elapse(_ time: Milliseconds) { now += time }

    private func note(_ call: String) throws(IOFailure) {
      calls.append(call)
      now += takes[call] ?? 0
      if let failure = fails?(call) { throw failure }
    }

    func poll(timeout: Milliseconds, maxRecords: Int, maxBytes: Int) throws(IOFailure) -> PollResult {
      try note("poll")
      if !polls.isEmpty { return polls.removeFirst() }
      if isAssigned, !isPaused, let source { return PollResult(records: source(maxRecords)) }
      now += timeout
      return PollResult()
    }
    func assign(_ starts: [InputPosition]) throws(IOFailure) {
      try note("assign")
      isAssigned = !starts.isEmpty
      isPaused = false
    }
    func setPaused(_ paused: Bool) throws(IOFailure) {
      try note("setPaused")
      isPaused = paused
    }
    func idle(atMost timeout: Milliseconds) {
      calls.append("idle")
      now += max(timeout, 1)
      guard let waits = waitsUntilOutcome else { return }
      waitsUntilOutcome = waits - 1
      if waits == 1 { isOnTheWire = false }
    }
    func committedOffsets(of tasks: [Int32]) throws(IOFailure) -> [CommittedInput] {
      calls.append("committedOffsets")
      return []
    }
    /// Where every input ends.
    var inputEnd: Int64 = .max
    func inputEnds(of topic: Topic, task: Int32) throws(IOFailure) -> LogEnds {
      calls.append("inputEnds")
      return LogEnds(start: 0, high: inputEnd)
    }
    /// The ids of the topics now.
    var topics = TopicIDs()
    func topicIDs() throws(IOFailure) -> TopicIDs { topics }
    /// What former owners have handed over before the tasks were restored.
    var handovers: [InputRecord] = []
    func handovers(in spans: [InputSpan]) throws(IOFailure) -> [InputRecord] {
      handovers.filter { record in
        spans.contains { $0.task == record.partition && $0.topic == record.topic && $0.offsets.contains(record.offset) }
      }
    }
    /// What was handed over.
    private(set) var handedOver: [OutputRecord] = []
    func handOver(_ records: [OutputRecord]) throws(IOFailure) {
      try note("handOver")
      handedOver += records
    }
    func openProducers() throws(IOFailure) { try note("openProducers") }
    func endHanging() throws(IOFailure) { try note("endHanging") }
    func watchTransactions() throws(IOFailure) { try note("watchTransactions") }
    var hasLostBroker = false
    func takeEnded() -> [EndedTransaction] { [] }
    /// Outcomes are held back while this is so, or until somebody has waited so often.
    var isOnTheWire = false
    var waitsUntilOutcome: Int?
    private var outcome: CommitOutcome?
    func begin(_ transaction: SealedTransaction) {
      precondition(outcome == nil, "a transaction is on its way")
      outcome = commit(transaction)
    }
    func takeOutcome() -> CommitOutcome? {
      guard !isOnTheWire else { return nil }
      defer { outcome = nil }
      return outcome
    }
    private func commit(_ transaction: SealedTransaction) -> CommitOutcome {
      calls.append("records")
      for part in transaction.parts {
        calls += part.outputs.map { _ in "produce" }
        outputs += part.outputs
      }
      if interrupt?(.midTransaction) == true { return .notCommitted("mid-transaction") }
      calls.append("offsets")
      if interrupt?(.beforeCommit) == true { return .notCommitted("before-commit") }
      do throws(IOFailure) {
        try note("commit")
      } catch {
        return switch error.kind {
        case .retriable, .offsetRefused, .unstable: .unknown(error.description)
        case .notMember: .notMember(error.description)
        case .fenced: .fenced(error.description)
        case .fatal: .refused(error.description)
        }
      }
      committed += transaction.parts
      return .committed(positions: Dictionary(uniqueKeysWithValues: transaction.parts.map { ($0.task, 4) }))
    }
    private var interrupt: ((FailPoint) -> Bool)?
    func interruptTransactions(_ fails: @escaping @Sendable (FailPoint) -> Bool) { interrupt = fails }
    func changelogEnds(of task: Int32) throws(IOFailure) -> LogEnds {
      calls.append("changelogEnds")
      return LogEnds(start: 0, high: wereHeldBack.contains(task) ? heldBackEnd : position == nil ? 0 : 1)
    }
    func readChangelogs(_ starts: [Int32: Int64]) throws(IOFailure) {
      calls.append("readChangelogs")
      read = starts
    }
    /// The one record of each changelog.
    var position: PositionRecord?
    func pollChangelogs(timeout: Milliseconds) throws(IOFailure) -> [ChangelogItem] {
      calls.append("pollChangelogs")
      if read.keys.contains(where: { heldBack.contains($0) }) { now += timeout }
      if let position, let bytes = try? RecordCoder().encode(position) {
        return read.keys.flatMap { task -> [ChangelogItem] in
          [
            .record(task: task, offset: 0, timestamp: 0, key: PositionRecord.key, bytes: bytes),
            .end(task: task, offset: 1),
          ]
        }
      }
      return read.map { task, start in
        .end(task: task, offset: wereHeldBack.contains(task) && !heldBack.contains(task) ? heldBackEnd : start)
      }
    }
    /// The rows of each store when it is opened.
    var storedRows: [(key: RowKey, bytes: [UInt8]?)] = []
    func openStore(of task: Int32) throws -> ModelStore {
      calls.append("openStore")
      let store = ModelStore()
      try store.apply(storedRows, header: nil)
      return store
    }
  }
#endif
