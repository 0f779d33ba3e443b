import CSQLite

/// Owns the `sqlite3` handle. The connection and each of its statements hold it, so it closes after the last of them
/// has gone, whichever that is.
final class SQLiteDatabaseHandle {
  let pointer: OpaquePointer
  let path: String

  init(path: String, flags: Int32) throws(SQLiteError) {
    var pointer: OpaquePointer?
    let code = sqlite3_open_v2(path, &pointer, flags, nil)
    guard code == SQLITE_OK, let pointer else {
      // SQLite hands out a handle even when it could not open the file: it carries the message and must be closed.
      let message = pointer.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
      sqlite3_close_v2(pointer)
      throw SQLiteError(operation: "open", extendedCode: code, message: message, path: path)
    }
    self.pointer = pointer
    self.path = path
  }

  deinit {
    sqlite3_close_v2(pointer)
  }

  /// The error of the call that just returned `code`. Must come before any other call on the handle.
  func error(_ operation: String, _ code: Int32, sql: String? = nil) -> SQLiteError {
    // The handle's message belongs to its last failure; where a call reports misuse without touching the handle,
    // the code's own text is the true one.
    let own = sqlite3_extended_errcode(pointer)
    let message =
      own & 0xFF == code & 0xFF ? String(cString: sqlite3_errmsg(pointer)) : String(cString: sqlite3_errstr(code))
    return SQLiteError(operation: operation, extendedCode: code, message: message, sql: sql, path: path)
  }

  func misuse(_ operation: String, _ message: String, sql: String? = nil) -> SQLiteError {
    SQLiteError(operation: operation, extendedCode: SQLITE_MISUSE, message: message, sql: sql, path: path)
  }
}
