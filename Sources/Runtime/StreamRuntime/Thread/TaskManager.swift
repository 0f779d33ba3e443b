import NudgeSchema
import ServiceKit

/// The running tasks of a stream thread. Runs their steps on records, timers and replies, and writes their stores. It commits nothing.
///
/// Errors of a step: a `Rejection`, or an error of the stage's own, makes the record a dead letter. `StoreFailure` and
/// `RecordOfLaterRelease` undo the step and end the thread. Without a record, every error ends the thread.
final class TaskManager<S: Stage, IO: StreamIO> {
  typealias Task = StreamTask<S, IO.Store>

  let context: StreamContext<IO>
  private var io: IO { context.io }
  var stage: S
  /// The input through which `timer.fired` comes back. It is stored because each record needs it.
  let timerTopic = S.definition.timers

  private var tasks: [Int32: Task] = [:]
  /// The epoch of the task that was started last.
  private var lastEpoch = 0
  /// The number of assigned tasks, each of which gets its share of `cacheBytes`.
  var assignedCount = 0
  /// The work of all tasks since the last transaction was sealed.
  private(set) var pending = PendingWork()
  /// When the first of the pending work was done, by the steady clock.
  private(set) var dirtySince: Milliseconds?
  /// Spans of the records processed since the last transaction was sealed.
  private var openSpans: [(task: Int32, span: Span)] = []
  /// Spans of the sealed transaction.
  private var sealedSpans: [(task: Int32, span: Span)] = []
  /// When the progress of a rebuild was last reported, by the steady clock.
  private var rebuildReportedAt: Milliseconds?

  /// The budget that all tasks of the thread share.
  let effectBudget: EffectBudget
  /// The policy in force.
  var policy: S.Policy
  let surroundings: StageSurroundings<S>

  init(_ stage: S, _ context: StreamContext<IO>, _ surroundings: StageSurroundings<S> = StageSurroundings()) {
    self.stage = stage
    self.context = context
    self.surroundings = surroundings
    policy = surroundings.policy?() ?? stage.policy
    effectBudget = EffectBudget(limit: context.limits.maxEffects)
  }

  // MARK: Tasks

  subscript(number: Int32) -> Task? { tasks[number] }

  var all: Dictionary<Int32, Task>.Values { tasks.values }

  var isEmpty: Bool { tasks.isEmpty }

  /// The numbers of the running tasks, in order.
  var numbers: [Int32] { tasks.keys.sorted() }

  /// The running tasks, in order.
  var ordered: [Task] { tasks.values.sorted { $0.number < $1.number } }

  /// Whether there is work that is in no transaction.
  var isDirty: Bool { tasks.values.contains { $0.isDirty } }

  /// Starts a task whose restore is done: it runs, or rebuilds its state. `inputs` are the inputs' first offsets, `topicIDs` their present
  /// ids, `took` the milliseconds of the restore.
  func start(
    _ number: Int32, _ restored: RestoreBatch<IO.Store>.Restored, inputs: [Topic: LogEnds], topicIDs: TopicIDs,
    took: Milliseconds
  ) throws {
    let level = try level(of: number, restored.position)
    var next: [Topic: Int64] = [:]
    for topic in S.definition.inputs {
      let logStart = inputs[topic]?.start ?? 0
      guard let position = restored.position?.next(topic) else {
        next[topic] = logStart
        continue
      }
      // Records that only rebuild the state were processed before.
      let unprocessed = max(position, restored.position?.rebuildTo?[topic.rawValue].map { $0 + 1 } ?? 0)
      if unprocessed < logStart {
        context.observe(.gap(task: number, topic: context.topics(topic), from: unprocessed, to: logStart))
      }
      next[topic] = max(position, logStart)
    }
    lastEpoch += 1
    let step = Step<S>(
      table: RowCache(
        of: S.Row.self, store: restored.store, coder: context.coder,
        cacheBytes: context.limits.cacheBytes / max(1, assignedCount), level: level),
      timers: TimerQueue(store: restored.store), partition: number, policy: policy, topics: context.topics,
      coder: context.coder, partitionCounts: context.partitionCounts, maxOutputBytes: context.limits.maxOutputBytes,
      effectBudget: effectBudget, recordsSpans: context.spans != nil,
      generations: restored.position?.generationsByTopic ?? [:])
    let task = Task(
      number: number, epoch: lastEpoch, writer: "\(context.writer)/\(lastEpoch)", store: restored.store, step: step,
      position: restored.position, next: next, changelogOffset: restored.changelogOffset, asOf: io.wallClock,
      rebuild: StateRebuild(of: restored.position, next: next, startedAt: io.steadyClock), topicIDs: topicIDs,
      latestLevel: context.limits.latestLevel)
    tasks[number] = task
    recordDirty(task)
    if restored.moved, let position = restored.position {
      context.observe(.offsetsMoved(task: number, position: position.next, sequence: position.sequence))
    }
    // A task whose state is being rebuilt is opened after the rebuild.
    guard task.rebuild == nil else { return reportRebuild(of: task) }
    reportRunning(task, rows: restored.rows, took: took)
    try run(task, record: nil, now: io.wallClock) { try $0.open(in: $1) }
  }

  /// Closes tasks.
  /// - Parameter lost: Whether another member may own them. Their stores are then not written.
  func release(_ numbers: [Int32], lost: Bool) {
    for number in numbers {
      guard let task = tasks.removeValue(forKey: number) else { continue }
      if !lost {
        do {
          // The write is awaited, because closing the store would hide its failure.
          _ = try task.flushStore(waits: true)
        } catch {
          // The store lags. The changelog has the missing rows.
          context.observe(.retrying(reason: "\(error)"))
        }
      }
      task.store.close()
      stage.close(partition: number)
    }
    openSpans.removeAll { numbers.contains($0.task) }
    sealedSpans.removeAll { numbers.contains($0.task) }
    if !isDirty { nothingIsOpen() }
    showStatistics()
  }

  // MARK: Steps

  /// Runs one step of a task, as a whole or not at all.
  /// - Returns: Whether the record was accepted. If not, it is a dead letter.
  @discardableResult
  func run(
    _ task: Task, record: InputRecord?, now: Milliseconds, _ body: (inout S, Step<S>) throws -> Void
  ) throws -> Bool {
    var isAccepted = true
    let step = task.step
    let (bytes, rows) = (task.outputBytes, step.openCount)
    step.begin(now: now, steadyNow: io.steadyClock, record: record, isRebuilding: task.rebuild != nil)
    let began = step.trace == nil ? 0 : context.spans?.now() ?? 0
    var refusal: Rejection?
    do {
      try body(&stage, step)
    } catch let failure as StoreFailure {
      // The steps before this one are whole, and are committed before the thread ends.
      step.undo()
      throw failure
    } catch {
      step.undo()
      let rejection = error as? Rejection ?? Rejection(.internal, "\(type(of: error))")
      if let record, rejection.mayBeOfLaterRelease, record.topic.isWrittenByNudgeOnly {
        throw RecordOfLaterRelease(record: record.position, stage: S.definition.name, reason: rejection.message)
      }
      // There is no record to make a dead letter of, and continuing would lose a reply.
      guard let record else {
        throw StoreFailure(operation: "\(S.definition.name) step", reason: rejection.description)
      }
      deadLetter(record, rejection, task)
      refusal = rejection
      isAccepted = false
    }
    if let trace = step.trace, let record, task.rebuild == nil {
      openSpans.append(
        (
          task.number,
          .processing(
            record, trace, from: began, stage: S.definition.name, group: S.definition.group(context.topics),
            refusal: refusal?.code)
        ))
    }
    if let record, task.rebuild == nil,
      step.outputs.contains(where: { $0.topic == record.topic && $0.partition != record.partition })
    {
      context.observe(.rekeyed)
    }
    task.finish(record: record)
    pending.add(records: record == nil ? 0 : 1, bytes: task.outputBytes - bytes, rows: step.openCount - rows)
    recordDirty(task)
    return isAccepted
  }

  private func recordDirty(_ task: Task) {
    if task.isDirty && dirtySince == nil { dirtySince = io.steadyClock }
  }

  private func deadLetter(_ record: InputRecord, _ rejection: Rejection, _ task: Task) {
    // The dead letter was written before the state was lost.
    guard task.rebuild == nil else { return }
    task.add(
      .deadLetter(
        of: record, rejection, stage: S.definition.name, partitionCount: context.partitionCounts[.deadLetters] ?? 1,
        maxBytes: context.limits.maxDeadLetterBytes))
    context.observe(
      .deadLettered(
        code: rejection.code, topic: record.topicName, partition: record.partition, offset: record.offset,
        message: rejection.message,
        trace: record.header(RecordHeader.traceparent).flatMap {
          TraceContext(traceparent: String(decoding: $0, as: UTF8.self))
        }))
  }

  /// Runs a step on a record.
  /// - Parameter take: Takes a record that a former owner of the task has handed over, in place of the stage. Returns the effect whose reply has
  ///   come.
  /// - Returns: Whether the record finishes an input's rebuild, so that the inputs must be assigned again.
  func process(
    _ record: InputRecord, _ task: Task, wallNow: Milliseconds,
    handedOver take: ((InputRecord, Task) throws -> EffectTicket?)?
  ) throws -> Bool {
    let now = task.time(of: record, wallNow: wallNow)
    if record.value == nil, let level = FormatLevel(in: record) {
      try raise(task, to: level, by: record, now: now)
    } else if let take {
      try run(task, record: record, now: now) {
        if let effect = try take(record, task) { try $0.replyIsHere(to: effect, in: $1) }
      }
    } else if record.topic == timerTopic, let timer = TimerKey(firedBy: record) {
      try timerFired(timer, record, task, now: now)
    } else {
      try run(task, record: record, now: now) { try $0.process(record, in: $1) }
    }
    return task.rebuild == nil ? false : try advanceRebuild(of: task, past: record)
  }

  /// Wakes the tasks whose wake-up is due.
  func wake() throws {
    let (now, steady) = (io.wallClock, io.steadyClock)
    for task in tasks.values {
      guard let wakeAt = task.wakeAt, wakeAt <= steady else { continue }
      task.wakeAt = nil
      try run(task, record: nil, now: now) { try $0.wake(in: $1) }
    }
  }

  /// How long until the next timer or wake-up is due.
  var nextDueIn: Milliseconds? {
    let (now, steady) = (io.wallClock, io.steadyClock)
    var wait: Milliseconds?
    for task in tasks.values where task.rebuild == nil {
      if let wakeAt = task.wakeAt { wait = min(wait ?? .max, wakeAt - steady) }
      if timerTopic != nil, let due = task.step.timers.nextDue { wait = min(wait ?? .max, due - now) }
    }
    return wait
  }

  // MARK: Timers

  /// Writes `timer.fired` for due timers to the stage's own input, while work may be taken.
  func fireTimers(while mayTake: () -> Bool) throws {
    guard let topic = timerTopic, mayTake() else { return }
    let now = io.wallClock
    var count = 0
    // During a rebuild the input still has the records of timers that fired before.
    for task in tasks.values where task.rebuild == nil {
      while mayTake(), let (timer, row) = task.step.timers.fireNext(now: now) {
        let row = try TimerRow(row, store: task.store, coder: context.coder)
        let fired = row.record(
          of: timer, value: try S.value(of: row.due(timer), coder: context.coder), to: topic, partition: task.number)
        task.add(fired)
        pending.add(bytes: fired.size)
        count += 1
      }
      recordDirty(task)
    }
    if count > 0 { context.observe(.timersFired(count: count)) }
  }

  /// Processes the record of a timer that has come back. A timer without a row was processed before.
  private func timerFired(_ timer: TimerKey, _ record: InputRecord, _ task: Task, now: Milliseconds) throws {
    let isAccepted = try run(task, record: record, now: now) { stage, step in
      guard try step.timers.value(timer.row) != nil else { return }
      step.timers.remove(timer.row)
      try stage.process(record, in: step)
    }
    // A refused timer's record is a dead letter, and the timer does not fire again.
    if !isAccepted { task.step.timers.remove(timer.row) }
  }

  /// Reads the next timers from the stores of tasks whose window is empty.
  func loadTimers() throws {
    guard timerTopic != nil else { return }
    let now = io.wallClock
    for task in tasks.values where task.rebuild == nil && task.step.timers.needsLoad(now: now) {
      try task.step.timers.load()
    }
  }

  // MARK: Rebuilding lost state

  /// Records a processed record of a task that rebuilds its state. The task runs once all inputs have reached the offsets processed before
  /// the loss.
  /// - Returns: Whether its inputs must be assigned again.
  private func advanceRebuild(of task: Task, past record: InputRecord) throws -> Bool {
    let isInputDone = task.advanceRebuild(past: record)
    guard let rebuild = task.rebuild else { return false }
    if !rebuild.remaining.isEmpty {
      if io.steadyClock - (rebuildReportedAt ?? rebuild.startedAt) >= 2000 { reportRebuild(of: task) }
      return isInputDone
    }
    task.endRebuild()
    reportRunning(task, rows: rebuild.records, took: io.steadyClock - rebuild.startedAt)
    try run(task, record: nil, now: io.wallClock) { try $0.open(in: $1) }
    return true
  }

  private func reportRebuild(of task: Task) {
    guard let rebuild = task.rebuild else { return }
    rebuildReportedAt = io.steadyClock
    context.observe(
      .restoring(
        task: task.number, rows: rebuild.records,
        offset: rebuild.remaining.keys.reduce(0) { $0 + (task.next[$1] ?? 0) },
        target: rebuild.remaining.values.reduce(0) { $0 + $1 + 1 }))
  }

  // MARK: Transactions

  /// Seals the open work into a transaction. Call it only while nothing else is sealed.
  /// - Parameter provesOwnership: Whether to include the offsets of all tasks, and a position of tasks that have none.
  /// - Returns: The transaction. Absent if there is nothing to commit.
  func seal(provesOwnership: Bool) throws -> SealedTransaction? {
    let group = ordered.filter { $0.isDirty || provesOwnership }
    guard !group.isEmpty else { return nil }
    let now = io.wallClock
    let parts = try group.filter { $0.isDirty || $0.position.sequence == 0 }
      .map { try $0.seal(coder: context.coder, now: now) }
    swap(&sealedSpans, &openSpans)
    openSpans.removeAll(keepingCapacity: true)
    nothingIsOpen()
    return SealedTransaction(
      parts: parts, offsets: group.flatMap { $0.offsets() },
      topicIDs: group.reduce(TopicIDs()) { $0.adopting($1.topicIDs) })
  }

  private func nothingIsOpen() {
    dirtySince = nil
    pending = PendingWork()
  }

  /// Marks a task's part of the sealed transaction as committed.
  func committed(_ number: Int32, at offset: Int64?) {
    guard let task = tasks[number], let sealed = task.sealed else { return }
    if !sealed.counts.isEmpty { context.observe(.counted(sealed.counts.map { StageCount(metric: $0, count: $1) })) }
    task.committed(at: offset, steadyNow: io.steadyClock, wallNow: io.wallClock)
    endSpans(of: number)
  }

  /// Ends the spans of a task's records, because their outputs are visible now.
  private func endSpans(of task: Int32) {
    guard let spans = context.spans, !sealedSpans.isEmpty else { return }
    let end = spans.now()
    for (number, var span) in sealedSpans where number == task {
      span.end = max(span.start, end)
      spans.record(span)
    }
    sealedSpans.removeAll { $0.task == task }
  }

  // MARK: Stores

  /// Writes the store whose rows have waited longest, if they are old, and the fullest stores, if too many rows wait.
  func flushStores() throws {
    let steady = io.steadyClock
    var unstored = 0
    var first: (task: Task, since: Milliseconds)?
    for task in tasks.values {
      unstored += task.unstoredCount
      guard let since = task.unstoredSince else { continue }
      if first.map({ (since, task.number) < ($0.since, $0.task.number) }) ?? true { first = (task, since) }
    }
    // One store a turn, because a second write would wait for the first.
    if let first, steady - first.since >= context.limits.maxUnstoredAge {
      unstored -= first.task.unstoredCount
      try flushStore(of: first.task)
    }
    guard unstored >= context.limits.maxUnstoredRows else { return }
    let waiting = tasks.values.filter { $0.unstoredSince != nil }
      .sorted { ($0.unstoredCount, $1.number) > ($1.unstoredCount, $0.number) }
    for task in waiting where unstored >= context.limits.maxUnstoredRows {
      unstored -= task.unstoredCount
      try flushStore(of: task)
    }
  }

  private func flushStore(of task: Task) throws {
    let steady = io.steadyClock
    let rows = try task.flushStore()
    guard rows > 0 else { return }
    context.observe(.stored(task: task.number, rows: rows, milliseconds: io.steadyClock - steady))
    context.observe(.cached(bytes: tasks.values.reduce(0) { $0 + $1.step.table.cachedBytes }))
  }
}
