import NudgeSchema

/// Commits the work of a stream thread's tasks: seals it into a transaction, gives that to Kafka, takes the outcome, and retries after a
/// failure. One transaction is in flight at a time. Meanwhile the tasks work on the next one.
///
/// `CommitStateMachine` decides; this class performs the I/O.
///
/// Its methods throw `StreamExit` and `StoreFailure`, which end the thread, and `IOFailure`, which the caller retries in a later turn if it
/// `isRetriable`.
final class CommitScheduler<S: Stage, IO: StreamIO> {
  private let context: StreamContext<IO>
  private var io: IO { context.io }
  private let tasks: TaskManager<S, IO>
  private let positions: PositionReader<IO>
  private let hanging: HangingWatch<IO>
  private let hasEffects = S.Effect.self != Never.self

  private var transactions = CommitStateMachine()
  private var pacing: CommitPacing
  private var current = Commit.none
  /// The proof that this thread owns its tasks.
  private(set) var proof: OwnershipProof
  /// Why nothing is committed: the time of the first failure since the last commit, the reason of the latest, and when it was last reported.
  /// Times are of the steady clock.
  private var trouble: (since: Milliseconds, reason: String, reportedAt: Milliseconds)?
  /// Whether the last commit was refused because this thread is not a member of the group.
  private(set) var isOutOfGroup = false
  /// When the connection to the broker was last checked, by the steady clock, and the interval in milliseconds.
  private var connectionSeenAt: Milliseconds = 0
  private static var connectionInterval: Milliseconds { 1000 }

  init(_ context: StreamContext<IO>, _ tasks: TaskManager<S, IO>, _ restorer: TaskRestorer<IO>) {
    self.context = context
    self.tasks = tasks
    hanging = HangingWatch(context)
    positions = PositionReader(context, hanging, restorer)
    proof = OwnershipProof(sessionTimeout: context.limits.sessionTimeout)
    pacing = CommitPacing(context.limits)
  }

  // MARK: State for the thread

  /// Whether a transaction is in flight.
  var isCommitting: Bool { if case .inFlight = current { true } else { false } }

  /// Whether the transaction in flight has taken at least this many milliseconds.
  func isSlow(_ patience: Milliseconds) -> Bool {
    if case .inFlight(_, let since) = current { io.steadyClock - since >= patience } else { false }
  }

  /// Whether the last commit failed, perhaps with an unknown outcome.
  var hasFailed: Bool { if case .failed = current { true } else { false } }

  /// Whether all work is committed.
  var isSettled: Bool { if case .none = current { !tasks.isDirty } else { false } }

  /// Whether producers must be opened before anything else.
  var needsProducer: Bool {
    transactions.state == .noProducer || transactions.state == .uncertain(producerReplaced: false)
  }

  /// Whether no producer was opened yet.
  var needsFirstProducer: Bool { transactions.state == .noProducer }

  /// When `commitIfDue` may have work, by the steady clock. Absent if only an outcome or new work makes it due.
  func nextAttempt(steadyNow: Milliseconds) -> Milliseconds? {
    if isCommitting { return nil }
    switch transactions.next(steadyNow: steadyNow) {
    // With nothing to wait for, the loop would spin until the next attempt.
    case .wait(let until): return isSettled ? nil : until
    case .begin, .openProducer, .checkPositions, .exitFenced:
      if hasFailed { return steadyNow }
      return tasks.dirtySince.map { hasEffects ? $0 + context.limits.replyLinger : max($0, pacing.notBefore) }
    }
  }

  // MARK: Calls of every turn

  /// Takes the outcome of the transaction in flight, if it is known, and checks for a lost broker and for hanging transactions.
  func takeOutcome() throws {
    if isCommitting, let outcome = io.takeOutcome() { try take(outcome) }
    guard !isCommitting else { return }
    // An idle thread checks too: its last transaction may lack a marker.
    let steady = io.steadyClock
    if steady - connectionSeenAt >= Self.connectionInterval {
      connectionSeenAt = steady
      if io.hasLostBroker { transactions.producerLost() }
    }
    if case .ready = transactions.state { try hanging.watch() }
  }

  /// Waits for the outcome of the transaction in flight. The transaction's own time-outs bound the wait.
  func awaitOutcome() throws {
    while isCommitting {
      try takeOutcome()
      if isCommitting { io.idle(atMost: context.limits.maxPollWait) }
    }
  }

  /// Commits if a commit is due.
  /// - Parameter isFull: Whether the open work must not grow further.
  /// - Returns: The tasks that another thread owns now. Release them.
  func commitIfDue(isFull: Bool) throws -> [Int32] { isDue(isFull: isFull) ? try commit() : [] }

  private func isDue(isFull: Bool) -> Bool {
    guard !tasks.isEmpty, !isCommitting else { return false }
    if transactions.isCheckDue || hasFailed { return true }
    let steady = io.steadyClock
    if tasks.isDirty {
      // A stage with effects gathers replies before it commits.
      guard hasEffects, let dirtySince = tasks.dirtySince else {
        return isFull || pacing.isDue(tasks.pending, at: steady)
      }
      return steady - dirtySince >= context.limits.replyLinger || isFull || !proof.holds(at: steady)
    }
    guard hasEffects else { return false }
    return proof.age(at: steady).map { $0 >= context.limits.proofInterval } ?? true
  }

  /// Takes the next step towards a commit. A stage with effects also commits offsets alone, to prove that it owns its tasks.
  /// - Returns: The tasks that another thread owns now. Release them, and assign the others again.
  func commit() throws -> [Int32] {
    if isCommitting { return [] }
    switch transactions.next(steadyNow: io.steadyClock) {
    case .wait: return []
    case .exitFenced: throw StreamExit.fenced
    case .openProducer:
      try openProducer()
      return []
    case .checkPositions: return try checkPositions()
    case .begin: break
    }
    guard let content = try contentToCommit() else {
      settled()
      return []
    }
    current = .inFlight(content, since: io.steadyClock)
    io.begin(content.transaction)
    return []
  }

  /// The content that failed, or else the open work, sealed. Absent if there is none.
  private func contentToCommit() throws -> Commit.Content? {
    if case .failed(let content) = current { return content }
    let work = tasks.pending
    return try tasks.seal(provesOwnership: hasEffects).map { Commit.Content(transaction: $0, work: work) }
  }

  // MARK: Outcomes

  private func take(_ outcome: CommitOutcome) throws {
    guard case .inFlight(let content, let sentAt) = current else { return }
    guard case .committed(let offsets) = outcome else {
      current = .failed(content)
      return try notCommitted(outcome, since: sentAt)
    }
    let (transaction, end) = (content.transaction, io.steadyClock)
    current = .none
    transactions.committed()
    proof.proven(at: sentAt)
    isOutOfGroup = false
    var records = 0
    for part in transaction.parts {
      records += tasks[part.task]?.sealed?.records ?? 0
      tasks.committed(part.task, at: offsets[part.task])
    }
    pacing.committed(content.work, took: end - sentAt, at: end)
    settled()
    context.observe(
      .committed(
        records: records, outputs: transaction.parts.reduce(0) { $0 + $1.outputs.count },
        rows: transaction.parts.reduce(0) { $0 + $1.changes.count }, milliseconds: end - sentAt))
  }

  /// Handles a failed commit. The same content is committed later, unless the changelogs show that it was committed.
  private func notCommitted(_ outcome: CommitOutcome, since sentAt: Milliseconds) throws {
    isOutOfGroup = false
    switch outcome {
    case .committed: return
    case .notCommitted(let reason), .unknown(let reason): retryLater(reason, since: sentAt)
    case .notMember(let reason):
      isOutOfGroup = true
      // Another thread may already own the tasks. This thread learns of that by polling.
      proof.forget()
      retryLater(reason, since: sentAt)
    case .fenced(let reason):
      recordTrouble(reason, since: sentAt)
      transactions.failed(isFenced: true)
      throw StreamExit.fenced
    case .refused(let reason):
      recordTrouble(reason, since: sentAt)
      transactions.failed(isFenced: false)
      throw StreamExit.failed(reason)
    }
  }

  private func retryLater(_ reason: String, since sentAt: Milliseconds) {
    recordTrouble(reason, since: sentAt)
    transactions.failed(isFenced: false)
    context.observe(.transactionFailed(reason: reason))
  }

  /// Ends the current commit: no content is left to commit.
  private func settled() {
    if let trouble, trouble.reportedAt > 0, case .ready = transactions.state { context.observe(.canCommit) }
    trouble = nil
  }

  // MARK: Recovery

  /// Opens producers with new epochs. A retriable failure is recorded and retried later.
  func openProducer() throws {
    do throws(IOFailure) {
      try io.openProducers()
      hanging.reportEnded()
      transactions.producerOpened()
    } catch {
      transactions.producerFailed(error, steadyNow: io.steadyClock)
      if !tasks.isEmpty { recordTrouble(error.description, since: io.steadyClock) }
      switch error.kind {
      case .fenced: throw StreamExit.fenced
      case .fatal: throw StreamExit.failed(error.description)
      case .retriable, .offsetRefused, .unstable, .notMember: context.observe(.retrying(reason: error.description))
      }
    }
  }

  /// Looks up in the changelogs what was committed.
  ///
  /// Opening new producers has ended the transaction of unknown outcome: it is committed or aborted by the time the last stable offset passes
  /// the current high watermark. So its position records are readable by then, or they never will be.
  /// - Returns: The tasks that another thread owns now.
  private func checkPositions() throws -> [Int32] {
    let group = tasks.ordered
    let found: [Int32: PositionReader<IO>.Found]
    do {
      found = try positions.read(
        Dictionary(uniqueKeysWithValues: group.map { ($0.number, $0.changelogOffset) }), reportTrouble: reportTrouble)
    } catch let failure as IOFailure where failure.isRetriable {
      recordTrouble(failure.description, since: io.steadyClock)
      throw failure
    }
    var lost: [Int32] = []
    for task in group {
      guard let (position, offset) = found[task.number], position.sequence > task.position.sequence else {
        if task.sealed != nil { context.observe(.outcomeKnown(task: task.number, committed: false)) }
        continue
      }
      guard position == task.sealed?.position else {
        // Another owner has committed in this task. The group will report the loss later.
        lost.append(task.number)
        continue
      }
      context.observe(.outcomeKnown(task: task.number, committed: true))
      tasks.committed(task.number, at: offset)
    }
    transactions.positionsChecked(steadyNow: io.steadyClock)
    dropFinishedParts(lost: lost)
    return lost
  }

  /// Keeps only those parts of the failed transaction that are not committed and whose tasks are still this thread's.
  private func dropFinishedParts(lost: [Int32]) {
    if case .failed(var content) = current {
      content.transaction = content.transaction.keeping { !lost.contains($0) && tasks[$0]?.sealed != nil }
      current = content.transaction.parts.isEmpty ? .none : .failed(content)
    }
    if isSettled { settled() }
  }

  /// Drops the uncommitted work of released tasks, which their next owners do again. Call it only while no transaction is in flight.
  func forget(_ numbers: [Int32]) {
    proof.forget()
    dropFinishedParts(lost: numbers)
  }

  /// Looks for missing markers of transactions that should have ended by now.
  func checkForHangingTransactions(_ what: String) throws {
    guard !isCommitting else { return }
    try hanging.suspect(what)
  }

  // MARK: Failures

  /// Records a failed commit, or a failed step of its recovery.
  private func recordTrouble(_ reason: String, since start: Milliseconds) {
    trouble = (trouble?.since ?? start, reason, trouble?.reportedAt ?? 0)
  }

  /// Reports, once a second, that no commit has succeeded for `commitPatience`.
  func reportTrouble() {
    guard let trouble else { return }
    let steady = io.steadyClock
    guard steady - trouble.since >= context.limits.commitPatience, steady - trouble.reportedAt >= 1000 else { return }
    self.trouble?.reportedAt = steady
    context.observe(.notCommitting(milliseconds: steady - trouble.since, reason: trouble.reason))
  }
}

/// Looks up in the changelogs what was committed.
struct PositionReader<IO: StreamIO> {
  typealias Found = (position: PositionRecord, offset: Int64)

  private let context: StreamContext<IO>
  private let hanging: HangingWatch<IO>
  private let restorer: TaskRestorer<IO>

  init(_ context: StreamContext<IO>, _ hanging: HangingWatch<IO>, _ restorer: TaskRestorer<IO>) {
    self.context = context
    self.hanging = hanging
    self.restorer = restorer
  }

  /// Reads the last position record of each task, from an offset of its changelog.
  ///
  /// It reads until every transaction that has begun before this call has ended.
  /// - Throws: A retriable `IOFailure` after `positionPatience`. `StoreFailure` for a position record that cannot be read.
  func read(_ starts: [Int32: Int64], reportTrouble: () -> Void) throws -> [Int32: Found] {
    let io = context.io
    var found: [Int32: Found] = [:]
    var targets: [Int32: Int64] = [:]
    for task in starts.keys.sorted() { targets[task] = try io.changelogEnds(of: task).high }
    // The restore of other tasks uses the same consumer.
    restorer.interrupted()
    try io.readChangelogs(starts)
    var unread = Set(targets.keys)
    let start = io.steadyClock
    let deadline = start + context.limits.positionPatience
    var hasSuspected = false
    while !unread.isEmpty {
      for item in try io.pollChangelogs(timeout: context.limits.maxPollWait) {
        switch item {
        case .record(let task, let offset, _, let key, let bytes):
          guard key == PositionRecord.key else { continue }
          found[task] = (try PositionRecord(bytes, offset: offset, coder: context.coder), offset)
        case .end(let task, let offset):
          if let target = targets[task], offset >= target { unread.remove(task) }
        }
      }
      reportTrouble()
      if !unread.isEmpty, !hasSuspected, io.steadyClock - start >= context.limits.markerPatience {
        hasSuspected = true
        try hanging.suspect("the changelogs of tasks \(unread.sorted()) after an unknown outcome")
      }
      guard io.steadyClock < deadline else {
        throw IOFailure(
          kind: .retriable, operation: "checking positions",
          reason: "the changelogs of tasks \(unread.sorted()) could not be read to their ends")
      }
    }
    try io.readChangelogs([:])
    return found
  }
}
