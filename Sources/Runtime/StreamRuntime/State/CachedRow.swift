import NudgeSchema

/// A row in memory, whatever its type; it never changes.
///
/// A stage lives in a module of its own, so generic code runs unspecialised: copying a value of unknown type costs ten
/// times what moving a pointer does. So rows travel through the table in boxes, and only `Step` looks inside.
class StoredRow {
  /// The row's bytes.
  func encoded(coder: RecordCoder) throws -> [UInt8] { [] }
}

/// A row of a stage.
final class TypedRow<Row: StateRow>: StoredRow {
  let row: Row

  init(_ row: Row) { self.row = row }

  override func encoded(coder: RecordCoder) throws -> [UInt8] { try row.encoded(coder: coder) }
}

/// A row's place in memory.
final class CachedRow {
  let key: RowKey
  /// nil: there is no such row.
  private(set) var row: StoredRow?
  /// The row before the step under way; only while `isInJournal`.
  private var before: StoredRow?
  /// About what the row takes in memory.
  var bytes: Int
  /// Changed since the last transaction was sealed.
  var isOpen = false
  /// Of a transaction that is sealed and not committed.
  var isSealed = false
  /// Committed, but not in the store yet.
  var isUnstored = false
  /// Changed by the step under way: the row before is kept.
  private(set) var isInJournal = false
  private var wasOpen = false
  /// The changelog holds a value of this key, or will with the transaction that is sealed: a removal must be written as a
  /// tombstone.
  var isInChangelog: Bool
  /// The store does not show it as it is now.
  var isChanged: Bool { isOpen || isSealed || isUnstored }
  /// Used since the sweep that evicts last passed.
  var isUsed = true
  /// What was committed last, for the store; only while `isUnstored`. nil: removed.
  var committed: [UInt8]?

  init(key: RowKey, row: StoredRow?, bytes: Int, isInChangelog: Bool) {
    self.key = key
    self.row = row
    self.bytes = bytes
    self.isInChangelog = isInChangelog
  }

  /// Replaces the row; `undo` brings back the one before the step.
  func set(_ row: StoredRow?) {
    if !isInJournal {
      before = self.row
      isInJournal = true
      wasOpen = isOpen
    }
    self.row = row
  }

  /// About what a row takes in memory: its slot, box, key and place in the table; and its fields, which as strings and
  /// arrays of their own take about three times what they do encoded.
  static func size(encoded bytes: Int, of key: RowKey) -> Int { 300 + key.bytes.count + 3 * bytes }

  /// The row before the step again.
  func undo() {
    row = before
    isOpen = wasOpen
  }

  /// The row before the step counts no more.
  func forget() {
    before = nil
    isInJournal = false
  }
}
