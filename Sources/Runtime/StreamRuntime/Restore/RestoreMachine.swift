import NudgeSchema

/// The decisions of one task's restore, apart from the I/O: what to do next, from what was learnt.
///
/// The order matters. First the group's committed offsets, and again while a former owner's transaction on them is
/// pending: once they are stable, every transaction of the former owner is decided. Then the high watermark: all that was
/// written up to then lies before it. Then the changelog until the last stable offset has passed that mark: the former
/// owner's marker may arrive after the offsets'. Only then is the position judged.
struct RestoreMachine {
  /// What the caller must do.
  enum Action: Equatable {
    /// Ask for the committed offsets, not before this time of the steady clock.
    case askCommitted(notBefore: Milliseconds)
    /// Ask for the changelog's ends.
    case askEnds
    /// Read the changelog from an offset; the store is to be wiped first where it says so.
    case read(from: Int64, wipe: WipeReason?)
    /// Go on reading.
    case readOn
    /// The task can run.
    case finish(Finding)
    /// The changelog has no position but the group has offsets: state was lost. An operator decides.
    case stateLost
  }

  /// Why a store is of no use.
  enum WipeReason: String, Equatable {
    /// It holds transactions that the group or the changelog do not know.
    case ahead
    /// The changelog begins behind its position, or tombstones it lacks may be gone.
    case tooOld
    /// It belongs to a changelog that was lost: this one has another history.
    case otherHistory
  }

  /// What a finished restore found.
  enum Finding: Equatable {
    /// A task that never ran: it begins at its inputs' first offsets.
    case fresh
    /// The position to go on from, and whether the group's offsets say something else.
    case position(PositionRecord, moved: Bool)
  }

  /// How long to wait before asking for unstable offsets again.
  static let unstableRetry: Milliseconds = 50

  private let task: Int32
  private var store: StoreHeader?
  private let maxStoreAge: Milliseconds
  private var committed: [CommittedInput] = []
  private var start: Int64 = 0
  private var target: Int64 = 0

  /// A restore. `maxStoreAge`: a store older than this may lack tombstones that compaction has removed.
  init(task: Int32, maxStoreAge: Milliseconds) {
    self.task = task
    self.maxStoreAge = maxStoreAge
  }

  /// The sequence the group's offsets were committed with.
  private var committedSequence: Int64? {
    committed.compactMap { PositionRecord.sequence(inMetadata: $0.metadata) }.max()
  }

  /// The committed offsets were asked for.
  mutating func committed(_ result: Result<[CommittedInput], IOFailure>, steadyNow: Milliseconds) -> Action {
    switch result {
    case .success(let offsets):
      committed = offsets.filter { $0.task == task }
      return .askEnds
    case .failure:
      return .askCommitted(notBefore: steadyNow + Self.unstableRetry)
    }
  }

  /// The changelog's ends were asked for, after the committed offsets were stable. `store`: how far the store is now, which
  /// may be what an earlier reading of this restore has written. Reading must not begin before that: it would put older rows
  /// over later ones.
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
    // The position record the store was written at is read again: it shows that this is the log the store is of.
    return .read(from: max(store.changelogOffset - 1, ends.start), wipe: nil)
  }

  /// Everything before an offset has been read, and it is the last stable offset. `continuesStore`: what was read goes on
  /// from where the store is.
  mutating func reached(_ offset: Int64, position: PositionRecord?, continuesStore: Bool) -> Action {
    guard offset >= target else { return .readOn }
    guard store == nil || continuesStore else {
      store = nil
      return .read(from: start, wipe: .otherHistory)
    }
    guard let position else {
      return committed.allSatisfy { $0.offset == nil } ? .finish(.fresh) : .stateLost
    }
    // In a rebuild the offsets say what was processed before the loss.
    let moved =
      position.rebuildTo == nil
      && committed.contains { input in
        guard let offset = input.offset else { return false }
        return offset != position.next(input.topic)
      }
    return .finish(.position(position, moved: moved))
  }
}
