#if DEBUG
  import KafkaTransactions
  import NudgeSchema

  /// A stream thread's I/O that dies, stalls or fails where it is told to, and else is the one it stands around.
  final class FailPointIO<Base: StreamIO>: StreamIO {
    typealias Store = FailPointStore<Base.Store>

    private let base: Base
    private let points: FailPoints
    /// The places within a transaction are between the requests of its commit, not between calls.
    private var isInterruptible = false

    init(_ base: Base, _ points: FailPoints) {
      self.base = base
      self.points = points
      guard let kafka = base as? KafkaStreamIO else { return }
      isInterruptible = kafka.interruptTransactions { step in
        let point: FailPoint = step == .recordsWritten ? .midTransaction : .beforeCommit
        return points.reach(point) ? "fail-point \(point.rawValue)" : nil
      }
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

    func logStart(of topic: Topic, task: Int32) throws(IOFailure) -> Int64 {
      try base.logStart(of: topic, task: task)
    }

    // MARK: Transactions

    func openProducers() throws(IOFailure) {
      try pass(.producerOpen)
      try base.openProducers()
    }

    func endHanging() throws(IOFailure) { try base.endHanging() }
    var hasLostBroker: Bool { base.hasLostBroker }
    func watchTransactions() throws(IOFailure) { try base.watchTransactions() }
    func takeEnded() -> [EndedTransaction] { base.takeEnded() }

    func begin() throws(IOFailure) {
      try pass(.beforeTransaction)
      if points.takeAnswers() { try pass(.effectSent) }
      try base.begin()
    }

    func produce(_ output: OutputRecord) throws(IOFailure) { try base.produce(output) }

    func produce(change key: RowKey, bytes: [UInt8]?, task: Int32, tag: TransactionTag) throws(IOFailure) {
      try base.produce(change: key, bytes: bytes, task: task, tag: tag)
    }

    func produce(position bytes: [UInt8], task: Int32) throws(IOFailure) {
      try base.produce(position: bytes, task: task)
    }

    func flush() throws(IOFailure) { try base.flush() }

    func sendOffsets(_ offsets: [CommittedInput]) throws(IOFailure) {
      if !isInterruptible { try pass(.midTransaction) }
      try base.sendOffsets(offsets)
    }

    func commit() throws(IOFailure) {
      if !isInterruptible { try pass(.beforeCommit) }
      try base.commit()
      try pass(.commitSent)
    }

    var refusesLateCopies: Bool { base.refusesLateCopies }

    func positionOffset(of task: Int32) -> Int64? { base.positionOffset(of: task) }

    // MARK: Changelog and store

    func changelogEnds(of task: Int32) throws(IOFailure) -> ChangelogEnds { try base.changelogEnds(of: task) }

    func changelogHigh(of task: Int32) throws(IOFailure) -> Int64 { try base.changelogHigh(of: task) }

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
