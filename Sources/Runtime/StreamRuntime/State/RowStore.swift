import NudgeSchema

/// The read side of a task's store, below its `RowCache`.
protocol RowStore: AnyObject {
  /// Calls `body` with the row's bytes, if there is a row. Not generic: the cache calls it through this protocol, and unspecialised
  /// code costs as much as the read.
  /// - Returns: Whether there is a row.
  func read(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool
  /// Calls `body` with up to `limit` rows from a key up to another, in key order.
  func rows(
    from first: RowKey, to end: RowKey, limit: Int, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void) throws
  /// Marks the store as perhaps damaged: a row's bytes could not be decoded.
  func suspectDamage()
}

extension RowStore {
  /// Does nothing: the store is no file.
  func suspectDamage() {}

  /// Calls `body` with the row's bytes; nil: there is no row.
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
