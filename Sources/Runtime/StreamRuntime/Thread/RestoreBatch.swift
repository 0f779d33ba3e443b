import NudgeSchema

/// The concurrent restore of the tasks of an assignment. It works in bounded pieces, so that the thread can poll its group in between.
final class RestoreBatch<Store: TaskStore> {
  /// A task that can run.
  struct Restored {
    var store: Store
    /// The task's position. Absent if the task never ran.
    var position: PositionRecord?
    /// Whether the group's committed offsets differ from the position.
    var moved: Bool
    /// The offset after the position record.
    var changelogOffset: Int64
    /// The number of changelog records read.
    var rows: Int
  }

  /// The end of a task's restore.
  enum Result {
    case restored(Restored)
    case stateLost(Store)
  }

  /// A task that is being restored. It is a class, because it changes with every record.
  private final class Entry {
    var store: Store
    var machine: RestoreMachine
    var changelog: ChangelogRows
    var target: Int64 = 0
    var rows = 0
    /// The last stable offset that was reached.
    var stable: Int64 = 0
    /// When the last position record was written, by the wall clock.
    var positionTime: Milliseconds = 0
    var action: RestoreMachine.Action = .askCommitted(notBefore: 0)
    var isDone = false

    init(store: Store, machine: RestoreMachine, changelog: ChangelogRows) {
      self.store = store
      self.machine = machine
      self.changelog = changelog
    }
  }

  private enum Phase {
    case committedOffsets(notBefore: Milliseconds)
    case ends
    case reading
  }

  /// When the restore began, by the steady clock.
  let startedAt: Milliseconds
  private let limits: StreamLimits
  private let coder: RecordCoder
  private var entries: [Int32: Entry] = [:]
  private var phase = Phase.committedOffsets(notBefore: 0)
  private var reportedAt: Milliseconds
  /// The time of the last progress, by the steady clock, and what the restore waits for.
  private(set) var progressAt: Milliseconds
  private(set) var waitsFor = "the group's committed offsets"
  /// The estimated size of the rows that wait for their stores, of all tasks.
  private var waitingBytes = 0

  init(stores: [Int32: Store], limits: StreamLimits, coder: RecordCoder, startedAt: Milliseconds) {
    self.limits = limits
    self.coder = coder
    self.startedAt = startedAt
    reportedAt = startedAt
    progressAt = startedAt
    for (number, store) in stores {
      entries[number] = Entry(
        store: store,
        machine: RestoreMachine(task: number, maxStoreAge: limits.maxStoreAge),
        changelog: ChangelogRows(after: nil, offset: 0, coder: coder))
    }
  }

  /// Ends the restore, because the tasks are no longer this thread's.
  func abandon() {
    for entry in entries.values { entry.store.close() }
    entries = [:]
  }

  /// Whether all tasks were taken.
  var isOver: Bool { entries.isEmpty }

  /// Handles that the changelog consumer was used for other reads: unfinished changelogs are read again from their stores' offsets.
  func interrupted() {
    if case .reading = phase { phase = .ends }
  }

  /// Removes tasks whose results were used.
  func take(_ numbers: some Sequence<Int32>) {
    for number in numbers { entries[number] = nil }
  }

  /// Does a bounded piece of work. Returns the results of finished tasks.
  /// - Throws: A retriable `IOFailure`. `StoreFailure`, which ends the thread.
  func advance(on io: some StreamIO, observe: (StreamEvent) -> Void) throws -> [Int32: Result] {
    switch phase {
    case .committedOffsets(let notBefore):
      let wait = notBefore - io.steadyClock
      if wait > 0 { io.idle(atMost: wait) }
      askCommitted(on: io, observe: observe)
    case .ends: try askEnds(on: io, observe: observe)
    case .reading: try read(on: io, observe: observe)
    }
    return try entries.filter(\.value.isDone).mapValues(result)
  }

  private func askCommitted(on io: some StreamIO, observe: (StreamEvent) -> Void) {
    let answer: Swift.Result<[CommittedInput], IOFailure>
    do throws(IOFailure) {
      answer = .success(try io.committedOffsets(of: entries.keys.sorted()))
    } catch {
      answer = .failure(error)
      observe(.retrying(reason: error.description))
    }
    phase = .ends
    for number in entries.keys {
      guard let action = entries[number]?.machine.committed(answer, steadyNow: io.steadyClock) else { continue }
      if case .askCommitted(let notBefore) = action { phase = .committedOffsets(notBefore: notBefore) }
    }
  }

  private func askEnds(on io: some StreamIO, observe: (StreamEvent) -> Void) throws {
    var starts: [Int32: Int64] = [:]
    for number in entries.keys.sorted() {
      guard let entry = entries[number], !entry.isDone else { continue }
      let ends = try io.changelogEnds(of: number)
      entry.target = ends.high
      if case .read(let from, let wipe) = entry.machine.ends(ends, store: entry.store.header, wallNow: io.wallClock) {
        if let wipe {
          observe(.storeWiped(task: number, reason: wipe.rawValue))
          try entry.store.wipe()
        }
        let held = entry.store.header
        waitingBytes -= entry.changelog.bytes
        entry.changelog = ChangelogRows(
          after: held?.position, offset: held?.changelogOffset ?? from, coder: coder)
        starts[number] = from
      }
    }
    try io.readChangelogs(starts)
    phase = .reading
  }

  private func read(on io: some StreamIO, observe: (StreamEvent) -> Void) throws {
    var latest: (task: Int32, offset: Int64)?
    for item in try io.pollChangelogs(timeout: 10) {
      switch item {
      case .record(let task, let offset, let timestamp, let key, let bytes):
        // A finished task may wait for the others. Records of a possible new owner are not part of its restored state, and the store must
        // not claim to have them.
        guard let entry = entries[task], !entry.isDone else { continue }
        progressAt = io.steadyClock
        entry.rows += 1
        let before = entry.changelog.bytes
        try entry.changelog.read(offset: offset, key: key, bytes: bytes)
        if key == PositionRecord.key { entry.positionTime = min(timestamp, io.wallClock) }
        waitingBytes += entry.changelog.bytes - before
        if waitingBytes >= limits.restoreBytes { try storeLargest() }
        latest = (task, offset)
      case .end(let task, let offset):
        guard let entry = entries[task] else { continue }
        guard !entry.isDone else { continue }
        entry.stable = offset
        entry.action = entry.machine.reached(
          offset, position: entry.changelog.position, continuesStore: entry.changelog.continuesKnown)
        if case .read(_, let wipe?) = entry.action {
          observe(.storeWiped(task: task, reason: wipe.rawValue))
          try entry.store.wipe()
          // All unfinished tasks are restarted, because the consumer is assigned all changelogs at once.
          phase = .ends
        } else if entry.action == .readOn {
          waitsFor = "task \(task): its changelog is stable up to \(offset), and ends at \(entry.target)"
        } else {
          entry.isDone = true
          progressAt = io.steadyClock
          if entry.changelog.bytes > 0 { try store(entry, asOf: io.wallClock) }
        }
      }
    }
    let steady = io.steadyClock
    guard steady - reportedAt >= 2000 else { return }
    if let latest, let entry = entries[latest.task] {
      reportedAt = steady
      observe(.restoring(task: latest.task, rows: entry.rows, offset: latest.offset, target: entry.target))
    } else if let (task, entry) = entries.filter({ !$0.value.isDone && $0.value.stable > 0 }).min(by: {
      $0.key < $1.key
    }) {
      reportedAt = steady
      observe(.restoreHeld(task: task, stable: entry.stable, target: entry.target))
    }
  }

  /// Writes the rows of the task that has the most. A larger batch makes each row cheaper.
  private func storeLargest() throws {
    guard let largest = entries.values.max(by: { $0.changelog.bytes < $1.changelog.bytes }) else { return }
    // Later records are not read yet. Their tombstones may be gone when a restore continues from here.
    try store(largest, asOf: largest.positionTime)
  }

  /// Writes a task's rows to its store.
  /// - Parameter asOf: The time before which the store has everything that compaction removed.
  private func store(_ entry: Entry, asOf: Milliseconds) throws {
    waitingBytes -= entry.changelog.bytes
    // Rows may be ahead of the header, and a later restore reads them again. The old header stays until the changelog is known to continue
    // the store's, so that a later restore can notice if it does not.
    var header = entry.store.header
    if entry.changelog.continuesKnown, let position = entry.changelog.position {
      header = StoreHeader(
        position: position, changelogOffset: entry.changelog.offsetBehindPosition, storedAt: asOf)
    }
    try entry.store.applyLater(entry.changelog.take(), header: header)
  }

  private func result(_ entry: Entry) throws -> Result {
    switch entry.action {
    case .finish(.position(let position, let moved)):
      return .restored(
        Restored(
          store: entry.store, position: position, moved: moved, changelogOffset: entry.changelog.offsetBehindPosition,
          rows: entry.rows))
    case .finish(.fresh):
      return .restored(
        Restored(
          store: entry.store, position: nil, moved: false, changelogOffset: entry.changelog.offsetBehindPosition,
          rows: entry.rows))
    case .askCommitted, .askEnds, .read, .readOn, .stateLost: return .stateLost(entry.store)
    }
  }
}
