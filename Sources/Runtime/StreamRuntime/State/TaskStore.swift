import NudgeSchema

/// A task's store: its rows at a position of the changelog, and that position. Each write is atomic. The store is never ahead of Kafka.
protocol TaskStore: RowStore {
  /// The position of the store. The store has all rows up to there, and perhaps later ones that are in the changelog. Absent if the store
  /// is empty or has an unfinished restore, which is removed when the store is opened.
  var header: StoreHeader? { get }
  /// Writes rows in key order (absent bytes remove the row) and moves the store to a position. Without a header the position stays.
  func apply(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure)
  /// Writes as `apply`, but may return earlier. The next use of the store waits for the write and throws its failure. Closing the store
  /// ignores the failure: the store then lags.
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
  /// When the position was the latest, by the wall clock. The store has all tombstones that compaction removed before. In an unfinished
  /// restore, the time at which the position record was written.
  var storedAt: Milliseconds
}

/// The read side of a task's store, below its `RowCache`.
protocol RowStore: AnyObject {
  /// Calls `body` with the row's bytes, if there is a row. It is not generic: the cache calls it through this protocol, and unspecialised
  /// code would cost as much as the read.
  /// - Returns: Whether there is a row.
  func read(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool
  /// Calls `body` with up to `limit` rows of a range of keys, in key order.
  func rows(
    from first: RowKey, to end: RowKey, limit: Int, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void) throws
  /// Marks the store as perhaps damaged: a row's bytes could not be decoded.
  func suspectDamage()
}

extension RowStore {
  /// Does nothing, because the store is not a file.
  func suspectDamage() {}

  /// Calls `body` with the row's bytes. Returns nil if there is no row.
  func withRow<Result>(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
    var result: Result?
    _ = try read(key) { result = try body($0) }
    return result
  }

  /// Calls `body` with each row below a prefix, in key order.
  func scan(below prefix: RowKey, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void) throws {
    try rows(from: RowKey(bytes: prefix.bytes + [0]), to: RowKey(bytes: prefix.bytes + [1]), limit: .max, body)
  }
}

/// Encoded rows in memory in place of a store file, for tests, simulation and `StageDriver`.
final class MemoryRowStore: RowStore {
  private(set) var rows: [RowKey: [UInt8]] = [:]
  /// The keys in order. Absent if keys were added or removed since they were sorted.
  private var sorted: [RowKey]?
  /// The number of rows that were read by their keys, absent rows included, and the bytes of keys and rows.
  private(set) var reads = (rows: 0, bytes: 0)

  func read(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
    let bytes = rows[key]
    reads.rows += 1
    reads.bytes += key.bytes.count + (bytes?.count ?? 0)
    guard let bytes else { return false }
    try bytes.withUnsafeBytes { try body($0) }
    return true
  }

  func rows(
    from first: RowKey, to end: RowKey, limit: Int, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let keys = sorted ?? rows.keys.sorted()
    sorted = keys
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < first { low = middle + 1 } else { high = middle }
    }
    for key in keys[low...].prefix(limit) {
      guard key < end else { break }
      try rows[key]?.withUnsafeBytes { try body(key, $0) }
    }
  }

  func apply(_ changes: [(key: RowKey, bytes: [UInt8]?)]) {
    for (key, bytes) in changes {
      let count = rows.count
      rows[key] = bytes
      if rows.count != count { sorted = nil }
    }
  }
}
