import NudgeSchema
import ServiceKit

/// A stream thread: it owns a consumer, transactional producers and the stores of its tasks. Each `turn` polls, processes, commits and
/// continues restores. All calls come from one thread.
///
/// `TaskManager` runs the steps, `CommitScheduler` commits them, `EffectRunner` performs their effects, and `TaskRestorer` restores new
/// tasks. This class polls and handles rebalances (`StreamThread+Rebalance`). Decisions are made by values without I/O, which `StreamIO`
/// performs.
///
/// A retriable `IOFailure` ends the turn, and the next one retries. A `StoreFailure`, a `RecordOfLaterRelease` and a `LevelOfLaterRelease`
/// end the thread after the steps before them are committed. Every other error ends the thread at once. A task is lost, without an error,
/// when the group takes it or a changelog shows another owner.
final class StreamThread<S: Stage, IO: StreamIO> {
  typealias Task = StreamTask<S, IO.Store>

  let context: StreamContext<IO>
  var io: IO { context.io }
  let tasks: TaskManager<S, IO>
  let commits: CommitScheduler<S, IO>
  let effects: EffectRunner<S, IO>
  let restorer: TaskRestorer<IO>

  /// Polled records. Those from `nextIndex` on are not processed yet.
  private var polledRecords: [InputRecord] = []
  private var nextIndex = 0
  /// Tasks whose inputs must be assigned again because a rebuild has finished one input. Records fetched for them before that are skipped.
  var awaitingAssignment: Set<Int32> = []
  /// Since when the group waits for this thread's answer to the loss of its tasks, by the steady clock. The effects are handed over first.
  /// Absent if the group does not wait.
  var lossSince: Milliseconds?
  /// When the inputs are assigned again because a broker has refused an offset, by the steady clock. Absent while none has.
  private var readsAgainAt: Milliseconds?
  /// Whether the inputs are paused.
  private var isPaused = false
  private var exit: StreamExit?
  /// Whether `commitBeforeEnd` has begun. It runs at most once.
  private var isEnding = false

  /// How long a commit may be in flight before it counts as slow, in milliseconds. During a slow commit the inputs are paused once the next
  /// transaction is full.
  private static var commitPatience: Milliseconds { 500 }

  init(
    _ stage: S, io: IO, topics: TopicNames, partitionCounts: [Topic: Int32], limits: StreamLimits, writer: String,
    performer: (any EffectPerformer<S.Effect, S.Reply>)? = nil, outliving: OutlivingEffects<S.Reply>? = nil,
    wake: @escaping @Sendable () -> Void = {}, spans: (any SpanRecorder)? = nil,
    surroundings: StageSurroundings<S> = StageSurroundings(), observe: @escaping (StreamEvent) -> Void
  ) {
    context = StreamContext(
      io: io, topics: topics, partitionCounts: partitionCounts, limits: limits, writer: writer, spans: spans,
      observe: observe)
    tasks = TaskManager(stage, context, surroundings)
    restorer = TaskRestorer(context, of: S.definition)
    commits = CommitScheduler(context, tasks, restorer)
    effects = EffectRunner(
      context, tasks, performer: performer,
      outliving: outliving ?? OutlivingEffects(limit: limits.maxOutlivingEffects, retention: limits.replyRetention),
      wake: wake)
  }

  /// The numbers of the running tasks, in order.
  var runningTasks: [Int32] { tasks.numbers }

  /// A running task, for tests and simulation.
  func task(_ number: Int32) -> Task? { tasks[number] }

  // MARK: The loop

  /// Runs one turn of the loop.
  /// - Returns: Why the thread ended, after which its tasks are closed. Absent if `turn` must be called again.
  func turn() -> StreamExit? {
    guard exit == nil else { return exit }
    do {
      try work()
    } catch let failure as IOFailure where failure.isRetriable {
      if failure.kind == .offsetRefused {
        context.observe(.offsetRefused(reason: failure.description))
        readsAgainAt = io.steadyClock + context.limits.refusalPause
      } else {
        context.observe(.retrying(reason: failure.description))
      }
      io.idle(atMost: context.limits.maxPollWait)
    } catch {
      end(by: error)
    }
    return exit
  }

  private func work() throws {
    commits.reportTrouble()
    tasks.refreshPolicy()
    try handOver()
    // Opening producers fences a former holder of the transactional id while the group is being joined.
    if tasks.isEmpty, !restorer.isRestoring, commits.needsProducer { try commits.openProducer() }
    pauseOrResume()
    try readAgain()
    let result = try poll()
    do {
      try processAndCommit()
    } catch let failure as IOFailure where failure.isRetriable && result.change != nil {
      // This rebalance is reported only once, so it is answered whatever else fails.
      context.observe(.retrying(reason: failure.description))
    }
    if let change = result.change { try take(change) }
    if !awaitingAssignment.isEmpty { try assignRunning() }
    try advanceRestore()
    try tasks.flushStores()
    try tasks.loadTimers()
    tasks.showStatistics()
  }

  private func poll() throws -> PollResult {
    let intake = intake
    // Only the outcome of the transaction in flight is awaited.
    if intake == .closed(.transactionFull(endsSoon: true)) {
      io.idle(atMost: Self.commitPatience)
      try commits.takeOutcome()
      if !commits.isCommitting { return PollResult() }
    }
    let room = intake.room - (polledRecords.count - nextIndex)
    let result = try io.poll(
      timeout: pollWait(intake), maxRecords: max(room, 1), maxBytes: context.limits.maxBatchBytes)
    if polledRecords.isEmpty { polledRecords = result.records } else { polledRecords += result.records }
    return result
  }

  /// Reads on where a broker has refused an offset, by the leaders of now. A topic that was made again has other records there.
  private func readAgain() throws {
    // An assignment answers a loss, which waits until the effects are handed over.
    guard let time = readsAgainAt, io.steadyClock >= time, lossSince == nil else { return }
    let topicIDs = try io.topicIDs()
    for task in tasks.ordered {
      guard let complaint = task.topicIDs.complaint(about: topicIDs, context.topics) else { continue }
      throw IOFailure(kind: .fatal, operation: "read", reason: complaint)
    }
    try assignRunning()
    restorer.interrupted()
  }

  /// Processes polled records, replies, wake-ups and timers, and commits them if that is due.
  private func processAndCommit() throws {
    try commits.takeOutcome()
    try process()
    if !intake.isClosed {
      try effects.takeReplies()
      try effects.catchUp()
      try tasks.wake()
      try tasks.fireTimers { !intake.isClosed }
    }
    try release(commits.commitIfDue(isFull: intake.isClosed))
    performEffects()
  }

  /// Performs effects, unless the commit in flight has taken too long.
  private func performEffects() {
    if !commits.isSlow(context.limits.maxEffectLead) { effects.perform(commits.proof) }
  }

  /// The work that may be taken now. It changes with each piece of work taken.
  var intake: Intake {
    Intake(
      tasks.pending, commitFailed: commits.hasFailed,
      outcomeIsNear: commits.isCommitting && !commits.isSlow(Self.commitPatience), effects: effects.count,
      stageHolds: tasks.stage.holdsInput, isPaused: isPaused, context.limits)
  }

  private func pollWait(_ intake: Intake) -> Milliseconds {
    if restorer.isRestoring || (intake.takesRecords && nextIndex < polledRecords.count) { return 0 }
    var wait = context.limits.maxPollWait
    let steady = io.steadyClock
    if let next = commits.nextAttempt(steadyNow: steady) { wait = min(wait, next - steady) }
    // Timers and wake-ups wait while the transaction is full.
    if !intake.isClosed, let due = tasks.nextDueIn { wait = min(wait, due) }
    return max(wait, 0)
  }

  /// Pauses the inputs while their records could not be processed.
  private func pauseOrResume() {
    let pause = intake.pausesInputs
    guard pause != isPaused, !tasks.isEmpty else { return }
    do throws(IOFailure) {
      try io.setPaused(pause)
      isPaused = pause
    } catch {
      // The next turn tries again.
      context.observe(.retrying(reason: error.description))
    }
  }

  // MARK: Records

  private func process() throws {
    guard nextIndex < polledRecords.count else { return }
    var now = io.wallClock
    var processed = 0
    var last: InputRecord?
    var current: Task?
    // A backlog waits in Kafka and not in memory.
    while nextIndex < polledRecords.count, intake.takesRecords {
      if effects.isEnabled, processed > 0, processed % context.limits.replyStride == 0 {
        try effects.takeReplies()
        performEffects()
        // The time is read again, because a later step must not have an earlier time than the replies.
        now = io.wallClock
      }
      let record = polledRecords[nextIndex]
      nextIndex += 1
      // Records of a partition are contiguous.
      if current?.number != record.partition { current = tasks[record.partition] }
      guard let task = current else { continue }
      if let next = task.next[record.topic], record.offset < next { continue }
      if awaitingAssignment.contains(task.number) || !task.consumes(record.topic) { continue }
      let isFinished = try tasks.process(
        record, task, wallNow: now, handedOver: effects.isHandover(record) ? effects.take(handedOver:of:) : nil)
      if isFinished { awaitingAssignment.insert(task.number) }
      processed += 1
      last = record
      if intake.isClosed {
        // The commit may release tasks. If nothing can be sealed now, polled records wait.
        current = nil
        try commits.takeOutcome()
        try release(commits.commitIfDue(isFull: true))
      }
    }
    if nextIndex == polledRecords.count { dropPolled() }
    if let last { context.observe(.processed(records: processed, age: max(0, now - last.timestamp))) }
  }

  /// Drops the polled records.
  func dropPolled() {
    polledRecords.removeAll(keepingCapacity: true)
    nextIndex = 0
  }

  /// Assigns these inputs. Records polled before are fetched again, from the assigned offsets.
  func assign(_ starts: [InputPosition]) throws {
    dropPolled()
    try io.assign(starts)
    awaitingAssignment = []
    readsAgainAt = nil
    isPaused = false
  }

  // MARK: Restore

  private func advanceRestore() throws {
    guard let done = try restorer.advance() else {
      if let what = restorer.takeSuspicion() { try commits.checkForHangingTransactions(what) }
      return
    }
    for it in done {
      try tasks.start(it.task, it.restored, inputs: it.inputs, topicIDs: it.topicIDs, took: it.took)
      // A record that cannot be read becomes a dead letter when it is processed.
      if let task = tasks[it.task] {
        for record in it.handovers { _ = try? effects.take(handedOver: record, of: task) }
      }
    }
    try assignRunning()
  }

  // MARK: End

  /// Drains and ends the thread: waits for replies, commits and writes the stores.
  /// - Parameter since: When the stop was requested, by the steady clock. The time for draining starts there.
  func stop(since: Milliseconds? = nil) -> StreamExit {
    if let exit { return exit }
    restorer.abandon()
    lossSince = nil
    do {
      try settle(until: (since ?? io.steadyClock) + context.limits.stopDrain)
      end(.stopped)
    } catch {
      end(by: error)
    }
    return exit ?? .stopped
  }

  private func end(by error: any Error) {
    if error is StoreFailure || error is RecordOfLaterRelease || error is LevelOfLaterRelease { commitBeforeEnd() }
    switch error {
    case let exit as StreamExit: end(exit)
    case let failure as StoreFailure: end(.failed(failure.description))
    case let failure as IOFailure: end(failure.kind == .fenced ? .fenced : .failed(failure.description))
    default: end(.failed("\(error)"))
    }
  }

  /// Commits the steps before the one that failed. Otherwise each restart would process them again up to the same failure, and repeat their
  /// effects each time.
  private func commitBeforeEnd() {
    guard !isEnding else { return }
    isEnding = true
    do {
      try settle(until: io.steadyClock + context.limits.stopDrain)
    } catch {
      // Uncommitted work is processed again after the restart.
      context.observe(.retrying(reason: "\(error)"))
    }
  }

  private func end(_ reason: StreamExit) {
    guard exit == nil else { return }
    exit = reason
    restorer.abandon()
    close(tasks.numbers, lost: reason != .stopped)
    if reason != .stopped { handOverBeforeEnd() }
  }

  /// Hands over the effects before the process ends, because its knowledge of them ends with it.
  private func handOverBeforeEnd() {
    guard effects.isEnabled else { return }
    let deadline = io.steadyClock + context.limits.endHandover
    do {
      while try !effects.handOver(), io.steadyClock < deadline { io.idle(atMost: context.limits.maxPollWait) }
    } catch {
      context.observe(.retrying(reason: "\(error)"))
    }
  }
}

/// The work that a stream thread may take into its open transaction. Every bound on that work is here: polling, pausing, processing,
/// waiting and committing follow from it.
enum Intake: Equatable {
  /// No work.
  case closed(Reason)
  /// Replies, wake-ups and timers. Records wait.
  case repliesOnly
  /// All work.
  /// - room: How many polled records may wait. At 0 the inputs are paused, and records that were polled before are processed.
  case open(room: Int)

  /// Why no work may be taken.
  enum Reason: Equatable {
    /// A commit failed, perhaps with an unknown outcome. No work is added until its content is committed.
    case commitFailed
    /// The open work fills a transaction.
    /// - endsSoon: Whether the transaction before it is about to end. A pause would then drop fetched records for nothing.
    case transactionFull(endsSoon: Bool)
  }

  /// - Parameters:
  ///   - work: The open transaction's size.
  ///   - outcomeIsNear: Whether another transaction is in flight that has not taken long. It reads the clock, so it is only called if
  ///     needed.
  ///   - effects: The number of effects that wait or are in flight.
  ///   - stageHolds: Whether the stage's own bound is reached.
  ///   - isPaused: Whether the inputs are paused.
  init(
    _ work: PendingWork, commitFailed: Bool, outcomeIsNear: @autoclosure () -> Bool, effects: Int, stageHolds: Bool,
    isPaused: Bool, _ limits: StreamLimits
  ) {
    let holdsRecords = stageHolds || effects > limits.maxEffects
    if commitFailed {
      self = .closed(.commitFailed)
    } else if work.isFull(limits) {
      self = .closed(.transactionFull(endsSoon: !isPaused && !holdsRecords && outcomeIsNear()))
    } else if holdsRecords {
      self = .repliesOnly
    } else {
      // Each pause drops fetched records, so inputs that effects have paused stay paused until half of the effects are done.
      self = .open(room: isPaused && effects > limits.maxEffects / 2 ? 0 : limits.maxBatchRecords)
    }
  }

  var isClosed: Bool { if case .closed = self { true } else { false } }

  /// Whether records may be processed.
  var takesRecords: Bool { if case .open = self { true } else { false } }

  /// How many polled records may wait.
  var room: Int { if case .open(let room) = self { room } else { 0 } }

  /// Whether the inputs are paused, because their records could not be processed.
  var pausesInputs: Bool { self != .closed(.transactionFull(endsSoon: true)) && room == 0 }
}
