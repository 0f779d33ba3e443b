/// Encoded rows in memory, in place of a store file: for tests, simulation and `StageDriver`.
final class MemoryRowStore: RowStore {
  private(set) var rows: [RowKey: [UInt8]] = [:]
  /// The keys in order; nil: keys were added or removed since they were sorted.
  private var sorted: [RowKey]?
  /// Rows that were read by their keys, absent ones included, and the bytes of keys and rows.
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
