import NudgeSchema

/// A task while it runs: its rows, where it stands, what it has done since its last transaction was sealed, and what that holds
/// until it is committed.
final class StreamTask<S: Stage, Store: TaskStore> {
  let number: Int32
  /// Counts the assignments of tasks to this thread: tells this one from an earlier one of the same task.
  let epoch: Int
  let store: Store
  let step: Step<S>
  /// Names this epoch of the task in position records.
  private let writer: String

  /// The last committed position; sequence 0 is none.
  private(set) var position: PositionRecord
  /// Behind the last position record known in the changelog.
  private(set) var changelogOffset: Int64
  /// When the position was the last, by the wall clock. The store's age counts from here, not from when it is written: the
  /// machine may have slept for days in between, while tombstones went.
  private var asOf: Milliseconds
  /// The next offset of each input, after all that was processed.
  private(set) var next: [Topic: Int64]

  /// Lost state is being rebuilt; nil: the task runs.
  private(set) var rebuild: StateRebuild?

  /// Outputs since the last transaction was sealed, in order.
  private(set) var outputs: [OutputRecord] = []
  private(set) var outputBytes = 0
  /// Records processed since then.
  private(set) var records = 0
  /// What the stage has counted since then, by the places of its tallies.
  private var counts: [Int: Int] = [:]
  /// Something was done since then: a record, a reply, a timer that was due.
  private(set) var isDirty = false

  /// What is to be noted once the sealed transaction is committed.
  struct Sealed {
    /// Its position record.
    let position: PositionRecord
    /// Records processed for it.
    let records: Int
    /// What the stage has counted, by the places of its tallies.
    let counts: [Int: Int]
  }

  /// Of a transaction that is not committed yet; nil: there is none, or this task has no part in it.
  private(set) var sealed: Sealed?

  /// Effects asked for and not handed on yet.
  var waitingEffects: [S.Effect] = []
  /// Effects handed to the performer whose replies have not come.
  var effectsInFlight = 0
  /// Replies processed since the last transaction was sealed, with what they answer.
  var openReplies: [(ticket: EffectTicket, reply: S.Reply)] = []
  /// Replies whose steps are in the sealed transaction.
  private(set) var sealedReplies: [(ticket: EffectTicket, reply: S.Reply)] = []
  /// When the stage wants to be woken, by the wall clock.
  var wakeAt: Milliseconds?
  /// Since when committed rows wait for the store, by the steady clock.
  var unstoredSince: Milliseconds?

  init(
    number: Int32, epoch: Int, writer: String, store: Store, step: Step<S>, position: PositionRecord?,
    next: [Topic: Int64], changelogOffset: Int64, asOf: Milliseconds, rebuild: StateRebuild?
  ) {
    self.number = number
    self.epoch = epoch
    self.writer = writer
    self.store = store
    self.step = step
    self.position = position ?? PositionRecord(sequence: PositionRecord.firstSequence - 1, next: [:], writer: "")
    self.next = next
    self.changelogOffset = changelogOffset
    self.asOf = asOf
    self.rebuild = rebuild
  }

  /// A step has ended well: takes what it left.
  func finish(record: InputRecord?) {
    let wake = step.takeWake()
    if rebuild == nil {
      outputs += step.outputs
      for output in step.outputs { outputBytes += output.size }
      if step.hasEffects { waitingEffects += step.effects }
      if let wake { wakeAt = min(wakeAt ?? .max, wake) }
      for place in step.counted { counts[place, default: 0] += 1 }
    } else {
      step.returnEffects()
    }
    if let record {
      next[record.topic] = record.offset + 1
      records += 1
      isDirty = true
    } else if !step.outputs.isEmpty || step.openCount > 0 {
      isDirty = true
    }
  }

  // MARK: Rebuilding

  /// Whether records of an input are wanted: one that has been rebuilt from to its end waits for the others.
  func consumes(_ topic: Topic) -> Bool { rebuild.map { $0.remaining[topic] != nil } ?? true }

  /// When a step on this record takes place, by the wall clock, or by the one of the rebuild.
  func time(of record: InputRecord, wallNow: Milliseconds) -> Milliseconds {
    rebuild?.time(of: record, wallNow: wallNow) ?? wallNow
  }

  /// A record has been processed. Returns whether with it an input has come to where it is rebuilt from.
  func advanceRebuild(past record: InputRecord) -> Bool { rebuild?.advance(past: record) ?? false }

  /// All inputs have come so far: from here on records are processed for the first time.
  func endRebuild() { rebuild = nil }

  /// Adds a record of the runtime's own: a dead letter, a timer that is due.
  func add(_ output: OutputRecord) {
    outputs.append(output)
    outputBytes += output.size
    isDirty = true
  }

  // MARK: Transactions

  /// Seals what was done: the task's part of a transaction. Only while nothing else of it is sealed.
  func seal(coder: RecordCoder) throws -> SealedTransaction.Part {
    let position = PositionRecord(
      sequence: position.sequence + 1,
      next: Dictionary(uniqueKeysWithValues: next.map { ($0.key.rawValue, $0.value) }), writer: writer,
      rebuildTo: rebuild?.byName, history: position.history)
    sealed = Sealed(position: position, records: records, counts: counts)
    let part = SealedTransaction.Part(
      task: number, outputs: outputs, changes: try step.table.seal() + step.timers.seal(),
      position: try coder.encode(position))
    swap(&sealedReplies, &openReplies)
    openReplies.removeAll()
    outputs = []
    outputBytes = 0
    records = 0
    if !counts.isEmpty { counts.removeAll(keepingCapacity: true) }
    isDirty = false
    return part
  }

  /// The offsets to commit with what was just sealed, or with the last position's sequence. In a rebuild they do not go back:
  /// they say what was processed, and must say it still should the state be lost once more.
  func offsets() -> [CommittedInput] {
    let position = sealed?.position ?? position
    return next.sorted { $0.key.rawValue < $1.key.rawValue }.map { topic, offset in
      CommittedInput(
        topic: topic, task: number, offset: max(offset, rebuild?.remaining[topic].map { $0 + 1 } ?? 0),
        metadata: position.offsetMetadata)
    }
  }

  /// The sealed transaction is committed. `offset`: of its position record, where known.
  func committed(at offset: Int64?, steadyNow: Milliseconds, wallNow: Milliseconds) {
    guard let sealed else { return }
    self.sealed = nil
    sealedReplies.removeAll()
    step.table.committed()
    step.timers.committed()
    position = sealed.position
    asOf = wallNow
    if let offset { changelogOffset = offset + 1 }
    if unstoredSince == nil && unstoredCount > 0 { unstoredSince = steadyNow }
  }

  // MARK: Store

  /// Committed rows the store lacks.
  var unstoredCount: Int { step.table.unstoredCount + step.timers.unstoredCount }

  /// Hands what is committed to the store, which writes it on a thread of its own, or with `waits` at once. The store may lag,
  /// never lead.
  func flushStore(waits: Bool = false) throws -> Int {
    // Timers come before all other rows.
    let rows = step.timers.unstoredRows() + step.table.unstored()
    guard !rows.isEmpty || store.header?.position != position else { return 0 }
    guard position.sequence > 0 else { return 0 }
    let header = StoreHeader(position: position, changelogOffset: changelogOffset, storedAt: asOf)
    // Rows that are being written may be gone from memory: whoever asks the store for one waits for the write.
    if waits { try store.apply(rows, header: header) } else { try store.applyLater(rows, header: header) }
    step.table.stored()
    step.timers.stored()
    unstoredSince = nil
    return rows.count
  }
}
