import NudgeSchema
import ServiceKit

/// One stream thread: it owns a consumer, a transactional producer and the stores of its tasks, and goes round and round
/// in `turn`: poll, process, commit, restore what is new. All calls come from one thread.
///
/// The decisions are values of their own (`TransactionMachine`, `RestoreMachine`, `OwnershipProof`);
/// this class carries them out on a `StreamIO`.
final class StreamThread<S: Stage, IO: StreamIO> {
  /// Why a thread ended.
  enum Exit: Equatable {
    /// It was asked to stop, and drained.
    case stopped
    /// Somebody else runs under this name.
    case fenced
    /// Going on would be wrong; the reason is for people.
    case failed(String)
  }

  typealias Task = StreamTask<S, IO.Store>

  let io: IO
  private(set) var stage: S
  private let topics: TopicNames
  private let partitionCounts: [Topic: Int32]
  private let limits: StreamLimits
  /// Names this thread's life in position records, which add that of the task.
  private let writer: String
  private let observe: (StreamEvent) -> Void
  private let spans: (any SpanRecorder)?
  /// Of records that have been processed and are not committed.
  private var openSpans: [(task: Int32, span: Span)] = []
  private let coder = RecordCoder()

  private let performer: (any EffectPerformer<S.Effect, S.Reply>)?
  private let replies: ReplyBox<S.Reply>
  private let hasEffects = S.Effect.self != Never.self
  /// The input its timers come back by; asked for with each record.
  private let timerTopic = S.definition.timers

  private var tasks: [Int32: Task] = [:]
  /// Tasks whose inputs are to be assigned anew, as a rebuild has come to the end of one: until then nothing of what was
  /// fetched for them counts.
  private var awaitingAssignment: Set<Int32> = []
  private var lives = 0
  /// How many tasks the group has given.
  private var assignedCount = 0
  private var transactions = TransactionMachine()
  private var proof: OwnershipProof
  private var restore: RestoreBatch<IO.Store>?
  /// Tasks whose state was lost, and when to look again.
  private var lostState: (tasks: [Int32], lookAt: Milliseconds)?
  /// When it was last looked whether the broker was away, by the steady clock, and how often that is, in milliseconds.
  private var connectionSeenAt: Milliseconds = 0
  private static var connectionInterval: Milliseconds { 1000 }
  /// When it was last looked for transactions that stay open, by the steady clock.
  private var watchedAt: Milliseconds?
  /// When it was last looked for what a restore waits for, by the steady clock.
  private var suspectedAt: Milliseconds?
  /// When the progress of a rebuild was told last, by the steady clock.
  private var rebuildToldAt: Milliseconds?
  /// Since when replies wait for their commit.
  private var dirtySince: Milliseconds?
  /// What is to be committed, of all tasks together.
  private var pending = PendingWork()
  /// Polled records that have not been processed yet, from `heldIndex` on.
  private var held: [InputRecord] = []
  private var heldIndex = 0
  /// An attempt to commit has failed, and its outcome may be unknown: until the same content is committed, nothing is
  /// added to it.
  private var isFrozen = false
  /// Since when, by the steady clock, every attempt to commit has failed; why the last one did; and when that was told last.
  private var trouble: (since: Milliseconds, reason: String, toldAt: Milliseconds)?
  /// The last attempt to commit was refused because the group does not know this thread now.
  private var isOutOfGroup = false
  private var paused = false
  /// No new effects: tasks are being given up.
  private var isSettling = false
  private var exit: Exit?

  init(
    _ stage: S, io: IO, topics: TopicNames, partitionCounts: [Topic: Int32], limits: StreamLimits, writer: String,
    performer: (any EffectPerformer<S.Effect, S.Reply>)? = nil, wake: @escaping @Sendable () -> Void = {},
    spans: (any SpanRecorder)? = nil, observe: @escaping (StreamEvent) -> Void
  ) {
    self.stage = stage
    self.io = io
    self.topics = topics
    self.partitionCounts = partitionCounts
    self.limits = limits
    self.writer = writer
    self.performer = performer
    self.replies = ReplyBox(wake: wake)
    self.proof = OwnershipProof(sessionTimeout: limits.sessionTimeout)
    self.observe = observe
    self.spans = spans
  }

  /// The tasks that run, in order.
  var runningTasks: [Int32] { tasks.keys.sorted() }

  /// A running task; for tests and simulation.
  func task(_ number: Int32) -> Task? { tasks[number] }

  // MARK: The loop

  /// One turn. Returns nil to be called again, or why the thread ended; all its tasks are closed then.
  func turn() -> Exit? {
    guard exit == nil else { return exit }
    do {
      try work()
    } catch let failure as StoreFailure {
      end(.failed(failure.description))
    } catch let failure as IOFailure {
      switch failure.kind {
      case .fenced: end(.fenced)
      case .fatal: end(.failed(failure.description))
      case .retriable, .unstable, .notMember:
        observe(.retrying(reason: failure.description))
        io.idle(atMost: limits.maxPollWait)
      }
    } catch {
      end(.failed("\(error)"))
    }
    return exit
  }

  private func work() throws {
    tellTrouble()
    // While the group is being joined there is time to make sure of the name.
    if tasks.isEmpty, restore == nil,
      transactions.state == .noProducer || transactions.state == .uncertain(producerReplaced: false)
    {
      try openProducer()
    }
    pauseOrResume()
    let room = isFull ? 1 : limits.maxBatchRecords - (held.count - heldIndex)
    let result = try io.poll(timeout: pollWait, maxRecords: max(room, 1), maxBytes: limits.maxBatchBytes)
    if held.isEmpty { held = result.records } else { held += result.records }
    do {
      try workOff()
    } catch let failure as IOFailure where failure.isPassing && result.change != nil {
      // The change of the group came with this poll and will not come again: it is answered whatever else fails.
      observe(.retrying(reason: failure.description))
    }
    if exit != nil { return }
    if let change = result.change { try take(change) }
    if !awaitingAssignment.isEmpty { try assignRunning() }
    try advanceRestore()
    try flushStores()
    try loadTimers()
  }

  /// Does what there is to do with what was polled, and commits it.
  private func workOff() throws {
    // Also of a thread that has nothing to commit: what it has written may be waiting for a marker.
    let steady = io.steadyClock
    if steady - connectionSeenAt >= Self.connectionInterval {
      connectionSeenAt = steady
      if io.hasLostBroker { transactions.producerLost() }
    }
    try watchTransactions(steady)
    try process()
    try takeReplies()
    try wakeTasks()
    try fireTimers()
    if isCommitDue { try commit() }
    if exit == nil { performEffects() }
  }

  /// Nothing may be added to what is to be committed: a commit of it was tried, or it is enough for a transaction. Then
  /// nothing is processed or polled either, for however long the commit takes.
  private var isFull: Bool { isFrozen || pending.isFull(limits) }

  /// Whether inputs wait for effects: from the bound on, until half of them are done. Each pause drops what was fetched.
  private var hasTooManyEffects: Bool {
    hasEffects && effectCount > (paused ? limits.maxEffects / 2 : limits.maxEffects)
  }

  /// Effects that wait or are under way, of all tasks.
  private var effectCount: Int {
    var count = 0
    for task in tasks.values { count += task.waitingEffects.count + task.effectsUnderWay }
    return count
  }

  /// No record is processed: effects, or what the stage keeps, have reached their bound.
  private var holdsInput: Bool { stage.holdsInput || (hasEffects && effectCount > limits.maxEffects) }

  private var pollWait: Milliseconds {
    if restore != nil || (!isFull && !holdsInput && heldIndex < held.count) { return 0 }
    var wait = limits.maxPollWait
    let steady = io.steadyClock
    if case .wait(let until) = transactions.next(steadyNow: steady) {
      // What is to be committed does not hurry while no transaction can begin: without this the thread would only turn.
      if isFrozen || tasks.values.contains(where: { $0.isDirty }) { wait = min(wait, until - steady) }
    } else if let dirtySince {
      wait = min(wait, dirtySince + limits.replyLinger - steady)
    }
    // What is due has to wait, too.
    guard !isFull else { return max(wait, 0) }
    var next = Milliseconds.max
    for task in tasks.values where task.rebuild == nil {
      if let wakeAt = task.wakeAt { next = min(next, wakeAt) }
      if timerTopic != nil, let due = task.step.timers.nextDue { next = min(next, due) }
    }
    if next < .max { wait = min(wait, next - io.wallClock) }
    return max(wait, 0)
  }

  /// Inputs bring nothing while nothing can be done about it.
  private func pauseOrResume() {
    let pause = isFull || hasTooManyEffects || stage.holdsInput
    guard pause != paused, !tasks.isEmpty else { return }
    do throws(IOFailure) {
      try io.setPaused(pause)
      paused = pause
    } catch {
      // In the next turn again: the group is to be served whatever becomes of it.
      observe(.retrying(reason: error.description))
    }
  }

  // MARK: Steps

  private func process() throws {
    guard !isFull, heldIndex < held.count else { return }
    let now = io.wallClock
    var processed = 0
    var last: InputRecord?
    var current: Task?
    // Kept beside the loop: a sum over all tasks for each record would cost more than the record.
    var effects = hasEffects ? effectCount : 0
    while heldIndex < held.count, !isFrozen, exit == nil {
      if stage.holdsInput { break }
      if hasEffects {
        // Whoever waits for an answer is served between records, and a backlog waits in Kafka, not here.
        if effects > limits.maxEffects { break }
        if processed > 0, processed % limits.replyStride == 0 {
          try takeReplies()
          performEffects()
          effects = effectCount
        }
      }
      let record = held[heldIndex]
      heldIndex += 1
      // Records of one partition come together.
      if current?.number != record.partition { current = tasks[record.partition] }
      guard let task = current else { continue }
      if let next = task.next[record.topic], record.offset < next { continue }
      if awaitingAssignment.contains(task.number) || !task.consumes(record.topic) { continue }
      let time = task.time(of: record, wallNow: now)
      let waiting = task.waitingEffects.count
      if record.topic == timerTopic, let timer = TimerKey(firedBy: record) {
        try hear(timer, record, task, now: time)
      } else {
        try run(task, record: record, now: time) { try $0.process(record, in: $1) }
      }
      if task.rebuild != nil { try advanceRebuild(of: task, past: record) }
      effects += task.waitingEffects.count - waiting
      processed += 1
      last = record
      if pending.isFull(limits) {
        // It may have found tasks lost. Where nothing can be committed now, what was polled waits.
        current = nil
        guard try commit() else { break }
        if hasEffects { effects = effectCount }
      }
    }
    if heldIndex == held.count { dropHeld() }
    if let last { observe(.processed(records: processed, age: max(0, now - last.timestamp))) }
  }

  private func dropHeld() {
    held.removeAll(keepingCapacity: true)
    heldIndex = 0
  }

  /// One step of a task, whole or not at all. False: the record was refused, and is with the dead letters.
  @discardableResult
  private func run(
    _ task: Task, record: InputRecord?, now: Milliseconds, _ body: (inout S, Step<S>) throws -> Void
  ) throws -> Bool {
    var isAccepted = true
    let step = task.step
    let (bytes, rows) = (task.outputBytes, step.uncommittedCount)
    step.begin(now: now, record: record, isRebuilding: task.rebuild != nil)
    let began = step.trace == nil ? 0 : spans?.now() ?? 0
    var refusal: Rejection?
    do {
      try body(&stage, step)
      refusal = step.deadLetter
      if let rejection = step.deadLetter, let record { deadLetter(record, rejection, task) }
    } catch let failure as StoreFailure {
      throw failure
    } catch {
      step.undo()
      let rejection = error as? Rejection ?? Rejection(.internal, "\(type(of: error))")
      // Without a record there is nothing to set aside: going on would lose a reply.
      guard let record else {
        throw StoreFailure(operation: "\(S.definition.name) step", reason: rejection.description)
      }
      deadLetter(record, rejection, task)
      refusal = rejection
      isAccepted = false
    }
    if let trace = step.trace, let record, task.rebuild == nil {
      openSpans.append(
        (task.number, .processing(record, trace, from: began, stage: S.definition.name, refusal: refusal?.code)))
    }
    if let record, task.rebuild == nil,
      step.outputs.contains(where: { $0.topic == record.topic && $0.partition != record.partition })
    {
      observe(.rekeyed)
    }
    task.finish(record: record)
    pending.add(
      records: record == nil ? 0 : 1, bytes: task.outputBytes - bytes, rows: step.uncommittedCount - rows)
    if task.isDirty && dirtySince == nil { dirtySince = io.steadyClock }
    return isAccepted
  }

  private func deadLetter(_ record: InputRecord, _ rejection: Rejection, _ task: Task) {
    // It is there already.
    guard task.rebuild == nil else { return }
    task.add(
      .deadLetter(
        of: record, rejection, stage: S.definition.name, partitionCount: partitionCounts[.deadLetters] ?? 1,
        maxBytes: limits.maxDeadLetterBytes))
    observe(
      .deadLettered(
        code: rejection.code, topic: record.topicName, partition: record.partition, offset: record.offset,
        message: rejection.message))
  }

  // MARK: Timers

  /// Writes `timer.fired` of what is due to the stage's own input.
  private func fireTimers() throws {
    guard let topic = timerTopic, !isFull, !isSettling else { return }
    let now = io.wallClock
    var count = 0
    // While rebuilding, what has fired before comes through the input, and counts only once that has been read.
    for task in tasks.values where task.rebuild == nil {
      while !pending.isFull(limits), let (timer, row) = task.step.timers.fireNext(now: now) {
        let row = try coder.decode(TimerRow.self, from: row)
        let fired = try row.fired(timer, to: topic, partition: task.number, coder: coder)
        task.add(fired)
        pending.add(bytes: fired.size)
        count += 1
      }
      if task.isDirty && dirtySince == nil { dirtySince = io.steadyClock }
    }
    if count > 0 { observe(.timersFired(count: count)) }
  }

  /// The record of a timer has come back. One whose row is gone was heard of before, or was cancelled.
  private func hear(_ timer: TimerKey, _ record: InputRecord, _ task: Task, now: Milliseconds) throws {
    let isAccepted = try run(task, record: record, now: now) { stage, step in
      guard try step.timers.value(timer.row) != nil else { return }
      step.timers.remove(timer.row)
      try stage.process(record, in: step)
    }
    // A timer that was refused is with the dead letters; it does not fire again.
    if !isAccepted { task.step.timers.remove(timer.row) }
  }

  /// Reads the next timers of tasks whose window is empty, once their stores have all there is.
  private func loadTimers() throws {
    guard timerTopic != nil else { return }
    let now = io.wallClock
    for task in tasks.values where task.rebuild == nil && !task.isDirty && task.step.timers.needsLoad(now: now) {
      try flushStore(of: task)
      try task.step.timers.load()
    }
  }

  // MARK: Rebuilding lost state

  /// A record of a task that rebuilds its state has been processed. Once all inputs have come to where they were processed
  /// to before the loss, the task runs.
  private func advanceRebuild(of task: Task, past record: InputRecord) throws {
    let isInputDone = task.advanceRebuild(past: record)
    guard let rebuild = task.rebuild else { return }
    if !rebuild.remaining.isEmpty {
      if isInputDone { awaitingAssignment.insert(task.number) }
      if io.steadyClock - (rebuildToldAt ?? rebuild.startedAt) >= 2000 { tellRebuild(of: task) }
      return
    }
    awaitingAssignment.insert(task.number)
    task.endRebuild()
    tellRunning(task, rows: rebuild.records, took: io.steadyClock - rebuild.startedAt)
    try run(task, record: nil, now: io.wallClock) { try $0.open(in: $1) }
  }

  private func tellRebuild(of task: Task) {
    guard let rebuild = task.rebuild else { return }
    rebuildToldAt = io.steadyClock
    observe(
      .restoring(
        task: task.number, rows: rebuild.records,
        offset: rebuild.remaining.keys.reduce(0) { $0 + (task.next[$1] ?? 0) },
        target: rebuild.remaining.values.reduce(0) { $0 + $1 + 1 }))
  }

  private func tellRunning(_ task: Task, rows: Int, took: Milliseconds) {
    observe(
      .running(
        task: task.number, sequence: task.position.sequence,
        next: Dictionary(uniqueKeysWithValues: task.next.map { ($0.key.rawValue, $0.value) }), rows: rows,
        milliseconds: took))
  }

  // MARK: Effects

  private func takeReplies() throws {
    guard hasEffects, !isFull else { return }
    let letters = replies.takeAll()
    guard !letters.isEmpty else { return }
    let now = io.wallClock
    for letter in letters {
      // The reply to a former life of the task: its new owner, perhaps this thread, has the lane and its "not before".
      guard let task = tasks[letter.task], task.life == letter.life else { continue }
      task.effectsUnderWay -= 1
      try run(task, record: nil, now: now) { try $0.receive(letter.reply, in: $1) }
    }
  }

  private func wakeTasks() throws {
    guard !isFull else { return }
    let now = io.wallClock
    for task in tasks.values {
      guard let wakeAt = task.wakeAt, wakeAt <= now else { continue }
      task.wakeAt = nil
      try run(task, record: nil, now: now) { try $0.wake(in: $1) }
    }
  }

  private func performEffects() {
    guard hasEffects, let performer, !isSettling else { return }
    guard tasks.values.contains(where: { !$0.waitingEffects.isEmpty }) else { return }
    guard proof.holds(at: io.steadyClock) else {
      observe(.effectsHeld(count: tasks.values.reduce(0) { $0 + $1.waitingEffects.count }))
      return
    }
    for task in tasks.values {
      let (number, life, box) = (task.number, task.life, replies)
      for effect in task.waitingEffects {
        task.effectsUnderWay += 1
        performer.perform(effect) { box.post(.init(task: number, life: life, reply: $0)) }
      }
      task.waitingEffects.removeAll(keepingCapacity: true)
    }
  }

  // MARK: Transactions

  private var isCommitDue: Bool {
    guard !tasks.isEmpty else { return false }
    if transactions.isCheckDue { return true }
    let steady = io.steadyClock
    if tasks.values.contains(where: { $0.isDirty }) {
      // Replies are gathered for a moment; a stage without effects commits what it has.
      guard hasEffects, let dirtySince else { return true }
      return steady - dirtySince >= limits.replyLinger || isFull || !proof.holds(at: steady)
    }
    guard hasEffects else { return false }
    return proof.age(at: steady).map { $0 >= limits.proofInterval } ?? true
  }

  /// Brings what is uncommitted one attempt further; true once it is committed. A stage with effects also commits bare
  /// offsets, which prove that it owns its tasks.
  @discardableResult
  private func commit() throws -> Bool {
    switch transactions.next(steadyNow: io.steadyClock) {
    case .wait: return false
    case .exitFenced:
      end(.fenced)
      return false
    case .openProducer:
      try openProducer()
      return false
    case .checkPositions:
      do {
        try checkPositions()
      } catch let failure as IOFailure where failure.isPassing {
        noteTrouble(failure.description, since: io.steadyClock)
        throw failure
      }
      return false
    case .begin: break
    }
    let group = tasks.values.filter { $0.isDirty || hasEffects }.sorted { $0.number < $1.number }
    guard !group.isEmpty else {
      nothingToCommit()
      return true
    }
    var positions: [Int32: PositionRecord] = [:]
    var parts: [SealedTransaction.Part] = []
    for task in group where task.isDirty || task.position.sequence == 0 {
      let (part, position) = try task.part(coder: coder)
      parts.append(part)
      positions[task.number] = position
    }
    let transaction = SealedTransaction(
      parts: parts, offsets: group.flatMap { $0.offsets(positions[$0.number] ?? $0.position) })
    let start = io.steadyClock
    let outcome = io.commit(transaction)
    guard case .committed(let offsets) = outcome else {
      notCommitted(outcome, since: start)
      return false
    }
    let end = io.steadyClock
    transactions.committed()
    proof.proven(at: start)
    isOutOfGroup = false
    let records = group.reduce(0) { $0 + $1.records }
    for task in group {
      guard let position = positions[task.number] else { continue }
      if !task.counts.isEmpty { observe(.counted(task.counts)) }
      try task.committed(position, at: offsets[task.number], steadyNow: end, wallNow: io.wallClock)
    }
    nothingToCommit()
    observe(
      .committed(
        records: records, outputs: parts.reduce(0) { $0 + $1.outputs.count },
        rows: parts.reduce(0) { $0 + $1.changes.count }, milliseconds: end - start))
    return true
  }

  /// An attempt to commit has failed: the same content is committed later, where it turns out not to be.
  private func notCommitted(_ outcome: CommitOutcome, since start: Milliseconds) {
    isFrozen = true
    isOutOfGroup = false
    switch outcome {
    case .committed: return
    case .notCommitted(let reason), .unknown(let reason): retryLater(reason, since: start)
    case .notMember(let reason):
      isOutOfGroup = true
      // Its tasks may have another owner already, which is told to nobody who does not poll.
      proof.forget()
      retryLater(reason, since: start)
    case .fenced(let reason):
      noteTrouble(reason, since: start)
      transactions.failed(isFenced: true)
      end(.fenced)
    case .refused(let reason):
      noteTrouble(reason, since: start)
      transactions.failed(isFenced: false)
      end(.failed(reason))
    }
  }

  private func retryLater(_ reason: String, since start: Milliseconds) {
    noteTrouble(reason, since: start)
    transactions.failed(isFenced: false)
    observe(.transactionFailed(reason: reason))
  }

  private func openProducer() throws {
    do throws(IOFailure) {
      try io.openProducers()
      tellEnded()
      transactions.producerOpened()
    } catch {
      transactions.producerFailed(error, steadyNow: io.steadyClock)
      if !tasks.isEmpty { noteTrouble(error.description, since: io.steadyClock) }
      switch error.kind {
      case .fenced: end(.fenced)
      case .fatal: end(.failed(error.description))
      case .retriable, .unstable, .notMember: observe(.retrying(reason: error.description))
      }
    }
  }

  /// All that was done is committed, or is another owner's to do.
  private func nothingToCommit() {
    endSpans()
    dirtySince = nil
    isFrozen = false
    pending = PendingWork()
    if let trouble, trouble.toldAt > 0, case .ready = transactions.state { observe(.canCommit) }
    trouble = nil
  }

  /// What was processed is committed: others can see what it caused.
  private func endSpans() {
    guard let spans, !openSpans.isEmpty else { return }
    let end = spans.now()
    for (_, var span) in openSpans {
      span.end = max(span.start, end)
      spans.record(span)
    }
    openSpans.removeAll(keepingCapacity: true)
  }

  /// An attempt to commit has failed, or what comes before the next one.
  private func noteTrouble(_ reason: String, since start: Milliseconds) {
    trouble = (trouble?.since ?? start, reason, trouble?.toldAt ?? 0)
  }

  /// Says so, once a second, while nothing could be committed for longer than some seconds.
  private func tellTrouble() {
    guard let trouble else { return }
    let steady = io.steadyClock
    guard steady - trouble.since >= limits.commitPatience, steady - trouble.toldAt >= 1000 else { return }
    self.trouble?.toldAt = steady
    observe(.notCommitting(milliseconds: steady - trouble.since, reason: trouble.reason))
  }

  /// After an unknown outcome, with a new producer: everything the old one wrote is committed or aborted now, or will be
  /// before the last stable offset passes the high watermark. The changelogs tell which.
  private func checkPositions() throws {
    let group = tasks.values.sorted { $0.number < $1.number }
    let found = try readPositions(of: group)
    var lost: [Int32] = []
    for task in group {
      guard let (position, offset) = found[task.number], position.sequence > task.position.sequence else {
        if task.isDirty && isFrozen { observe(.outcomeKnown(task: task.number, committed: false)) }
        continue
      }
      guard position == task.nextPosition, task.isDirty || task.position.sequence == 0 else {
        lost.append(task.number)
        continue
      }
      observe(.outcomeKnown(task: task.number, committed: true))
      if !task.counts.isEmpty { observe(.counted(task.counts)) }
      try task.committed(position, at: offset, steadyNow: io.steadyClock, wallNow: io.wallClock)
    }
    transactions.positionsChecked(steadyNow: io.steadyClock)
    // Another owner has committed in these tasks: the group will say so; until then nothing of ours counts.
    release(lost, lost: true)
    // Without them there may be nothing left that waits for its commit.
    if !tasks.values.contains(where: { $0.isDirty }) { nothingToCommit() }
    if !lost.isEmpty { try assignRunning() }
  }

  /// The last position record behind that which each task knows, and its offset. Reads until every transaction that was
  /// begun by now has ended.
  private func readPositions(of group: [Task]) throws -> [Int32: (position: PositionRecord, offset: Int64)] {
    var found: [Int32: (position: PositionRecord, offset: Int64)] = [:]
    var targets: [Int32: Int64] = [:]
    for task in group { targets[task.number] = try io.changelogEnds(of: task.number).high }
    // Other tasks may still be restored, by the same reader.
    restore?.interrupted()
    try io.readChangelogs(Dictionary(uniqueKeysWithValues: group.map { ($0.number, $0.changelogOffset) }))
    var unread = Set(targets.keys)
    let start = io.steadyClock
    let deadline = start + limits.sessionTimeout
    var hasSuspected = false
    while !unread.isEmpty {
      for item in try io.pollChangelogs(timeout: limits.maxPollWait) {
        switch item {
        case .record(let task, let offset, _, let key, let bytes):
          guard key == PositionRecord.key else { continue }
          found[task] = (try PositionRecord(bytes, offset: offset, coder: coder), offset)
        case .end(let task, let offset):
          if let target = targets[task], offset >= target { unread.remove(task) }
        }
      }
      tellTrouble()
      if !unread.isEmpty, !hasSuspected, io.steadyClock - start >= limits.markerPatience {
        hasSuspected = true
        try suspectHanging("the changelogs of tasks \(unread.sorted()) after an unknown outcome")
      }
      guard io.steadyClock < deadline else {
        throw IOFailure(
          kind: .retriable, operation: "checking positions",
          reason: "the changelogs of tasks \(unread.sorted()) have not come to their ends")
      }
    }
    try io.readChangelogs([:])
    return found
  }

  /// Pending transactions should have ended by now.
  private func suspectHanging(_ what: String) throws {
    observe(.markersMissing(what: what))
    do throws(IOFailure) {
      try io.endHanging()
    } catch {
      if !error.isPassing { throw error }
      observe(.retrying(reason: error.description))
    }
    tellEnded()
  }

  /// Looks for transactions that stay open: nothing here may wait for them, and others do, such as the next stage.
  private func watchTransactions(_ steady: Milliseconds) throws {
    guard steady - (watchedAt ?? steady) >= limits.markerWatch, case .ready = transactions.state else {
      watchedAt = watchedAt ?? steady
      return
    }
    watchedAt = steady
    do throws(IOFailure) {
      try io.watchTransactions()
    } catch {
      if !error.isPassing { throw error }
      observe(.retrying(reason: error.description))
    }
    tellEnded()
  }

  private func tellEnded() {
    for ended in io.takeEnded() { observe(.transactionEnded(ended)) }
  }

  /// A restore has not come further for some seconds: looks for the reason, now and then.
  private func suspectHangingRestore(_ batch: RestoreBatch<IO.Store>) throws {
    let since = max(batch.progressAt, suspectedAt ?? .min)
    guard io.steadyClock - since >= limits.markerPatience else { return }
    try suspectHanging(batch.waitsFor)
    suspectedAt = io.steadyClock
  }

  // MARK: Assignment

  private func take(_ change: GroupChange) throws {
    switch change {
    case .assigned(let numbers):
      release(Array(tasks.keys), lost: true)
      observe(.assigned(tasks: numbers))
      assignedCount = numbers.count
      // Nothing is fetched until the state is whole.
      try assign([])
      lostState = nil
      restore = try numbers.isEmpty ? nil : beginRestore(numbers)
      if !numbers.isEmpty && transactions.state == .noProducer { try openProducer() }
    case .revoked:
      abandonRestore()
      try settle(until: io.steadyClock + limits.revokeDrain)
      release(Array(tasks.keys), lost: false)
      try assign([])
    case .lost:
      abandonRestore()
      release(Array(tasks.keys), lost: true)
      try assign([])
    }
  }

  /// Starts nothing new, waits for replies, and commits what there is; gives up at the deadline.
  private func settle(until deadline: Milliseconds) throws {
    isSettling = true
    defer { isSettling = false }
    while exit == nil {
      try takeReplies()
      try forgoEffects()
      let underWay = tasks.values.contains { $0.effectsUnderWay > 0 }
      let late = io.steadyClock >= deadline
      // After a failed commit, or with enough for a transaction, no reply is taken before that is committed: it comes first,
      // or the answers that have come would be waited for in vain until the deadline, and forgotten.
      if !isFull {
        if underWay && !late {
          io.idle(atMost: min(deadline - io.steadyClock, limits.maxPollWait))
          continue
        }
        if !tasks.values.contains(where: { $0.isDirty }) { return }
      }
      do {
        if try commit() { continue }
      } catch let failure as IOFailure where failure.isPassing {
        // Tried again while there is time; what is given up must be answered to the group all the same.
        observe(.retrying(reason: failure.description))
        if !late { io.idle(atMost: limits.maxPollWait) }
      }
      // Nobody polls here, so who is out of the group stays out: what there is will be done again by its next owner.
      if late || isOutOfGroup { return }
      if case .wait(let until) = transactions.next(steadyNow: io.steadyClock) {
        io.idle(atMost: max(1, until - io.steadyClock))
      }
    }
  }

  /// Gives back to the stage what it asked for and nobody will do: also what a reply has just made it ask for.
  private func forgoEffects() throws {
    guard !isFrozen else { return }
    let now = io.wallClock
    for task in tasks.values {
      let effects = task.waitingEffects
      task.waitingEffects.removeAll()
      for effect in effects { try run(task, record: nil, now: now) { try $0.forgo(effect, in: $1) } }
    }
  }

  private func release(_ numbers: [Int32], lost: Bool) {
    guard !numbers.isEmpty else { return }
    for number in numbers {
      guard let task = tasks.removeValue(forKey: number) else { continue }
      if !lost && !task.isDirty {
        do {
          // Closing the store tells nobody of a write that failed.
          _ = try task.flushStore(waits: true)
        } catch {
          // The store lags: the changelog has what it lacks.
          observe(.retrying(reason: "\(error)"))
        }
      }
      task.store.close()
      stage.close(partition: number)
    }
    proof.forget()
    // What they have not committed their next owners do, under the same ids.
    openSpans.removeAll { numbers.contains($0.task) }
    if tasks.isEmpty { nothingToCommit() }
    observe(.released(tasks: numbers.sorted(), lost: lost))
  }

  /// Consumes the inputs of the running tasks from where they stand.
  private func assignRunning() throws {
    try assign(
      tasks.values.sorted { $0.number < $1.number }.flatMap { task in
        S.definition.inputs.filter(task.consumes).map {
          InputPosition(topic: $0, task: task.number, offset: task.next[$0] ?? 0)
        }
      })
  }

  /// What was fetched before is fetched again, where it is still ours.
  private func assign(_ starts: [InputPosition]) throws {
    dropHeld()
    try io.assign(starts)
    awaitingAssignment = []
    paused = false
  }

  // MARK: Restore

  private func beginRestore(_ numbers: [Int32]) throws -> RestoreBatch<IO.Store> {
    var stores: [Int32: IO.Store] = [:]
    for number in numbers { stores[number] = try io.openStore(of: number) }
    return RestoreBatch(stores: stores, limits: limits, coder: coder, startedAt: io.steadyClock)
  }

  private func abandonRestore() {
    restore?.abandon()
    restore = nil
    lostState = nil
  }

  private func advanceRestore() throws {
    if restore == nil, let waiting = lostState, io.steadyClock >= waiting.lookAt {
      lostState = nil
      restore = try beginRestore(waiting.tasks)
    }
    guard let batch = restore else { return }
    let results = try batch.advance(on: io, observe: observe)
    guard !results.isEmpty else { return try suspectHangingRestore(batch) }
    // Questions first: one that fails is asked again in the next turn, and none of these tasks has begun by then.
    var logStarts: [Int32: [Topic: Int64]] = [:]
    for (number, result) in results {
      guard case .restored = result else { continue }
      for topic in S.definition.inputs {
        logStarts[number, default: [:]][topic] = try io.logStart(of: topic, task: number)
      }
    }
    // Those that are still restored hold up none that is not.
    batch.take(results.keys)
    if batch.isOver {
      restore = nil
      try io.readChangelogs([:])
    }
    var lost: [Int32] = []
    for (number, result) in results.sorted(by: { $0.key < $1.key }) {
      switch result {
      case .stateLost(let store):
        store.close()
        observe(.stateLost(task: number))
        lost.append(number)
      case .restored(let restored):
        try start(number, restored, logStarts: logStarts[number] ?? [:], took: io.steadyClock - batch.startedAt)
      }
    }
    if !lost.isEmpty {
      lostState = ((lostState?.tasks ?? []) + lost, io.steadyClock + limits.stateLostRetry)
    }
    try assignRunning()
  }

  private func start(
    _ number: Int32, _ restored: RestoreBatch<IO.Store>.Restored, logStarts: [Topic: Int64], took: Milliseconds
  ) throws {
    var next: [Topic: Int64] = [:]
    for topic in S.definition.inputs {
      let logStart = logStarts[topic] ?? 0
      guard let position = restored.position?.next(topic) else {
        next[topic] = logStart
        continue
      }
      // What is only to rebuild the state was processed before.
      let unprocessed = max(position, restored.position?.rebuildTo?[topic.rawValue].map { $0 + 1 } ?? 0)
      if unprocessed < logStart {
        observe(.gap(task: number, topic: topics(topic), from: unprocessed, to: logStart))
      }
      next[topic] = max(position, logStart)
    }
    lives += 1
    let step = Step<S>(
      table: RowTable(
        of: S.Row.self, store: restored.store, coder: coder, cacheBytes: limits.cacheBytes / max(1, assignedCount)),
      timers: TimerQueue(store: restored.store), partition: number, topics: topics, coder: coder,
      partitionCounts: partitionCounts, maxOutputBytes: limits.maxOutputBytes, recordsSpans: spans != nil)
    let task = Task(
      number: number, life: lives, writer: "\(writer)/\(lives)", store: restored.store, step: step,
      position: restored.position, next: next, changelogOffset: restored.changelogOffset, asOf: io.wallClock,
      rebuild: StateRebuild(of: restored.position, next: next, startedAt: io.steadyClock))
    tasks[number] = task
    if restored.moved, let position = restored.position {
      observe(.offsetsMoved(task: number, position: position.next, sequence: position.sequence))
    }
    // A task whose state is being rebuilt runs, and is opened, once it is complete.
    guard task.rebuild == nil else { return tellRebuild(of: task) }
    tellRunning(task, rows: restored.rows, took: took)
    try run(task, record: nil, now: io.wallClock) { try $0.open(in: $1) }
  }

  // MARK: Stores

  private func flushStores() throws {
    let steady = io.steadyClock
    var unstored = 0
    var first: (task: Task, since: Milliseconds)?
    for task in tasks.values {
      unstored += task.unstoredCount
      guard !task.isDirty, let since = task.unstoredSince else { continue }
      if first.map({ (since, task.number) < ($0.since, $0.task.number) }) ?? true { first = (task, since) }
    }
    // One in a turn: its rows are written while the next records are processed, where a second would wait for the first.
    if let first, steady - first.since >= limits.maxUnstoredAge {
      unstored -= first.task.unstoredCount
      try flushStore(of: first.task)
    }
    guard unstored >= limits.maxUnstoredRows else { return }
    let waiting = tasks.values.filter { !$0.isDirty && $0.unstoredSince != nil }
      .sorted { ($0.unstoredCount, $1.number) > ($1.unstoredCount, $0.number) }
    for task in waiting where unstored >= limits.maxUnstoredRows {
      unstored -= task.unstoredCount
      try flushStore(of: task)
    }
  }

  private func flushStore(of task: Task) throws {
    let steady = io.steadyClock
    let rows = try task.flushStore()
    guard rows > 0 else { return }
    observe(.stored(task: task.number, rows: rows, milliseconds: io.steadyClock - steady))
    observe(.cached(bytes: tasks.values.reduce(0) { $0 + $1.step.table.cachedBytes }))
  }

  // MARK: End

  /// Drains and ends: starts nothing new, waits for replies, commits, writes the stores. `since`: when it was asked for, by
  /// the steady clock; a turn that was long has used up a part of the time there is.
  func stop(since: Milliseconds? = nil) -> Exit {
    if let exit { return exit }
    abandonRestore()
    do {
      try settle(until: (since ?? io.steadyClock) + limits.stopDrain)
    } catch {
      end(.failed("\(error)"))
    }
    end(.stopped)
    return exit ?? .stopped
  }

  private func end(_ reason: Exit) {
    guard exit == nil else { return }
    exit = reason
    abandonRestore()
    release(Array(tasks.keys), lost: reason != .stopped)
  }
}
