import NudgeSchema

/// A task while it runs: its rows, what it has done since its last commit, and where it stands.
final class StreamTask<S: Stage, Store: TaskStore> {
  let number: Int32
  /// Tells this life of the task from a former one of the same number.
  let life: Int
  let store: Store
  let step: Step<S>

  /// The last committed position; sequence 0 is none.
  private(set) var position: PositionRecord
  /// Behind the last position record known in the changelog.
  private(set) var changelogOffset: Int64
  /// The next offset of each input, after all that was processed.
  private(set) var next: [Topic: Int64]

  /// Outputs since the last commit, in order.
  private(set) var outputs: [OutputRecord] = []
  private(set) var outputBytes = 0
  /// Records processed since the last commit.
  private(set) var records = 0
  /// Something was done since the last commit: a record, a reply, a row to be written again.
  private(set) var isDirty = false
  /// The rows of a transaction that is being committed, encoded once for all attempts.
  private var preparedChanges: [(key: RowKey, bytes: [UInt8]?)]?

  /// Effects asked for and not handed on yet.
  var waitingEffects: [S.Effect] = []
  /// Effects handed on whose replies have not come.
  var effectsUnderWay = 0
  /// When the stage wants to be woken, by the wall clock.
  var wakeAt: Milliseconds?
  /// Since when committed rows wait for the store, by the steady clock.
  var unstoredSince: Milliseconds?

  init(
    number: Int32, life: Int, store: Store, step: Step<S>, position: PositionRecord?, next: [Topic: Int64],
    changelogOffset: Int64
  ) {
    self.number = number
    self.life = life
    self.store = store
    self.step = step
    self.position = position ?? PositionRecord(sequence: 0, next: [:], writer: "")
    self.next = next
    self.changelogOffset = changelogOffset
  }

  /// A step has ended well: takes what it left.
  func finish(record: InputRecord?) {
    outputs += step.outputs
    for output in step.outputs { outputBytes += output.size }
    if step.hasEffects { waitingEffects += step.effects }
    if let wake = step.takeWake() { wakeAt = min(wakeAt ?? .max, wake) }
    if let record {
      next[record.topic] = record.offset + 1
      records += 1
      isDirty = true
    } else if !step.outputs.isEmpty || step.hasUncommitted {
      isDirty = true
    }
  }

  /// Adds a record of the runtime's own: a dead letter, a timer that is due.
  func add(_ output: OutputRecord) {
    outputs.append(output)
    outputBytes += output.size
    isDirty = true
  }

  /// The changelog ends in rows that do not count: the next transaction writes them again as they are.
  func rewrite(_ keys: [RowKey]) throws {
    guard !keys.isEmpty else { return }
    for key in keys {
      if TimerKey.isTimer(key) { try step.timers.rewrite(key) } else { try step.table.rewrite(key) }
    }
    preparedChanges = nil
    isDirty = true
  }

  // MARK: Transactions

  /// The rows to be written, the same for every attempt.
  func changes() throws -> [(key: RowKey, bytes: [UInt8]?)] {
    if let preparedChanges { return preparedChanges }
    var changes = try step.table.changes()
    changes += step.timers.changes()
    preparedChanges = changes
    return changes
  }

  /// The position record of the transaction under way.
  func nextPosition(writer: String) -> PositionRecord {
    PositionRecord(
      sequence: position.sequence + 1,
      next: Dictionary(uniqueKeysWithValues: next.map { ($0.key.rawValue, $0.value) }), writer: writer)
  }

  /// The offsets to commit with a position's sequence.
  func offsets(_ position: PositionRecord) -> [CommittedInput] {
    next.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      CommittedInput(topic: $0.key, task: number, offset: $0.value, metadata: position.offsetMetadata)
    }
  }

  /// The transaction has committed. `offset`: behind its position record, where known.
  func committed(_ position: PositionRecord, changelogOffset offset: Int64?, steadyNow: Milliseconds) throws {
    step.table.committed(try changes())
    step.timers.committed()
    preparedChanges = nil
    self.position = position
    if let offset { changelogOffset = offset }
    outputs.removeAll(keepingCapacity: true)
    outputBytes = 0
    records = 0
    isDirty = false
    if unstoredSince == nil && unstoredCount > 0 { unstoredSince = steadyNow }
  }

  // MARK: Store

  /// Committed rows the store lacks.
  var unstoredCount: Int { step.table.unstoredCount + step.timers.unstoredCount }

  /// Writes what is committed to the store. Only while nothing is uncommitted: the store may lag, never lead.
  func flushStore(wallNow: Milliseconds) throws -> Int {
    guard !step.hasUncommitted else { return 0 }
    // Timers come before all other rows.
    let rows = step.timers.unstoredRows() + step.table.unstored()
    guard !rows.isEmpty || store.header?.position != position else { return 0 }
    guard position.sequence > 0 else { return 0 }
    try store.apply(
      rows, header: StoreHeader(position: position, changelogOffset: changelogOffset, storedAt: wallNow))
    step.table.stored()
    step.timers.stored()
    unstoredSince = nil
    return rows.count
  }
}
