import NudgeSchema
import ServiceKit

/// One stream thread: it owns a consumer, a transactional producer and the stores of its tasks, and goes round and round
/// in `turn`: poll, process, commit, restore what is new. All calls come from one thread.
///
/// The pieces have one job each: `TaskManager` makes the steps, `CommitScheduler` commits what they did, `EffectRunner` does what
/// they ask for outside, `TaskRestorer` makes tasks ready. This class polls, and goes along with the group
/// (`StreamThread+Rebalance`). Decisions are values; what is done, is done on a `StreamIO`.
final class StreamThread<S: Stage, IO: StreamIO> {
  typealias Task = StreamTask<S, IO.Store>

  let context: StreamContext<IO>
  var io: IO { context.io }
  let tasks: TaskManager<S, IO>
  let commits: CommitScheduler<S, IO>
  let effects: EffectRunner<S, IO>
  let restorer: TaskRestorer<IO>

  /// Polled records that have not been processed yet, from `nextIndex` on.
  private var polledRecords: [InputRecord] = []
  private var nextIndex = 0
  /// Tasks whose inputs are to be assigned anew, as a rebuild has come to the end of one: until then nothing of what was
  /// fetched for them counts.
  var awaitingAssignment: Set<Int32> = []
  /// Inputs bring nothing.
  private var isPaused = false
  private var exit: StreamExit?
  /// `commitBeforeEnd` runs at most once.
  private var isEnding = false

  /// A transaction that is on its way for so many milliseconds, while there is enough for the next, makes the inputs pause: a pause
  /// drops what was fetched.
  private static var commitPatience: Milliseconds { 500 }

  init(
    _ stage: S, io: IO, topics: TopicNames, partitionCounts: [Topic: Int32], limits: StreamLimits, writer: String,
    performer: (any EffectPerformer<S.Effect, S.Reply>)? = nil, outliving: OutlivingEffects<S.Reply>? = nil,
    wake: @escaping @Sendable () -> Void = {}, spans: (any SpanRecorder)? = nil,
    observe: @escaping (StreamEvent) -> Void
  ) {
    context = StreamContext(
      io: io, topics: topics, partitionCounts: partitionCounts, limits: limits, writer: writer, spans: spans,
      observe: observe)
    tasks = TaskManager(stage, context)
    restorer = TaskRestorer(context, inputs: S.definition.inputs)
    commits = CommitScheduler(context, tasks, restorer)
    effects = EffectRunner(
      context, tasks, performer: performer,
      outliving: outliving ?? OutlivingEffects(limit: limits.maxOutlivingEffects, retention: limits.replyRetention),
      wake: wake)
  }

  /// The tasks that run, in order.
  var runningTasks: [Int32] { tasks.numbers }

  /// A running task; for tests and simulation.
  func task(_ number: Int32) -> Task? { tasks[number] }

  // MARK: The loop

  /// One turn. Returns nil to be called again, or why the thread ended; all its tasks are closed then.
  func turn() -> StreamExit? {
    guard exit == nil else { return exit }
    do {
      try work()
    } catch let failure as IOFailure where failure.isRetriable {
      context.observe(.retrying(reason: failure.description))
      io.idle(atMost: context.limits.maxPollWait)
    } catch {
      end(by: error)
    }
    return exit
  }

  private func work() throws {
    commits.tellTrouble()
    // While the group is being joined there is time to make sure of the name.
    if tasks.isEmpty, !restorer.isRestoring, commits.needsProducer { try commits.openProducer() }
    pauseOrResume()
    let result = try poll()
    do {
      try processAndCommit()
    } catch let failure as IOFailure where failure.isRetriable && result.change != nil {
      // The change of the group came with this poll and will not come again: it is answered whatever else fails.
      context.observe(.retrying(reason: failure.description))
    }
    if let change = result.change { try take(change) }
    if !awaitingAssignment.isEmpty { try assignRunning() }
    try advanceRestore()
    try tasks.flushStores()
    try tasks.loadTimers()
  }

  private func poll() throws -> PollResult {
    // What is open is enough for a transaction, and the one before is about to be over: that is all there is to wait for.
    if tasks.isFull, commits.isCommitting, !isPaused {
      io.idle(atMost: Self.commitPatience)
      try commits.takeOutcome()
      if !commits.isCommitting { return PollResult() }
    }
    let room = isFull ? 1 : context.limits.maxBatchRecords - (polledRecords.count - nextIndex)
    let result = try io.poll(
      timeout: pollWait, maxRecords: max(room, 1), maxBytes: context.limits.maxBatchBytes)
    if polledRecords.isEmpty { polledRecords = result.records } else { polledRecords += result.records }
    return result
  }

  /// Does what there is to do with what was polled, and commits it.
  private func processAndCommit() throws {
    try commits.takeOutcome()
    try process()
    if !isFull {
      try effects.takeReplies()
      try tasks.wake()
      try tasks.fireTimers()
    }
    try release(commits.commitIfDue(isFull: isFull))
    performEffects()
  }

  /// Effects do not wait for a transaction that is on its way, unless that takes long.
  private func performEffects() {
    if !commits.isSlow(context.limits.maxEffectLead) { effects.perform(commits.proof) }
  }

  /// Nothing may be added to what is to be committed: a commit has failed, or it is enough for a transaction. Then nothing is
  /// processed or polled either, for however long that takes.
  var isFull: Bool { commits.isFrozen || tasks.isFull }

  /// No record is processed: effects, or what the stage keeps, have reached their bound.
  private var holdsInput: Bool { tasks.stage.holdsInput || effects.count > context.limits.maxEffects }

  private var pollWait: Milliseconds {
    if restorer.isRestoring || (!isFull && !holdsInput && nextIndex < polledRecords.count) { return 0 }
    var wait = context.limits.maxPollWait
    let steady = io.steadyClock
    if let next = commits.nextAttempt(steadyNow: steady) { wait = min(wait, next - steady) }
    // What is due has to wait, too.
    if !isFull, let due = tasks.nextDue { wait = min(wait, due - io.wallClock) }
    return max(wait, 0)
  }

  /// Inputs bring nothing while nothing can be done about it. Each pause drops what was fetched: so effects pause them from
  /// their bound on until half of them are done, and a commit only if it takes long.
  private func pauseOrResume() {
    let effectBound = isPaused ? context.limits.maxEffects / 2 : context.limits.maxEffects
    let pause =
      commits.isFrozen || (tasks.isFull && (isPaused || !commits.isCommitting || commits.isSlow(Self.commitPatience)))
      || effects.count > effectBound || tasks.stage.holdsInput
    guard pause != isPaused, !tasks.isEmpty else { return }
    do throws(IOFailure) {
      try io.setPaused(pause)
      isPaused = pause
    } catch {
      // In the next turn again: the group is to be served whatever becomes of it.
      context.observe(.retrying(reason: error.description))
    }
  }

  // MARK: Records

  private func process() throws {
    guard !isFull, nextIndex < polledRecords.count else { return }
    let now = io.wallClock
    var processed = 0
    var last: InputRecord?
    var current: Task?
    // Kept beside the loop: a sum over all tasks for each record would cost more than the record.
    var effectCount = effects.count
    while nextIndex < polledRecords.count, !commits.isFrozen {
      if tasks.stage.holdsInput { break }
      if effects.isEnabled {
        // Whoever waits for an answer is served between records, and a backlog waits in Kafka, not here.
        if effectCount > context.limits.maxEffects { break }
        if processed > 0, processed % context.limits.replyStride == 0 {
          try effects.takeReplies()
          performEffects()
          effectCount = effects.count
        }
      }
      let record = polledRecords[nextIndex]
      nextIndex += 1
      // Records of one partition come together.
      if current?.number != record.partition { current = tasks[record.partition] }
      guard let task = current else { continue }
      if let next = task.next[record.topic], record.offset < next { continue }
      if awaitingAssignment.contains(task.number) || !task.consumes(record.topic) { continue }
      let waiting = task.waitingEffects.count
      if try tasks.process(record, task, wallNow: now) { awaitingAssignment.insert(task.number) }
      effectCount += task.waitingEffects.count - waiting
      processed += 1
      last = record
      if tasks.isFull {
        // It may have found tasks lost. Where nothing can be sealed now, what was polled waits.
        current = nil
        try commits.takeOutcome()
        try release(commits.commitIfDue(isFull: true))
        if tasks.isFull { break }
        effectCount = effects.count
      }
    }
    if nextIndex == polledRecords.count { dropPolled() }
    if let last { context.observe(.processed(records: processed, age: max(0, now - last.timestamp))) }
  }

  /// What was polled is forgotten.
  func dropPolled() {
    polledRecords.removeAll(keepingCapacity: true)
    nextIndex = 0
  }

  /// Consumes these inputs; what was fetched before is fetched again, where it is still ours.
  func assign(_ starts: [InputPosition]) throws {
    dropPolled()
    try io.assign(starts)
    awaitingAssignment = []
    isPaused = false
  }

  // MARK: Restore

  private func advanceRestore() throws {
    guard let done = try restorer.advance() else {
      if let what = restorer.takeSuspicion() { try commits.suspectHanging(what) }
      return
    }
    for it in done { try tasks.start(it.task, it.restored, inputs: it.inputs, took: it.took) }
    try assignRunning()
  }

  // MARK: End

  /// Drains and ends: starts nothing new, waits for replies, commits, writes the stores. `since`: when it was asked for, by
  /// the steady clock; a turn that was long has used up a part of the time there is.
  func stop(since: Milliseconds? = nil) -> StreamExit {
    if let exit { return exit }
    restorer.abandon()
    do {
      try settle(until: (since ?? io.steadyClock) + context.limits.stopDrain)
      end(.stopped)
    } catch {
      end(by: error)
    }
    return exit ?? .stopped
  }

  private func end(by error: any Error) {
    if error is StoreFailure || error is RecordOfLaterRelease { commitBeforeEnd() }
    switch error {
    case let exit as StreamExit: end(exit)
    case let failure as StoreFailure: end(.failed(failure.description))
    case let failure as IOFailure: end(failure.kind == .fenced ? .fenced : .failed(failure.description))
    default: end(.failed("\(error)"))
    }
  }

  /// Commits the steps before the one that failed. Without this, each restart would process them again up to the same
  /// failure, and send their effects each time.
  private func commitBeforeEnd() {
    guard !isEnding else { return }
    isEnding = true
    do {
      try settle(until: io.steadyClock + context.limits.stopDrain)
    } catch {
      // What is not committed is processed again after the restart.
      context.observe(.retrying(reason: "\(error)"))
    }
  }

  private func end(_ reason: StreamExit) {
    guard exit == nil else { return }
    exit = reason
    restorer.abandon()
    close(tasks.numbers, lost: reason != .stopped)
  }
}
