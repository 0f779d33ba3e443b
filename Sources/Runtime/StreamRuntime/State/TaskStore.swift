import NudgeSchema

/// A task's store: rows as of a position of the changelog, and that position. Each write is atomic, and the store never leads Kafka.
protocol TaskStore: RowStore {
  /// The position of the store. It has all rows up to there, and perhaps later ones that are in the changelog. nil: it is empty, or
  /// an unfinished restore, which is emptied when it is opened.
  var header: StoreHeader? { get }
  /// Writes rows in key order (nil removes) and moves the store to a position. With a nil header the position stays.
  func apply(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure)
  /// As `apply`, and may return earlier. The next use of the store waits for the write, and throws its failure. Closing drops the
  /// failure: the store lags.
  func applyLater(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure)
  /// Removes all rows and the position.
  func wipe() throws(StoreFailure)
  /// Closes the file.
  func close()
}

extension TaskStore {
  func applyLater(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure) {
    try apply(rows, header: header)
  }
}

/// The position of a store.
struct StoreHeader: Codable, Equatable {
  /// The position record whose rows the store has.
  var position: PositionRecord
  /// The changelog offset to continue from.
  var changelogOffset: Int64
  /// When the position was the latest, by the wall clock. Tombstones that compaction removed before are in the store. In an
  /// unfinished restore: when the position record was written.
  var storedAt: Milliseconds
}
