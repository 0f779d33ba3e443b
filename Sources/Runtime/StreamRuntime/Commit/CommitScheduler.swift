import NudgeSchema
import ServiceKit

/// When a stream thread commits, and what becomes of it: it seals what the tasks have done, hands it to Kafka, takes the
/// outcome, and brings what was not committed one attempt further. One transaction is on its way at a time; the tasks go on
/// into the next one meanwhile.
///
/// `CommitStateMachine` decides; this class carries it out.
final class CommitScheduler<S: Stage, IO: StreamIO> {
  private let context: StreamContext<IO>
  private var io: IO { context.io }
  private let tasks: TaskManager<S, IO>
  private let positions: PositionReader<IO>
  private let hanging: HangingWatch<IO>
  private let hasEffects = S.Effect.self != Never.self

  private var transactions = CommitStateMachine()
  /// What is to be committed: it is on its way, or was and is to be tried again; nil: nothing.
  private var sealed: SealedTransaction?
  /// When it was sent last, by the steady clock.
  private var sentAt: Milliseconds = 0
  /// That this thread owns its tasks.
  private(set) var proof: OwnershipProof
  /// Since when, by the steady clock, every attempt to commit has failed; why the last one did; and when that was told last.
  private var trouble: (since: Milliseconds, reason: String, toldAt: Milliseconds)?
  /// The last attempt to commit was refused because the group does not know this thread now.
  private(set) var isOutOfGroup = false
  /// When it was last looked whether the broker was away, by the steady clock, and how often that is, in milliseconds.
  private var connectionSeenAt: Milliseconds = 0
  private static var connectionInterval: Milliseconds { 1000 }

  init(_ context: StreamContext<IO>, _ tasks: TaskManager<S, IO>, _ restorer: TaskRestorer<IO>) {
    self.context = context
    self.tasks = tasks
    hanging = HangingWatch(context)
    positions = PositionReader(context, hanging, restorer)
    proof = OwnershipProof(sessionTimeout: context.limits.sessionTimeout)
  }

  // MARK: What the thread asks

  /// A transaction is on its way.
  var isCommitting: Bool { transactions.state == .committing }

  /// One has been for so many milliseconds.
  func isSlow(_ patience: Milliseconds) -> Bool { isCommitting && io.steadyClock - sentAt >= patience }

  /// An attempt to commit has failed, and its outcome may be unknown: until the same content is committed, nothing is added to
  /// what comes after it.
  var isFrozen: Bool { sealed != nil && !isCommitting }

  /// Whether all that was done is committed.
  var isSettled: Bool { sealed == nil && !tasks.isDirty }

  /// A producer is to be opened before anything else.
  var needsProducer: Bool {
    transactions.state == .noProducer || transactions.state == .uncertain(producerReplaced: false)
  }

  /// There was none yet.
  var needsFirstProducer: Bool { transactions.state == .noProducer }

  /// When there may be something to do, by the steady clock, beside taking an outcome; nil: nothing is known.
  func nextAttempt(steadyNow: Milliseconds) -> Milliseconds? {
    switch transactions.next(steadyNow: steadyNow) {
    case .awaitOutcome: return nil
    // What is to be committed does not hurry while no transaction can begin: without this the thread would only turn.
    case .wait(let until): return isSettled ? nil : until
    case .begin, .openProducer, .checkPositions, .exitFenced:
      return sealed == nil ? tasks.dirtySince.map { $0 + context.limits.replyLinger } : steadyNow
    }
  }

  // MARK: In every turn

  /// Takes the outcome of the transaction that is on its way, if it has come, and looks after what may hold one up.
  func takeOutcome() throws {
    if isCommitting, let outcome = io.takeOutcome() { try take(outcome) }
    guard !isCommitting else { return }
    // Also of a thread that has nothing to commit: what it has written may be waiting for a marker.
    let steady = io.steadyClock
    if steady - connectionSeenAt >= Self.connectionInterval {
      connectionSeenAt = steady
      if io.hasLostBroker { transactions.producerLost() }
    }
    if case .ready = transactions.state { try hanging.watch() }
  }

  /// Waits for the outcome of the transaction that is on its way; its own time-outs bound that.
  func awaitOutcome() throws {
    while isCommitting {
      try takeOutcome()
      if isCommitting { io.idle(atMost: context.limits.maxPollWait) }
    }
  }

  /// Commits, if it is due. `isFull`: what is open is not to grow further. Returns tasks that turn out to be another owner's.
  func commitIfDue(isFull: Bool) throws -> [Int32] { isDue(isFull: isFull) ? try commit() : [] }

  private func isDue(isFull: Bool) -> Bool {
    guard !tasks.isEmpty, !isCommitting else { return false }
    if transactions.isCheckDue || sealed != nil { return true }
    let steady = io.steadyClock
    if tasks.isDirty {
      // Replies are gathered for a moment; a stage without effects commits what it has.
      guard hasEffects, let dirtySince = tasks.dirtySince else { return true }
      return steady - dirtySince >= context.limits.replyLinger || isFull || !proof.holds(at: steady)
    }
    guard hasEffects else { return false }
    return proof.age(at: steady).map { $0 >= context.limits.proofInterval } ?? true
  }

  /// Brings what is to be committed one step further. A stage with effects also commits bare offsets, which prove that it owns
  /// its tasks. Returns tasks that turn out to be another owner's: they are to be released, and the rest assigned anew.
  func commit() throws -> [Int32] {
    switch transactions.next(steadyNow: io.steadyClock) {
    case .wait, .awaitOutcome: return []
    case .exitFenced: throw StreamExit.fenced
    case .openProducer:
      try openProducer()
      return []
    case .checkPositions: return try checkPositions()
    case .begin: break
    }
    if sealed == nil { sealed = try tasks.seal(provesOwnership: hasEffects) }
    guard let sealed else {
      settled()
      return []
    }
    sentAt = io.steadyClock
    transactions.began()
    io.begin(sealed)
    return []
  }

  // MARK: Outcomes

  private func take(_ outcome: CommitOutcome) throws {
    guard case .committed(let offsets) = outcome else { return try notCommitted(outcome) }
    guard let transaction = sealed else { return }
    let end = io.steadyClock
    transactions.committed()
    proof.proven(at: sentAt)
    isOutOfGroup = false
    sealed = nil
    var records = 0
    for part in transaction.parts {
      records += tasks[part.task]?.sealed?.records ?? 0
      tasks.committed(part.task, at: offsets[part.task])
    }
    settled()
    context.observe(
      .committed(
        records: records, outputs: transaction.parts.reduce(0) { $0 + $1.outputs.count },
        rows: transaction.parts.reduce(0) { $0 + $1.changes.count }, milliseconds: end - sentAt))
  }

  /// An attempt to commit has failed: the same content is committed later, where it turns out not to be.
  private func notCommitted(_ outcome: CommitOutcome) throws {
    isOutOfGroup = false
    switch outcome {
    case .committed: return
    case .notCommitted(let reason), .unknown(let reason): retryLater(reason)
    case .notMember(let reason):
      isOutOfGroup = true
      // Its tasks may have another owner already, which is told to nobody who does not poll.
      proof.forget()
      retryLater(reason)
    case .fenced(let reason):
      noteTrouble(reason, since: sentAt)
      transactions.failed(isFenced: true)
      throw StreamExit.fenced
    case .refused(let reason):
      noteTrouble(reason, since: sentAt)
      transactions.failed(isFenced: false)
      throw StreamExit.failed(reason)
    }
  }

  private func retryLater(_ reason: String) {
    noteTrouble(reason, since: sentAt)
    transactions.failed(isFenced: false)
    context.observe(.transactionFailed(reason: reason))
  }

  /// Nothing that was tried to be committed is left.
  private func settled() {
    if let trouble, trouble.toldAt > 0, case .ready = transactions.state { context.observe(.canCommit) }
    trouble = nil
  }

  // MARK: Recovery

  /// Opens producers with new epochs. A failure that passes is noted, and tried again later.
  func openProducer() throws {
    do throws(IOFailure) {
      try io.openProducers()
      hanging.tellEnded()
      transactions.producerOpened()
    } catch {
      transactions.producerFailed(error, steadyNow: io.steadyClock)
      if !tasks.isEmpty { noteTrouble(error.description, since: io.steadyClock) }
      switch error.kind {
      case .fenced: throw StreamExit.fenced
      case .fatal: throw StreamExit.failed(error.description)
      case .retriable, .unstable, .notMember: context.observe(.retrying(reason: error.description))
      }
    }
  }

  /// After an unknown outcome, with a new producer: everything the old one wrote is committed or aborted now, or will be
  /// before the last stable offset passes the high watermark. The changelogs tell which. Returns tasks that are another owner's.
  private func checkPositions() throws -> [Int32] {
    let group = tasks.ordered
    let found: [Int32: PositionReader<IO>.Found]
    do {
      found = try positions.read(
        Dictionary(uniqueKeysWithValues: group.map { ($0.number, $0.changelogOffset) }), tellTrouble: tellTrouble)
    } catch let failure as IOFailure where failure.isRetriable {
      noteTrouble(failure.description, since: io.steadyClock)
      throw failure
    }
    var lost: [Int32] = []
    for task in group {
      guard let (position, offset) = found[task.number], position.sequence > task.position.sequence else {
        if task.sealed != nil { context.observe(.outcomeKnown(task: task.number, committed: false)) }
        continue
      }
      guard position == task.sealed?.position else {
        // Another owner has committed in this task: the group will say so; until then nothing of ours counts.
        lost.append(task.number)
        continue
      }
      context.observe(.outcomeKnown(task: task.number, committed: true))
      tasks.committed(task.number, at: offset)
    }
    transactions.positionsChecked(steadyNow: io.steadyClock)
    dropWhatIsDone(lost: lost)
    return lost
  }

  /// Leaves in the sealed transaction what waits for its commit still.
  private func dropWhatIsDone(lost: [Int32]) {
    sealed = sealed?.keeping { number in !lost.contains(number) && tasks[number]?.sealed != nil }
    if sealed?.parts.isEmpty ?? true { sealed = nil }
    if isSettled { settled() }
  }

  /// Tasks were released: what of them is not committed is another owner's to do. Not while a transaction is on its way.
  func forget(_ numbers: [Int32]) {
    proof.forget()
    dropWhatIsDone(lost: numbers)
  }

  /// Pending transactions should have ended by now: looks whether their markers were left out.
  func suspectHanging(_ what: String) throws {
    guard !isCommitting else { return }
    try hanging.suspect(what)
  }

  // MARK: Trouble

  /// An attempt to commit has failed, or what comes before the next one.
  private func noteTrouble(_ reason: String, since start: Milliseconds) {
    trouble = (trouble?.since ?? start, reason, trouble?.toldAt ?? 0)
  }

  /// Says so, once a second, while nothing could be committed for longer than some seconds.
  func tellTrouble() {
    guard let trouble else { return }
    let steady = io.steadyClock
    guard steady - trouble.since >= context.limits.commitPatience, steady - trouble.toldAt >= 1000 else { return }
    self.trouble?.toldAt = steady
    context.observe(.notCommitting(milliseconds: steady - trouble.since, reason: trouble.reason))
  }
}
