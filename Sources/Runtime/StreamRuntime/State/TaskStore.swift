import NudgeSchema

/// A task's store: the rows as of one position of the changelog, and that position. Written in steps that are whole or
/// not at all, never ahead of Kafka.
protocol TaskStore: RowStore {
  /// What the store holds: all up to its position, and perhaps rows of later ones, which are in the changelog. nil: nothing,
  /// or a part of a restore; such a store is empty when it is opened.
  var header: StoreHeader? { get }
  /// Adds rows (nil removes), in key order, and moves the store to a position; nil: to none yet.
  func apply(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure)
  /// The same, and may return before it is done: whatever is asked of the store next waits for it, and throws where it
  /// failed. Closing it does not throw then; the store lags.
  func applyLater(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure)
  /// Forgets everything.
  func wipe() throws(StoreFailure)
  /// Closes the file.
  func close()
}

extension TaskStore {
  func applyLater(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure) {
    try apply(rows, header: header)
  }
}

/// Which position of the changelog a store is at.
struct StoreHeader: Codable, Equatable {
  /// The position whose rows it holds.
  var position: PositionRecord
  /// Where to read on in the changelog; what lies before it is in the store.
  var changelogOffset: Int64
  /// When its position was the last, by the wall clock: nothing that was compacted away before is missing in it. Where it
  /// was not the last, because a restore was not finished, when it was written.
  var storedAt: Milliseconds
}
