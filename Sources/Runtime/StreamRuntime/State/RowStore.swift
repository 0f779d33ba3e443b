import NudgeSchema

/// What lies below a task's rows in memory: a read-only view of the store.
protocol RowStore: AnyObject {
  /// The row's bytes; nil where there is none.
  func withRow<Result>(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result?
  /// Calls `body` with the first rows from a key on and before another, in key order.
  func rows(
    from first: RowKey, to end: RowKey, limit: Int, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void) throws
  /// Notes that a row's bytes could not be decoded.
  func suspectDamage()
}

extension RowStore {
  /// Notes nothing: the store is no file.
  func suspectDamage() {}

  /// Calls `body` with each row below a prefix, in key order.
  func scan(below prefix: RowKey, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void) throws {
    try rows(from: RowKey(bytes: prefix.bytes + [0]), to: RowKey(bytes: prefix.bytes + [1]), limit: .max, body)
  }
}
