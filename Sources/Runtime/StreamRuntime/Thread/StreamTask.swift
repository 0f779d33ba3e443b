import NudgeSchema
import ServiceKit

/// A running task: its rows, its position, the work since its last transaction was sealed, and the sealed work.
final class StreamTask<S: Stage, Store: TaskStore> {
  let number: Int32
  /// The number of this assignment among all of the thread's. It distinguishes assignments of the same task.
  let epoch: Int
  let store: Store
  let step: Step<S>
  /// The name of this epoch of the task in position records.
  private let writer: String

  /// The last committed position. Its sequence is 0 if there was no commit.
  private(set) var position: PositionRecord
  /// The offset after the last known position record in the changelog.
  private(set) var changelogOffset: Int64
  /// When the position was the latest, by the wall clock. The store's age counts from here: between a commit and the write to the store,
  /// the machine may have been suspended for days, while compaction removed tombstones.
  private var asOf: Milliseconds
  /// The next offset of each input.
  private(set) var next: [Topic: Int64]
  /// The topics that the task reads and keeps its state in.
  let topicIDs: TopicIDs
  /// The highest level that this release knows. Absent: the first.
  private let known: FormatLevel?

  /// The rebuild of lost state. Absent if the task runs.
  private(set) var rebuild: StateRebuild?

  /// Outputs since the last seal, in order.
  private(set) var outputs: [OutputRecord] = []
  private(set) var outputBytes = 0
  /// The number of records processed since the last seal.
  private(set) var records = 0
  /// How often each of the stage's metrics occurred since the last seal.
  private var counts: [S.Metric: Int] = [:]
  /// Whether there is work since the last seal: a record, a reply or a due timer.
  private(set) var isDirty = false

  /// The part of a sealed transaction that is applied when it is committed.
  struct Sealed {
    let position: PositionRecord
    /// The number of records processed for it.
    let records: Int
    /// How often each of the stage's metrics occurred.
    let counts: [S.Metric: Int]
  }

  /// The task's part of the sealed transaction. Absent if it has none.
  private(set) var sealed: Sealed?

  /// Effects that the performer does not have yet.
  var waitingEffects: [S.Effect] = []
  /// Since when a returned task reads records that it had read before it was lost, by the steady clock. Absent until it begins.
  var catchingUpSince: Milliseconds?
  /// The number of effects that the performer has and that are not replied to.
  var effectsInFlight = 0
  /// Replies processed since the last transaction was sealed, with the requests that they answer.
  var openReplies: [HandedOver<S.Reply>] = []
  /// Replies whose steps are in the sealed transaction.
  private(set) var sealedReplies: [HandedOver<S.Reply>] = []
  /// Handovers of former owners, until they are used.
  var handovers = KeptHandovers()
  /// When the stage wants to be woken, by the steady clock.
  var wakeAt: Milliseconds?
  /// When the oldest committed row that the store lacks was committed, by the steady clock.
  var unstoredSince: Milliseconds?

  init(
    number: Int32, epoch: Int, writer: String, store: Store, step: Step<S>, position: PositionRecord?,
    next: [Topic: Int64], changelogOffset: Int64, asOf: Milliseconds, rebuild: StateRebuild?, topicIDs: TopicIDs,
    latestLevel: FormatLevel
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
    let formerIDs = position?.topicIDs ?? TopicIDs()
    self.topicIDs = formerIDs.adopting(topicIDs)
    known = latestLevel == .first ? nil : latestLevel
    // The next position must not wait for a record. Until it is written, a topic that was created again would be taken for the old one, and
    // an operator who finalises a level would see the former release.
    isDirty = position.map { self.topicIDs != formerIDs || $0.known != known } ?? false
  }

  /// Takes the outputs, effects and wake-up of a successful step.
  func finish(record: InputRecord?) {
    let wake = step.takeWake()
    if rebuild == nil {
      outputs += step.outputs
      for output in step.outputs { outputBytes += output.size }
      if step.hasEffects { waitingEffects += step.effects }
      if let wake { wakeAt = min(wakeAt ?? .max, wake) }
      for metric in step.counted { counts[metric, default: 0] += 1 }
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

  /// Whether to consume an input. During a rebuild, a finished input waits for the others.
  func consumes(_ topic: Topic) -> Bool { rebuild.map { $0.remaining[topic] != nil } ?? true }

  /// The time of a step on this record: the wall clock, or the clock of the rebuild.
  func time(of record: InputRecord, wallNow: Milliseconds) -> Milliseconds {
    rebuild?.time(of: record, wallNow: wallNow) ?? wallNow
  }

  /// Records a processed record. Returns whether the rebuild of its input is complete.
  func advanceRebuild(past record: InputRecord) -> Bool { rebuild?.advance(past: record) ?? false }

  /// Ends the rebuild: the next records are processed for the first time.
  func endRebuild() { rebuild = nil }

  /// Adds an output of the runtime: a dead letter or a due timer.
  func add(_ output: OutputRecord) {
    outputs.append(output)
    outputBytes += output.size
    isDirty = true
  }

  // MARK: Transactions

  /// Seals the open work as the task's part of a transaction. Call it only while nothing else of the task is sealed.
  func seal(coder: RecordCoder, now: Milliseconds) throws -> SealedTransaction.Part {
    let position = PositionRecord(
      sequence: position.sequence + 1,
      next: Dictionary(uniqueKeysWithValues: next.map { ($0.key.rawValue, $0.value) }), writer: writer,
      rebuildTo: rebuild?.byName, history: position.history, generations: position.generations,
      topicIDs: topicIDs.isEmpty ? nil : topicIDs, handovers: handovers.range(at: now),
      level: step.level == .first ? nil : step.level, known: known)
    sealed = Sealed(position: position, records: records, counts: counts)
    var changes = try step.table.seal()
    let timers = step.timers.seal()
    // Joining two arrays would copy the long one and count the references of each of its rows.
    if !timers.isEmpty { changes += timers }
    let part = SealedTransaction.Part(
      task: number, outputs: outputs, changes: changes, position: try coder.encode(position))
    swap(&sealedReplies, &openReplies)
    openReplies.removeAll()
    outputs = []
    outputBytes = 0
    records = 0
    if !counts.isEmpty { counts.removeAll(keepingCapacity: true) }
    isDirty = false
    return part
  }

  /// The offsets to commit with the sealed position, or with the last one. During a rebuild they stay at their values from before the loss,
  /// which another loss of state needs.
  func offsets() -> [CommittedInput] {
    let position = sealed?.position ?? position
    return next.sorted { $0.key.rawValue < $1.key.rawValue }.map { topic, offset in
      CommittedInput(
        topic: topic, task: number, offset: max(offset, rebuild?.remaining[topic].map { $0 + 1 } ?? 0),
        metadata: position.offsetMetadata)
    }
  }

  /// Marks the sealed transaction as committed.
  /// - Parameter offset: The offset of its position record. Absent if unknown.
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

  /// The number of committed rows that the store lacks.
  var unstoredCount: Int { step.table.unstoredCount + step.timers.unstoredCount }

  /// Writes the committed rows to the store, in the background unless `waits`. The store may lag but is never ahead.
  /// - Returns: The number of rows.
  /// - Throws: `StoreFailure`, which ends the thread, also for the previous write.
  func flushStore(waits: Bool = false) throws -> Int {
    // Timer keys sort before all others.
    let timers = step.timers.unstoredRows()
    let rows = timers.isEmpty ? step.table.unstored() : timers + step.table.unstored()
    guard !rows.isEmpty || store.header?.position != position else { return 0 }
    guard position.sequence > 0 else { return 0 }
    let header = StoreHeader(position: position, changelogOffset: changelogOffset, storedAt: asOf)
    // Rows may be evicted while they are written, because the store's next read waits for the write.
    if waits { try store.apply(rows, header: header) } else { try store.applyLater(rows, header: header) }
    step.table.stored()
    step.timers.stored()
    unstoredSince = nil
    return rows.count
  }
}

/// The size of the open work of a thread's tasks.
struct PendingWork: Equatable {
  /// The number of processed records.
  private(set) var records = 0
  /// The size of the outputs in bytes.
  private(set) var bytes = 0
  /// The number of changed rows. Each row counts once.
  private(set) var rows = 0

  /// Adds work.
  mutating func add(records: Int = 0, bytes: Int, rows: Int = 0) {
    self.records += records
    self.bytes += bytes
    self.rows += rows
  }

  /// Whether the work fills a transaction, so that it must not grow before it is committed.
  func isFull(_ limits: StreamLimits) -> Bool {
    records >= limits.maxBatchRecords || bytes > limits.maxTransactionBytes || rows > limits.maxTransactionRows
  }
}

/// The rebuild of a task's lost state: records that were processed before the loss are processed again, for their rows only.
struct StateRebuild {
  /// The offset of the last record to rebuild from, for each unfinished input.
  private(set) var remaining: [Topic: Int64]
  /// The number of records processed since the task started.
  private(set) var records = 0
  /// When the task started, by the steady clock.
  let startedAt: Milliseconds
  private var clock: Milliseconds = 0

  /// The rebuild that a position demands. Fails if it demands none or no record to rebuild from is left.
  init?(of position: PositionRecord?, next: [Topic: Int64], startedAt: Milliseconds) {
    guard let to = position?.rebuildTo else { return nil }
    remaining = [:]
    for (topic, offset) in next {
      if let end = to[topic.rawValue], offset <= end { remaining[topic] = end }
    }
    if remaining.isEmpty { return nil }
    self.startedAt = startedAt
  }

  /// The remaining inputs, for a position record. Absent if all are done.
  var byName: [String: Int64]? {
    remaining.isEmpty ? nil : Dictionary(uniqueKeysWithValues: remaining.map { ($0.key.rawValue, $0.value) })
  }

  /// The time of a step on a record: the time at which the record was written, as the best estimate of when it was processed. It never goes
  /// back, although writers' clocks differ, and is never in the future.
  mutating func time(of record: InputRecord, wallNow: Milliseconds) -> Milliseconds {
    clock = min(max(clock, record.timestamp), wallNow)
    return clock
  }

  /// Records a processed record. Returns whether its input is finished.
  mutating func advance(past record: InputRecord) -> Bool {
    records += 1
    guard let end = remaining[record.topic], record.offset >= end else { return false }
    remaining[record.topic] = nil
    return true
  }
}

/// The handovers of former owners of a task, by effect, until the task has used them. Positions name their places in the input, so that a
/// restart finds them although it begins after them.
struct KeptHandovers {
  private struct Entry {
    var offset: Int64
    /// Until when the handover may be needed, by the wall clock.
    var until: Milliseconds
    /// Whether it has a reply that ends the effect.
    var decides: Bool
  }

  private var entries: [RowKey: Entry] = [:]

  /// Adds the handover at an offset. It replaces an earlier one of the same effect that does not end the effect.
  mutating func add(_ effect: RowKey, at offset: Int64, until: Milliseconds, decides: Bool) {
    if let known = entries[effect], known.offset > offset || (known.decides && !decides) { return }
    entries[effect] = Entry(offset: offset, until: until, decides: decides)
  }

  /// Removes the handover of an effect to which the task has processed a reply. If the reply does not end the effect (`decides`), a
  /// handover that does is kept.
  mutating func remove(_ effect: RowKey, decides: Bool) {
    if let entry = entries[effect], decides || !entry.decides { entries[effect] = nil }
  }

  /// The offsets of the handovers that may be needed. Absent if none is needed.
  mutating func range(at now: Milliseconds) -> HandoverRange? {
    guard !entries.isEmpty else { return nil }
    entries = entries.filter { now < $0.value.until }
    var range: HandoverRange?
    for entry in entries.values {
      let (from, to) = (range?.from ?? entry.offset, range?.to ?? entry.offset + 1)
      range = HandoverRange(from: min(from, entry.offset), to: max(to, entry.offset + 1))
    }
    return range
  }
}

extension Span {
  /// The span of a record's processing, from its step to the commit of its outputs. Attributes follow OpenTelemetry's messaging
  /// conventions.
  static func processing(
    _ record: InputRecord, _ trace: (span: TraceContext, parent: UInt64), from start: UInt64, stage: String,
    group: String, refusal: DeadLetterCode?
  ) -> Span {
    var attributes: [(name: String, value: Value)] = [
      ("messaging.system", .string("kafka")), ("messaging.operation.name", .string("process")),
      ("messaging.operation.type", .string("process")), ("messaging.consumer.group.name", .string(group)),
      ("messaging.destination.name", .string(record.topicName)),
      ("messaging.destination.partition.id", .string(String(record.partition))),
      ("messaging.kafka.offset", .int(record.offset)), ("nudge.stage", .string(stage)),
    ]
    if let replay = record.header(RecordHeader.replayId), replay.count <= SchemaLimits.idBytes {
      attributes.append(("nudge.replay.id", .string(String(decoding: replay, as: UTF8.self))))
    }
    return Span(
      trace.span, parent: trace.parent, name: "process \(record.topicName)", kind: .consumer, start: start, end: start,
      attributes: attributes, failure: refusal?.rawValue)
  }
}
