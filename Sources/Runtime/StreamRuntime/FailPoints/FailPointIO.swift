#if DEBUG
  import NudgeSchema

  /// Wraps a stream thread's I/O, and dies, stalls or fails at fail-points.
  final class FailPointIO<Base: StreamIO>: StreamIO {
    typealias Store = FailPointStore<Base.Store>

    private let base: Base
    private let points: FailPoints
    /// The outcome of a transaction that a fail-point stopped.
    private var outcome: CommitOutcome?
    init(_ base: Base, _ points: FailPoints) {
      self.base = base
      self.points = points
      // These fail-points are between the requests of a commit.
      base.interruptTransactions { points.reach($0) }
    }

    private func pass(_ point: FailPoint) throws(IOFailure) {
      guard points.reach(point) else { return }
      throw IOFailure(kind: .retriable, operation: "fail-point", reason: point.rawValue)
    }

    // MARK: Clocks

    var wallClock: Milliseconds { base.wallClock }
    var steadyClock: Milliseconds { base.steadyClock }

    // MARK: Group and input

    func poll(timeout: Milliseconds, maxRecords: Int, maxBytes: Int) throws(IOFailure) -> PollResult {
      try base.poll(timeout: timeout, maxRecords: maxRecords, maxBytes: maxBytes)
    }

    func assign(_ starts: [InputPosition]) throws(IOFailure) { try base.assign(starts) }

    func setPaused(_ paused: Bool) throws(IOFailure) { try base.setPaused(paused) }

    func idle(atMost timeout: Milliseconds) { base.idle(atMost: timeout) }

    func committedOffsets(of tasks: [Int32]) throws(IOFailure) -> [CommittedInput] {
      try base.committedOffsets(of: tasks)
    }

    func inputEnds(of topic: Topic, task: Int32) throws(IOFailure) -> LogEnds {
      try base.inputEnds(of: topic, task: task)
    }

    func topicIDs() throws(IOFailure) -> TopicIDs { try base.topicIDs() }

    func handovers(in spans: [InputSpan]) throws(IOFailure) -> [InputRecord] { try base.handovers(in: spans) }

    func handOver(_ records: [OutputRecord]) throws(IOFailure) { try base.handOver(records) }

    // MARK: Transactions

    func openProducers() throws(IOFailure) {
      try pass(.producerOpen)
      try base.openProducers()
    }

    func endHanging() throws(IOFailure) { try base.endHanging() }
    var hasLostBroker: Bool { base.hasLostBroker }
    func watchTransactions() throws(IOFailure) { try base.watchTransactions() }
    func takeEnded() -> [EndedTransaction] { base.takeEnded() }

    func begin(_ transaction: SealedTransaction) {
      if points.reach(.beforeTransaction) {
        outcome = .notCommitted("fail-point before-transaction")
      } else if points.takeAnswers(), points.reach(.effectSent) {
        outcome = .notCommitted("fail-point effect-sent")
      } else {
        base.begin(transaction)
      }
    }

    func takeOutcome() -> CommitOutcome? {
      if let outcome {
        self.outcome = nil
        return outcome
      }
      guard let outcome = base.takeOutcome() else { return nil }
      if case .committed = outcome, points.reach(.commitSent) { return .unknown("fail-point commit-sent") }
      return outcome
    }

    func interruptTransactions(_ fails: @escaping @Sendable (FailPoint) -> Bool) { base.interruptTransactions(fails) }

    // MARK: Changelog and store

    func changelogEnds(of task: Int32) throws(IOFailure) -> LogEnds { try base.changelogEnds(of: task) }

    func readChangelogs(_ starts: [Int32: Int64]) throws(IOFailure) {
      // An empty list ends the reading.
      if !starts.isEmpty { try pass(.restoreRead) }
      try base.readChangelogs(starts)
    }

    func pollChangelogs(timeout: Milliseconds) throws(IOFailure) -> [ChangelogItem] {
      try base.pollChangelogs(timeout: timeout)
    }

    func openStore(of task: Int32) throws -> Store {
      if points.reach(.storeOpen) {
        throw StoreFailure(operation: "open", reason: "fail-point \(FailPoint.storeOpen.rawValue)")
      }
      return FailPointStore(try base.openStore(of: task), points)
    }
  }
#endif
