import NudgeSchema

/// An immutable box for a row of any type.
///
/// A stage is in another module, so generic code runs unspecialised, and copying a value of unknown type costs ten times a pointer. So
/// the cache moves boxes, and only `Step` opens them.
class StoredRow {
  /// The row's bytes.
  func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] { [] }
}

/// A row of a stage.
final class TypedRow<Row: StateRow>: StoredRow {
  let row: Row

  init(_ row: Row) { self.row = row }

  override func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] {
    try row.encoded(coder: coder, at: level)
  }
}

/// A row in the cache, or the fact that there is no such row.
final class CachedRow {
  let key: RowKey
  /// The key's, in the table of the cache.
  let hash: UInt64
  /// nil: there is no such row.
  private(set) var row: StoredRow?
  /// The row before the current step; only while `isInJournal`.
  private var before: StoredRow?
  /// The estimated size in memory.
  var bytes: Int
  /// Changed since the last transaction was sealed.
  var isOpen = false
  /// Part of the sealed transaction.
  var isSealed = false
  /// Committed, but not in the store yet.
  var isUnstored = false
  /// Changed by the current step: `before` is kept.
  private(set) var isInJournal = false
  private var wasOpen = false
  /// The changelog has a value of this key, or will have with the sealed transaction. Then a removal needs a tombstone.
  var isInChangelog: Bool
  /// The store has a value of this key. Where it has none, a removal is not worth writing.
  var isInStore: Bool
  /// The store lacks the current value.
  var isChanged: Bool { isOpen || isSealed || isUnstored }
  /// Used since the last eviction sweep.
  var isUsed = true
  /// The bytes committed last, for the store; only while `isUnstored`. nil: removed.
  var committed: [UInt8]?

  init(key: RowKey, hash: UInt64, row: StoredRow?, bytes: Int, isInChangelog: Bool) {
    self.key = key
    self.hash = hash
    self.row = row
    self.bytes = bytes
    self.isInChangelog = isInChangelog
    isInStore = isInChangelog
  }

  /// Replaces the row. `undo` restores the one before the step.
  func set(_ row: StoredRow?) {
    if !isInJournal {
      before = self.row
      isInJournal = true
      wasOpen = isOpen
    }
    self.row = row
  }

  /// The estimated size of a row in memory: its objects, key and dictionary entry, and its fields, which take about three times their
  /// encoded size as strings and arrays.
  static func size(encoded bytes: Int, of key: RowKey) -> Int { 300 + key.bytes.count + 3 * bytes }

  /// Restores the row from before the step.
  func undo() {
    row = before
    isOpen = wasOpen
  }

  /// Drops the row from before the step.
  func forget() {
    before = nil
    isInJournal = false
  }
}
