import NudgeSchema

/// A row's place in memory. What does not depend on the row's type is here, outside generics: a stage lives in a module of
/// its own, so generic code runs unspecialised, and copying a value of unknown type costs ten times what moving a pointer
/// does.
class RowSlot {
  let key: RowKey
  /// About what the row takes in memory.
  final var bytes: Int
  /// Changed since the last commit.
  final var isUncommitted = false
  /// Committed, but not in the store yet.
  final var isUnstored = false
  /// Changed by the step under way: the row before is kept.
  final var isInJournal = false
  fileprivate final var wasUncommitted = false
  /// The changelog may hold a value of this key: a removal must be written as a tombstone.
  final var isInChangelog: Bool
  /// Used since the sweep that evicts last passed.
  final var isUsed = true
  /// What was committed last, for the store; only while `isUnstored`. nil: removed.
  final var committed: [UInt8]?

  fileprivate init(key: RowKey, bytes: Int, isInChangelog: Bool) {
    self.key = key
    self.bytes = bytes
    self.isInChangelog = isInChangelog
  }

  /// The row as bytes; nil where there is none.
  func encoded(coder: RecordCoder) throws -> [UInt8]? { nil }

  /// Keeps the row as it is, for `undo`.
  fileprivate func remember() {
    isInJournal = true
    wasUncommitted = isUncommitted
  }

  /// The row as remembered.
  func undo() { isUncommitted = wasUncommitted }

  /// What was remembered counts no more.
  func forget() { isInJournal = false }
}

/// The place of a row of a stage.
final class TypedRowSlot<Row: StateRow>: RowSlot {
  /// nil: there is no such row.
  private(set) var row: Row?
  private var before: Row?

  init(key: RowKey, row: Row?, bytes: Int, isInChangelog: Bool) {
    self.row = row
    super.init(key: key, bytes: bytes, isInChangelog: isInChangelog)
  }

  /// Replaces the row; `undo` brings back the one before the step.
  func set(_ row: Row?) {
    if !isInJournal { remember() }
    self.row = row
  }

  override func encoded(coder: RecordCoder) throws -> [UInt8]? { try row?.encoded(coder: coder) }

  override func remember() {
    before = row
    super.remember()
  }

  override func undo() {
    row = before
    super.undo()
  }

  override func forget() {
    before = nil
    super.forget()
  }
}
