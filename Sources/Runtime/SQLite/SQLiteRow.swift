import CSQLite

/// The row a statement stands on. It cannot be copied, so it does not outlive the closure it is lent to.
///
/// Columns count from 0. An accessor throws where the column holds another type (or NULL, or does not exist), since
/// SQLite would otherwise turn the value into zero or an empty text without a word.
public struct SQLiteRow: ~Copyable {
  private let pointer: OpaquePointer
  private let statement: SQLiteStatement
  private let handle: SQLiteDatabaseHandle

  init(_ pointer: OpaquePointer, of statement: SQLiteStatement, on handle: SQLiteDatabaseHandle) {
    self.pointer = pointer
    self.statement = statement
    self.handle = handle
  }

  /// Whether the column is NULL, or does not exist.
  public func isNull(_ column: Int) -> Bool {
    sqlite3_column_type(pointer, Int32(clamping: column)) == SQLITE_NULL
  }

  public func int64(_ column: Int) throws(SQLiteError) -> Int64 {
    sqlite3_column_int64(pointer, try check(column, SQLITE_INTEGER, "an integer"))
  }

  public func double(_ column: Int) throws(SQLiteError) -> Double {
    sqlite3_column_double(pointer, try check(column, SQLITE_FLOAT, "a real number"))
  }

  public func string(_ column: Int) throws(SQLiteError) -> String {
    let index = try check(column, SQLITE_TEXT, "text")
    // The text before its length: asking for the length first could convert the value after it was measured.
    guard let text = sqlite3_column_text(pointer, index) else { throw outOfMemory() }
    let count = Int(sqlite3_column_bytes(pointer, index))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// A copy of a blob.
  public func bytes(_ column: Int) throws(SQLiteError) -> [UInt8] {
    let blob = try blob(column)
    return [UInt8](blob)
  }

  /// Lends a blob to `body` without a copy. The memory is SQLite's and valid only inside.
  public func withBlob<Result>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    try body(try blob(column))
  }

  private func blob(_ column: Int) throws(SQLiteError) -> UnsafeRawBufferPointer {
    let index = try check(column, SQLITE_BLOB, "a blob")
    let start = sqlite3_column_blob(pointer, index)
    let count = Int(sqlite3_column_bytes(pointer, index))
    // An empty blob has no address; an address that is missing although there are bytes means memory ran out.
    if start == nil && count > 0 { throw outOfMemory() }
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  private func check(_ column: Int, _ type: Int32, _ expected: String) throws(SQLiteError) -> Int32 {
    let index = Int32(clamping: column)
    guard sqlite3_column_type(pointer, index) == type else {
      throw SQLiteError(
        operation: "read column \(column)", extendedCode: SQLITE_MISMATCH, message: "it is not \(expected)",
        sql: statement.sql, path: handle.path)
    }
    return index
  }

  private func outOfMemory() -> SQLiteError {
    SQLiteError(
      operation: "read a column", extendedCode: SQLITE_NOMEM, message: "out of memory", sql: statement.sql,
      path: handle.path)
  }
}
