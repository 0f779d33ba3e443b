import CSQLite

/// A value bound to a `?` of a statement. It is not copied: SQLite reads it in place until the call returns.
public enum SQLiteValue {
  case null
  /// A 64-bit integer.
  case integer(Int64)
  /// A floating-point number. SQLite stores NaN as NULL.
  case real(Double)
  /// Text, as UTF-8.
  case text(String)
  case blob([UInt8])
  /// Bytes in the caller's memory, which must stay valid and unchanged until the call returns.
  case bytes(UnsafeRawBufferPointer)
}

/// A compiled statement. Each call binds all values, steps, and resets, so nothing of a call outlives it.
public final class SQLiteStatement {
  /// The SQL it was compiled from.
  public let sql: String

  private let handle: SQLiteDatabaseHandle
  private let pointer: OpaquePointer
  private let parameters: Int
  private var isRunning = false

  init(_ sql: String, on handle: SQLiteDatabaseHandle) throws(SQLiteError) {
    var pointer: OpaquePointer?
    var rest = 0
    let code = sql.withCString { text in
      var tail: UnsafePointer<CChar>?
      // PERSISTENT: the statement is kept, so its memory should not come from the small lookaside pool.
      let code = sqlite3_prepare_v3(handle.pointer, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, &tail)
      var next = tail
      while let byte = next, byte.pointee != 0 {
        if byte.pointee > 0x20 || byte.pointee < 0 { rest += 1 }
        next = byte + 1
      }
      return code
    }
    guard code == SQLITE_OK else { throw handle.error("prepare", code, sql: sql) }
    guard let pointer, rest == 0 else {
      sqlite3_finalize(pointer)
      throw handle.misuse("prepare", "the text must hold exactly one statement", sql: sql)
    }
    self.handle = handle
    self.pointer = pointer
    self.sql = sql
    parameters = Int(sqlite3_bind_parameter_count(pointer))
  }

  deinit {
    sqlite3_finalize(pointer)
  }

  /// Binds the values in order, and runs the statement to its end. Rows are discarded.
  public func run(_ values: SQLiteValue...) throws(SQLiteError) {
    try begin("run", values: values.count)
    defer { isRunning = false }
    let code = bind(values, from: 0) {
      var code: Int32
      repeat { code = sqlite3_step(pointer) } while code == SQLITE_ROW
      return code
    }
    try end("run", code)
  }

  /// Binds the values in order, and calls `body` with each row. Throw from `body` to stop early.
  ///
  /// While rows are being read, the connection holds a snapshot, which keeps the write-ahead log from being reused.
  public func rows(_ values: SQLiteValue..., body: (borrowing SQLiteRow) throws -> Void) throws {
    try read(values) { row in
      try body(row)
      return true
    }
  }

  /// Binds the values in order, and calls `body` with the first row. Returns nil if there is none.
  public func first<Result>(_ values: SQLiteValue..., body: (borrowing SQLiteRow) throws -> Result) throws -> Result? {
    var result: Result?
    try read(values) { row in
      result = try body(row)
      return false
    }
    return result
  }

  /// Binds a key, and lends the blob in the first column of the first row to `body`. It does what `first` does without allocating memory,
  /// because each record needs several reads by key.
  /// - Returns: Whether there was a row.
  /// - Throws: `SQLiteError`, also for a column that is not a blob, and errors of `body`.
  public func withBlob(forKey key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
    try begin("read", values: 1)
    defer { isRunning = false }
    var failure: (any Error)?
    var isFound = false
    let code = key.withUnsafeBytes { key in
      var code = nudge_sqlite3_bind_blob_static(pointer, 1, key.baseAddress, key.count)
      guard code == SQLITE_OK else { return code }
      code = sqlite3_step(pointer)
      guard code == SQLITE_ROW else { return code }
      isFound = true
      do {
        try SQLiteRow(pointer, of: self, on: handle).withBlob(0, body)
      } catch {
        failure = error
      }
      return code
    }
    try end("read", code)
    if let failure { throw failure }
    return isFound
  }

  /// Binds a key and a value, and runs the statement to its end. It does what `run` does without allocating memory.
  public func run(key: [UInt8], value: [UInt8]) throws(SQLiteError) {
    try begin("run", values: 2)
    defer { isRunning = false }
    let code = key.withUnsafeBytes { key in
      value.withUnsafeBytes { value in
        var code = nudge_sqlite3_bind_blob_static(pointer, 1, key.baseAddress, key.count)
        if code == SQLITE_OK { code = nudge_sqlite3_bind_blob_static(pointer, 2, value.baseAddress, value.count) }
        guard code == SQLITE_OK else { return code }
        repeat { code = sqlite3_step(pointer) } while code == SQLITE_ROW
        return code
      }
    }
    try end("run", code)
  }

  /// The text in the first column of the first row, for pragmas.
  func text() throws(SQLiteError) -> String? {
    try begin("run", values: 0)
    defer { isRunning = false }
    let code = sqlite3_step(pointer)
    let text = code == SQLITE_ROW ? sqlite3_column_text(pointer, 0).map { String(cString: $0) } : nil
    try end("run", code)
    return text
  }

  private func read(_ values: [SQLiteValue], _ body: (borrowing SQLiteRow) throws -> Bool) throws {
    try begin("read", values: values.count)
    defer { isRunning = false }
    var failure: (any Error)?
    let code = bind(values, from: 0) {
      while true {
        let code = sqlite3_step(pointer)
        guard code == SQLITE_ROW else { return code }
        do {
          guard try body(SQLiteRow(pointer, of: self, on: handle)) else { return SQLITE_DONE }
        } catch {
          failure = error
          return SQLITE_DONE
        }
      }
    }
    try end("read", code)
    if let failure { throw failure }
  }

  private func begin(_ operation: String, values: Int) throws(SQLiteError) {
    // A step of a statement within its own loop over rows would move that loop's cursor.
    guard !isRunning else { throw handle.misuse(operation, "the statement is being read already", sql: sql) }
    // A parameter without a value would keep what an earlier call has bound, whose memory may be freed.
    guard values == parameters else {
      throw handle.misuse(operation, "\(values) values for \(parameters) parameters", sql: sql)
    }
    isRunning = true
  }

  private func end(_ operation: String, _ code: Int32) throws(SQLiteError) {
    let failure =
      switch code {
      case SQLITE_DONE, SQLITE_ROW: nil as SQLiteError?
      default: handle.error(operation, code, sql: sql)
      }
    // The reset repeats the code of the last step, which is checked above.
    _ = sqlite3_reset(pointer)
    if let failure { throw failure }
  }

  /// Binds the values from `index` on in place, and then runs `body`. It recurses, because a value's memory is valid only within the closure
  /// that lends it: each closure binds the next value.
  private func bind(_ values: [SQLiteValue], from index: Int, _ body: () -> Int32) -> Int32 {
    guard index < values.count else { return body() }
    let parameter = Int32(index + 1)
    switch values[index] {
    case .null:
      return next(sqlite3_bind_null(pointer, parameter))
    case .integer(let value):
      return next(sqlite3_bind_int64(pointer, parameter, value))
    case .real(let value):
      return next(sqlite3_bind_double(pointer, parameter, value))
    case .text(var value):
      return value.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { text in
          next(nudge_sqlite3_bind_text_static(pointer, parameter, text.baseAddress, text.count))
        }
      }
    case .blob(let value):
      return value.withUnsafeBytes {
        next(nudge_sqlite3_bind_blob_static(pointer, parameter, $0.baseAddress, $0.count))
      }
    case .bytes(let value):
      return next(nudge_sqlite3_bind_blob_static(pointer, parameter, value.baseAddress, value.count))
    }

    func next(_ code: Int32) -> Int32 {
      code == SQLITE_OK ? bind(values, from: index + 1, body) : code
    }
  }
}

/// The current row of a statement. It cannot be copied, so it does not outlive the closure to which it is lent.
///
/// Columns count from 0. An accessor throws if the column has another type, is NULL or does not exist. SQLite itself would return zero or an
/// empty text.
public struct SQLiteRow: ~Copyable {
  private let pointer: OpaquePointer
  private let statement: SQLiteStatement
  private let handle: SQLiteDatabaseHandle

  init(_ pointer: OpaquePointer, of statement: SQLiteStatement, on handle: SQLiteDatabaseHandle) {
    self.pointer = pointer
    self.statement = statement
    self.handle = handle
  }

  /// Whether the column is NULL or does not exist.
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
    // Text before length, as SQLite asks: `sqlite3_column_text` may convert the value, and with that its length.
    guard let text = sqlite3_column_text(pointer, index) else { throw outOfMemory() }
    let count = Int(sqlite3_column_bytes(pointer, index))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// A copy of a blob.
  public func bytes(_ column: Int) throws(SQLiteError) -> [UInt8] {
    let blob = try blob(column)
    return [UInt8](blob)
  }

  /// Lends a blob to `body` without a copy. The memory is SQLite's, and valid only within `body`.
  public func withBlob<Result>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    try body(try blob(column))
  }

  private func blob(_ column: Int) throws(SQLiteError) -> UnsafeRawBufferPointer {
    let index = try check(column, SQLITE_BLOB, "a blob")
    let start = sqlite3_column_blob(pointer, index)
    let count = Int(sqlite3_column_bytes(pointer, index))
    // An empty blob has no address. Bytes without an address mean that memory ran out.
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
