/// Encoded rows in memory: what a store file is to a task, for tests, simulation and stages run apart from Kafka.
final class MemoryRowStore: RowStore {
  private(set) var rows: [RowKey: [UInt8]] = [:]

  func withRow<Result>(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
    guard let bytes = rows[key] else { return nil }
    return try bytes.withUnsafeBytes { try body($0) }
  }

  func rows(
    from first: RowKey, to end: RowKey, limit: Int, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let found = rows.keys.filter { $0 >= first && $0 < end }.sorted()
    for key in found.prefix(limit) { try rows[key]?.withUnsafeBytes { try body(key, $0) } }
  }

  func apply(_ changes: [(key: RowKey, bytes: [UInt8]?)]) {
    for (key, bytes) in changes { rows[key] = bytes }
  }
}
