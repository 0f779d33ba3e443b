import NudgeSchema

/// Decides about the restore of one task, without I/O.
///
/// The order matters. First the restore reads the group's committed offsets until they are stable. From then on every transaction of the
/// former owner is decided. Next it reads the changelog's high watermark, which is past everything written so far. Then it reads the
/// changelog until the last stable offset has reached that watermark, because the changelog's markers may arrive later than those of the
/// offsets. Only then is the last position final.
struct RestoreMachine {
  /// The caller's next action.
  enum Action: Equatable {
    /// Request the committed offsets, not before this time of the steady clock.
    case askCommitted(notBefore: Milliseconds)
    /// Request the changelog's ends.
    case askEnds
    /// Read the changelog from an offset, after wiping the store if there is a reason.
    case read(from: Int64, wipe: WipeReason?)
    /// Continue reading.
    case readOn
    /// The task can run.
    case finish(Finding)
    /// The group has offsets, but the changelog has no position. An operator decides.
    case stateLost
  }

  /// Why a store must be wiped.
  enum WipeReason: String, Equatable {
    /// It has transactions that the group or the changelog lacks.
    case ahead
    /// The changelog begins after the store's position, or compaction may have removed tombstones that the store lacks.
    case tooOld
    /// It belongs to a changelog that was lost. The present one has another history.
    case otherHistory
  }

  /// The result of a finished restore.
  enum Finding: Equatable {
    /// The task never ran. It starts at its inputs' first offsets.
    case fresh
    /// The position to continue from, and whether the group's offsets differ from it.
    case position(PositionRecord, moved: Bool)
  }

  /// How long to wait before unstable offsets are requested again, in milliseconds.
  static let unstableRetry: Milliseconds = 50

  private let task: Int32
  private var store: StoreHeader?
  private let maxStoreAge: Milliseconds
  private var committed: [CommittedInput] = []
  private var start: Int64 = 0
  private var target: Int64 = 0

  /// - Parameter maxStoreAge: The age in milliseconds above which a store may lack tombstones that compaction has removed.
  init(task: Int32, maxStoreAge: Milliseconds) {
    self.task = task
    self.maxStoreAge = maxStoreAge
  }

  /// The number of the task's last transaction, by the metadata of the group's offsets. Absent if no offset has it.
  private var committedSequence: Int64? {
    committed.compactMap { PositionRecord.sequence(inMetadata: $0.metadata) }.max()
  }

  /// Takes the result of a request for the committed offsets.
  mutating func committed(_ result: Result<[CommittedInput], IOFailure>, steadyNow: Milliseconds) -> Action {
    switch result {
    case .success(let offsets):
      committed = offsets.filter { $0.task == task }
      return .askEnds
    case .failure:
      return .askCommitted(notBefore: steadyNow + Self.unstableRetry)
    }
  }

  /// Takes the changelog's ends, which were requested after the committed offsets were stable.
  /// - Parameter store: The store's current header, which this restore may have written itself. Reading from an earlier offset would
  ///   overwrite later rows with older ones.
  mutating func ends(_ ends: LogEnds, store: StoreHeader?, wallNow: Milliseconds) -> Action {
    self.store = store
    start = ends.start
    target = ends.high
    guard let store else { return .read(from: ends.start, wipe: nil) }
    if store.changelogOffset > ends.high { return .read(from: ends.start, wipe: .ahead) }
    if let committedSequence, store.position.sequence > committedSequence {
      return .read(from: ends.start, wipe: .ahead)
    }
    if store.changelogOffset < ends.start || wallNow - store.storedAt > maxStoreAge {
      return .read(from: ends.start, wipe: .tooOld)
    }
    // The store's position record is read again, because it shows whether the store belongs to this changelog.
    return .read(from: max(store.changelogOffset - 1, ends.start), wipe: nil)
  }

  /// Takes the last stable offset, once all records before it have been read.
  /// - Parameter continuesStore: Whether the changelog continues from the store's position.
  mutating func reached(_ offset: Int64, position: PositionRecord?, continuesStore: Bool) -> Action {
    guard offset >= target else { return .readOn }
    guard store == nil || continuesStore else {
      store = nil
      return .read(from: start, wipe: .otherHistory)
    }
    guard let position else {
      return committed.allSatisfy { $0.offset == nil } ? .finish(.fresh) : .stateLost
    }
    // During a rebuild the offsets stay at their values from before the loss.
    let moved =
      position.rebuildTo == nil
      && committed.contains { input in
        guard let offset = input.offset else { return false }
        return offset != position.next(input.topic)
      }
    return .finish(.position(position, moved: moved))
  }
}

/// Rows read from a task's changelog that the store does not have yet, and the last position record.
///
/// A restore reads only committed records, and a transaction is committed as a whole, so every row is valid. Rows after the last position
/// record belong to a transaction whose position record is still to be read.
struct ChangelogRows {
  private struct Row {
    var key: RowKey
    var bytes: [UInt8]?

    /// The estimated size in memory: key, value, and the overhead of two arrays.
    var size: Int { key.bytes.count + (bytes?.count ?? 0) + 96 }
  }

  private(set) var position: PositionRecord?
  /// The offset after the last position record.
  private(set) var offsetBehindPosition: Int64
  /// Rows in the order of the log. Most keys occur once, so sorting them later is cheaper than hashing.
  private var rows: [Row] = []
  /// The estimated size of the rows.
  private(set) var bytes = 0
  private let coder: RecordCoder
  /// The history of the position known before, which is itself optional. Absent without such a position.
  private let knownHistory: String??
  private var hasReadPosition = false

  /// Starts after a known position, or at the start of the log.
  /// - Parameter offset: the offset after the known position.
  init(after position: PositionRecord?, offset: Int64, coder: RecordCoder) {
    self.position = position
    self.offsetBehindPosition = offset
    self.coder = coder
    knownHistory = position.map(\.history)
  }

  /// Whether the changelog continues from the position known before: it has that position or a later one, and the last one has the same
  /// history. True if no position was known.
  var continuesKnown: Bool {
    guard let knownHistory else { return true }
    return hasReadPosition && position?.history == knownHistory
  }

  /// Reads the next record.
  /// - Throws: `StoreFailure`, which ends the thread, for an unreadable position record.
  mutating func read(offset: Int64, key: RowKey, bytes: [UInt8]?) throws {
    guard key == PositionRecord.key else {
      let row = Row(key: key, bytes: bytes)
      rows.append(row)
      self.bytes += row.size
      return
    }
    position = try PositionRecord(bytes, offset: offset, coder: coder)
    offsetBehindPosition = offset + 1
    hasReadPosition = true
  }

  /// Removes and returns the rows read so far: the last value of each key, in key order.
  mutating func take() -> [(key: RowKey, bytes: [UInt8]?)] {
    var order = Array(rows.indices)
    order.sort { rows[$0].key == rows[$1].key ? $0 < $1 : rows[$0].key < rows[$1].key }
    var last: [(key: RowKey, bytes: [UInt8]?)] = []
    last.reserveCapacity(rows.count)
    for (place, index) in order.enumerated() {
      if place + 1 < order.count, rows[order[place + 1]].key == rows[index].key { continue }
      last.append((rows[index].key, rows[index].bytes))
    }
    rows.removeAll(keepingCapacity: true)
    bytes = 0
    return last
  }
}
