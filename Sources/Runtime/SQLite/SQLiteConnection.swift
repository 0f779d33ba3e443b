import CSQLite

/// A database file and its prepared statements.
///
/// One thread owns it: neither it nor its statements are `Sendable`, and SQLite's own locks are off (`SQLITE_OPEN_NOMUTEX`). It may be made
/// on one thread and handed to another. The file closes when the connection and all its statements are released.
public final class SQLiteConnection {
  /// The settings of a connection.
  public struct Options: Sendable {
    /// Whether the file is only read. It must then exist; otherwise a missing file is created in its folder.
    public var isReadOnly: Bool
    /// How long to wait for another connection's lock before `isBusy`, in milliseconds.
    public var busyTimeoutMilliseconds: Int32
    /// The memory for pages, in KiB (`PRAGMA cache_size`). Upserts are two to three times slower if the pages that they touch do not fit.
    public var cacheKibibytes: Int32
    /// Whether only this connection may use the file, even for reading. It then keeps its lock and need not take one for each read (four
    /// system calls): a read by key takes 2.8 µs and not 4.8.
    public var isExclusive: Bool

    public init(
      isReadOnly: Bool = false, busyTimeoutMilliseconds: Int32 = 5_000, cacheKibibytes: Int32 = 65_536,
      isExclusive: Bool = false
    ) {
      self.isReadOnly = isReadOnly
      self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
      self.cacheKibibytes = cacheKibibytes
      self.isExclusive = isExclusive
    }
  }

  /// The file's path, as given.
  public var path: String { handle.path }

  let handle: SQLiteDatabaseHandle
  private var statements: [String: SQLiteStatement] = [:]
  private var isInTransaction = false

  /// Opens the file, in WAL mode unless it is read-only or in memory (`:memory:`).
  public init(path: String, options: Options = Options()) throws(SQLiteError) {
    guard sqlite3_threadsafe() != 0 else {
      throw SQLiteError(
        operation: "open", extendedCode: SQLITE_MISUSE, message: "this libsqlite3 was built without thread safety",
        path: path)
    }
    let mode = options.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    handle = try SQLiteDatabaseHandle(path: path, flags: mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE)
    sqlite3_busy_timeout(handle.pointer, options.busyTimeoutMilliseconds)
    guard !options.isReadOnly else {
      try setCacheSize(options.cacheKibibytes)
      // The first read of the file, here and below by journal_mode, shows whether it is a database.
      try execute("SELECT 1 FROM sqlite_master LIMIT 1")
      return
    }
    // Set before anything that reads the file, as cache_size does. The log then needs no memory shared with other processes, and a read
    // needs no lock.
    if options.isExclusive { try execute("PRAGMA locking_mode = EXCLUSIVE") }
    try setCacheSize(options.cacheKibibytes)
    try useWriteAheadLog()
    // A commit does not wait for the disk; a checkpoint does. A crash of the machine may lose the last transactions, but never parts of one.
    try execute("PRAGMA synchronous = NORMAL")
  }

  private func setCacheSize(_ kibibytes: Int32) throws(SQLiteError) {
    try execute("PRAGMA cache_size = -\(max(0, kibibytes))")
  }

  /// Turns on WAL mode. SQLite answers `PRAGMA journal_mode` with the present mode and no error. On a file system without shared memory
  /// that is not the requested mode.
  private func useWriteAheadLog() throws(SQLiteError) {
    let pragma = "PRAGMA journal_mode = WAL"
    let statement = try SQLiteStatement(pragma, on: handle)
    guard let mode = try statement.text(), mode == "wal" || mode == "memory" else {
      throw handle.misuse("open", "no write-ahead log on this file system; use a local disk", sql: pragma)
    }
  }

  /// The prepared statement for this SQL. It is compiled once and kept as long as the connection.
  ///
  /// Only for SQL written in the program, with `?` for values. Texts built from values would fill the cache, which is never emptied, and
  /// would allow injection.
  public func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    if let statement = statements[sql] { return statement }
    let statement = try SQLiteStatement(sql, on: handle)
    statements[sql] = statement
    return statement
  }

  /// Runs a text of one or more statements without values. Rows are discarded.
  public func execute(_ sql: String) throws(SQLiteError) {
    let code = sqlite3_exec(handle.pointer, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw handle.error("execute", code, sql: sql) }
  }

  /// Runs `body` in a transaction that writes (`BEGIN IMMEDIATE`). Commits when it returns, and rolls back when it throws.
  ///
  /// The transaction is whole or absent, even if the process is killed within it. Transactions do not nest. An error of a statement must
  /// leave `body`: after some errors (`isFull`) SQLite has rolled back by itself, and later statements would be outside the transaction.
  public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    guard !isInTransaction else { throw handle.misuse("begin", "a transaction is open already; they do not nest") }
    // A failed rollback (a disk that was absent for a moment) left a transaction open, which must end before another can begin.
    if sqlite3_get_autocommit(handle.pointer) == 0 { try statement("ROLLBACK").run() }
    try statement("BEGIN IMMEDIATE").run()
    isInTransaction = true
    defer { isInTransaction = false }
    do {
      let result = try body()
      try statement("COMMIT").run()
      return result
    } catch {
      try rollBack(after: error)
      throw error
    }
  }

  /// Rolls back. After some errors (full disk, out of memory) SQLite has already done so, and autocommit is on again.
  private func rollBack(after error: any Error) throws(SQLiteError) {
    guard sqlite3_get_autocommit(handle.pointer) == 0 else { return }
    do {
      try statement("ROLLBACK").run()
    } catch let failure {
      throw SQLiteError(
        operation: "roll back", extendedCode: failure.extendedCode, message: "\(failure.message), after: \(error)",
        path: path)
    }
  }
}

/// Owns the `sqlite3` handle. The connection and each of its statements hold it, so it closes after the last of them is released.
final class SQLiteDatabaseHandle {
  let pointer: OpaquePointer
  let path: String

  init(path: String, flags: Int32) throws(SQLiteError) {
    var pointer: OpaquePointer?
    let code = sqlite3_open_v2(path, &pointer, flags, nil)
    guard code == SQLITE_OK, let pointer else {
      // SQLite returns a handle even if it could not open the file. The handle has the message and must be closed.
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

  /// The error of the call that has just returned `code`. Call it before any other call on the handle.
  func error(_ operation: String, _ code: Int32, sql: String? = nil) -> SQLiteError {
    // The handle's message belongs to its last failure. A call that reports misuse may not touch the handle: then the text of its code is
    // right.
    let own = sqlite3_extended_errcode(pointer)
    let message =
      own & 0xFF == code & 0xFF ? String(cString: sqlite3_errmsg(pointer)) : String(cString: sqlite3_errstr(code))
    return SQLiteError(operation: operation, extendedCode: code, message: message, sql: sql, path: path)
  }

  func misuse(_ operation: String, _ message: String, sql: String? = nil) -> SQLiteError {
    SQLiteError(operation: operation, extendedCode: SQLITE_MISUSE, message: message, sql: sql, path: path)
  }
}

/// A step from one schema to the next.
public struct SQLiteMigration: Sendable {
  /// The name, which is recorded in the file once the step has run. The name and the SQL of a released step must never change.
  public let name: String
  /// One or more statements, without `BEGIN` or `COMMIT`.
  public let sql: String

  public init(name: String, sql: String) {
    self.name = name
    self.sql = sql
  }
}

extension SQLiteConnection {
  /// Runs those `migrations` that the file has not had, in order. Each runs in one transaction that also records its name in the table
  /// `schema_migrations`.
  ///
  /// - Throws: If the file's steps are not a prefix of the list: a newer version has written the file, or a released step was renamed.
  ///   The file is unchanged.
  public func migrate(_ migrations: [SQLiteMigration]) throws {
    guard Set(migrations.map(\.name)).count == migrations.count else {
      throw handle.misuse("migrate", "two migrations have the same name")
    }
    try execute(
      "CREATE TABLE IF NOT EXISTS schema_migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
    var applied: [String] = []
    try statement("SELECT name FROM schema_migrations ORDER BY position").rows { applied.append(try $0.string(0)) }
    guard migrations.map(\.name).starts(with: applied) else {
      throw handle.misuse(
        "migrate",
        "the file has had the migrations \(applied), this program knows \(migrations.map(\.name)): "
          + "a newer version has written it")
    }
    for (position, migration) in migrations.enumerated().dropFirst(applied.count) {
      try transaction {
        try execute(migration.sql)
        try statement("INSERT INTO schema_migrations (position, name) VALUES (?, ?)")
          .run(.integer(Int64(position)), .text(migration.name))
      }
    }
  }
}

/// An error of SQLite. `description` names the operation and the remedy.
///
/// It never contains values bound to a statement, because they may be message texts or tokens.
public struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The operation in words: "open", "prepare", "run", "read a row", "commit".
  public let operation: String
  /// SQLite's primary result code, the low 8 bits of `extendedCode` (`SQLITE_FULL` is 13).
  public let code: Int32
  /// SQLite's extended result code (https://sqlite.org/rescode.html).
  public let extendedCode: Int32
  /// SQLite's message.
  public let message: String
  /// The SQL text, with placeholders for its parameters. Absent if there was none.
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
  /// The file is damaged or is not a database. A store, which is a cache, is then deleted and restored.
  public var isCorrupt: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }
  /// Another connection held its lock for longer than the busy time-out.
  public var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

  /// One line: operation, file, SQLite's message, code, SQL, and the remedy if one is known.
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
