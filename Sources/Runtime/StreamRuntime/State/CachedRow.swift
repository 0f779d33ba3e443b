import NudgeSchema

/// An immutable box for a row of any type.
///
/// A stage is in another module, so generic code runs unspecialised, and copying a value of unknown type costs ten times as much as copying
/// a pointer. The cache therefore moves boxes, and only `Step` opens them.
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
  /// The hash of the key in the cache's table.
  let hash: UInt64
  /// The row. Absent if there is no such row.
  private(set) var row: StoredRow?
  /// The row before the current step. Only kept while `isInJournal`.
  private var before: StoredRow?
  /// The estimated size in memory.
  var bytes: Int
  /// Whether it was changed since the last transaction was sealed.
  var isOpen = false
  /// Whether it is part of the sealed transaction.
  var isSealed = false
  /// Whether it is committed but not in the store yet.
  var isUnstored = false
  /// Whether the current step has changed it: `before` is kept.
  private(set) var isInJournal = false
  private var wasOpen = false
  /// Whether the changelog has a value of this key, or will have one with the sealed transaction. A removal then needs a tombstone.
  var isInChangelog: Bool
  /// Whether the store has a value of this key. If not, a removal need not be written.
  var isInStore: Bool
  /// Whether the store lacks the current value.
  var isChanged: Bool { isOpen || isSealed || isUnstored }
  /// Whether it was used since the last eviction sweep.
  var isUsed = true
  /// The bytes committed last, for the store, only while `isUnstored`. Absent for a removed row.
  var committed: [UInt8]?

  init(key: RowKey, hash: UInt64, row: StoredRow?, bytes: Int, isInChangelog: Bool) {
    self.key = key
    self.hash = hash
    self.row = row
    self.bytes = bytes
    self.isInChangelog = isInChangelog
    isInStore = isInChangelog
  }

  /// Replaces the row. `undo` restores the row from before the step.
  func set(_ row: StoredRow?) {
    if !isInJournal {
      before = self.row
      isInJournal = true
      wasOpen = isOpen
    }
    self.row = row
  }

  /// The estimated size of a row in memory: its objects, key and dictionary entry, and its fields, whose strings and arrays take about
  /// three times their encoded size.
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
