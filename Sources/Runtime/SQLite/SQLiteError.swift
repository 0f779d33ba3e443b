import CSQLite

/// An error of SQLite, with its operation and, in `description`, what to do about it.
///
/// Values bound to a statement are never part of it: they may be message texts or tokens.
public struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The operation in words: "open", "prepare", "run", "read a row", "commit" …
  public let operation: String
  /// SQLite's primary result code, the low 8 bits of `extendedCode` (`SQLITE_FULL` is 13).
  public let code: Int32
  /// SQLite's extended result code (https://sqlite.org/rescode.html).
  public let extendedCode: Int32
  /// SQLite's own words.
  public let message: String
  /// The SQL text, with its parameters as placeholders, or nil where there was none.
  public let sql: String?
  public let path: String

  init(operation: String, extendedCode: Int32, message: String, sql: String? = nil, path: String) {
    self.operation = operation
    self.code = extendedCode & 0xFF
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
    self.path = path
  }

  /// The disk, or the file's permitted size, is used up. The transaction was rolled back.
  public var isFull: Bool { code == SQLITE_FULL }
  /// The file, or its folder, may not be written.
  public var isReadOnly: Bool { code == SQLITE_READONLY }
  /// The file is damaged, or no database at all. A store that is a cache is then deleted and restored.
  public var isCorrupt: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }
  /// Another connection held its lock for longer than the busy time-out.
  public var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

  /// One line: operation, file, SQLite's message, code, SQL, and the fix where there is a known one.
  public var description: String {
    var text = "SQLite: \(operation) failed on \(path): \(message) (code \(extendedCode))"
    if let sql { text += " in: \(sql)" }
    if let fix { text += ". \(fix)" }
    return text
  }

  private var fix: String? {
    if isFull { return "Free space on that disk; nothing was written in part" }
    if isReadOnly { return "Give this process write permission on the file and its folder" }
    if isCorrupt { return "Delete the file with its -wal and -shm beside it; a cache is restored from its source" }
    if isBusy { return "Another process or connection has this file open for writing; stop it" }
    if code == SQLITE_CANTOPEN { return "Check that the folder exists and may be written" }
    return nil
  }
}
