import CSQLite

/// A database file and its prepared statements.
///
/// One thread owns it: neither it nor its statements are `Sendable`, and SQLite's own locks are off
/// (`SQLITE_OPEN_NOMUTEX`). It may be made on one thread and handed to another. The file closes when the connection
/// and all statements taken from it are gone.
public final class SQLiteConnection {
  /// How a file is opened.
  public enum OpenMode: Sendable {
    /// The file must exist; nothing can be written.
    case readOnly
    /// The file must exist.
    case readWrite
    /// The file is made if it is missing; its folder must exist.
    case create
  }

  /// How far a commit waits for the disk (`PRAGMA synchronous`). A transaction is all or nothing for a killed process
  /// in both; they differ when the machine loses power or its kernel crashes.
  public enum Synchronous: Sendable {
    /// Never waits. A crash of the machine may damage the file: only where it is then deleted and made again.
    case off
    /// Waits at checkpoints, not at commits. A crash of the machine may lose the last transactions, never parts of one.
    case normal
  }

  /// How a connection is set up.
  public struct Options: Sendable {
    /// How the file is opened.
    public var mode: OpenMode
    /// How long, in milliseconds, to wait for another connection's lock before `isBusy`.
    public var busyTimeoutMilliseconds: Int32
    /// The durability of a commit.
    public var synchronous: Synchronous
    /// Memory for pages, in KiB (`PRAGMA cache_size`). Upserts get two to three times slower where the pages they
    /// touch do not fit.
    public var cacheKibibytes: Int32
    /// Bytes a page, a power of two from 512 to 65,536, for a new file; an existing one keeps its own.
    public var pageSize: Int32
    /// Whether this connection alone may use the file, reading included. It then keeps its lock instead of taking one
    /// a read (four system calls): a read by key takes 2.8 µs instead of 4.8.
    public var isExclusive: Bool

    /// Options with the defaults of a state store: made if missing, 5 s for a lock, `normal`, 64 MiB, 4,096 bytes,
    /// shared.
    public init(
      mode: OpenMode = .create, busyTimeoutMilliseconds: Int32 = 5_000, synchronous: Synchronous = .normal,
      cacheKibibytes: Int32 = 65_536, pageSize: Int32 = 4_096, isExclusive: Bool = false
    ) {
      self.mode = mode
      self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
      self.synchronous = synchronous
      self.cacheKibibytes = cacheKibibytes
      self.pageSize = pageSize
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
    let mode =
      switch options.mode {
      case .readOnly: SQLITE_OPEN_READONLY
      case .readWrite: SQLITE_OPEN_READWRITE
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    handle = try SQLiteDatabaseHandle(path: path, flags: mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE)
    sqlite3_busy_timeout(handle.pointer, options.busyTimeoutMilliseconds)
    guard options.mode != .readOnly else {
      try setCacheSize(options.cacheKibibytes)
      // The first read of the file, here and below by journal_mode, is what finds that it is no database.
      try execute("SELECT 1 FROM sqlite_master LIMIT 1")
      return
    }
    // Before anything that looks into the file, as cache_size does: the log then needs no memory shared with other processes, and a
    // read no lock.
    if options.isExclusive { try execute("PRAGMA locking_mode = EXCLUSIVE") }
    try setCacheSize(options.cacheKibibytes)
    // Before journal_mode, which writes the first page and so fixes the page size.
    try execute("PRAGMA page_size = \(options.pageSize)")
    try useWriteAheadLog()
    try execute("PRAGMA synchronous = \(options.synchronous == .off ? "OFF" : "NORMAL")")
  }

  private func setCacheSize(_ kibibytes: Int32) throws(SQLiteError) {
    try execute("PRAGMA cache_size = -\(max(0, kibibytes))")
  }

  /// SQLite answers `PRAGMA journal_mode` with the mode it has, which on a file system without shared memory is not
  /// the one asked for, and no error.
  private func useWriteAheadLog() throws(SQLiteError) {
    let pragma = "PRAGMA journal_mode = WAL"
    let statement = try SQLiteStatement(pragma, on: handle)
    guard let mode = try statement.text(), mode == "wal" || mode == "memory" else {
      throw handle.misuse("open", "no write-ahead log on this file system; use a local disk", sql: pragma)
    }
  }

  /// The prepared statement for this SQL: compiled once, kept as long as the connection.
  ///
  /// For SQL written in the program, with `?` for values. A text built from values would fill the cache, which is
  /// never emptied, and be open to injection.
  public func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    if let statement = statements[sql] { return statement }
    let statement = try SQLiteStatement(sql, on: handle)
    statements[sql] = statement
    return statement
  }

  /// Runs a text of one or more statements that take no values; rows are discarded.
  public func execute(_ sql: String) throws(SQLiteError) {
    let code = sqlite3_exec(handle.pointer, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw handle.error("execute", code, sql: sql) }
  }

  /// Runs `body` in a transaction that writes (`BEGIN IMMEDIATE`): commits when it returns, rolls back when it throws.
  ///
  /// All or nothing, also when the process is killed inside. Transactions do not nest. An error of a statement inside
  /// must leave `body`: after some (`isFull`) SQLite has rolled back by itself, and what follows would stand alone.
  public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    guard !isInTransaction else { throw handle.misuse("begin", "a transaction is open already; they do not nest") }
    // A rollback that failed (a disk gone for a moment) left a transaction open: it has to end before one can begin.
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

  /// SQLite has rolled back by itself after some errors (full disk, out of memory): autocommit is then on again.
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
