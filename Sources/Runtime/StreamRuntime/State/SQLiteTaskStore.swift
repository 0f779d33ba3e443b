import Dispatch
import Foundation
import NudgeSchema
import SQLite
import Synchronization

/// A task's store: its rows at a position of the changelog, and that position. Each write is atomic. The store is never ahead of Kafka.
protocol TaskStore: RowStore {
  /// The position of the store. The store has all rows up to there, and perhaps later ones that are in the changelog. Absent if the store
  /// is empty or has an unfinished restore, which is removed when the store is opened.
  var header: StoreHeader? { get }
  /// Writes rows in key order (absent bytes remove the row) and moves the store to a position. Without a header the position stays.
  func apply(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure)
  /// Writes as `apply`, but may return earlier. The next use of the store waits for the write and throws its failure. Closing the store
  /// ignores the failure: the store then lags.
  func applyLater(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure)
  /// Removes all rows and the position.
  func wipe() throws(StoreFailure)
  /// Closes the file.
  func close()
}

extension TaskStore {
  func applyLater(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure) {
    try apply(rows, header: header)
  }
}

/// The position of a store.
struct StoreHeader: Codable, Equatable {
  /// The position record whose rows the store has.
  var position: PositionRecord
  /// The changelog offset to continue from.
  var changelogOffset: Int64
  /// When the position was the latest, by the wall clock. The store has all tombstones that compaction removed before. In an unfinished
  /// restore, the time at which the position record was written.
  var storedAt: Milliseconds
}

/// The read side of a task's store, below its `RowCache`.
protocol RowStore: AnyObject {
  /// Calls `body` with the row's bytes, if there is a row. It is not generic: the cache calls it through this protocol, and unspecialised
  /// code would cost as much as the read.
  /// - Returns: Whether there is a row.
  func read(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool
  /// Calls `body` with up to `limit` rows of a range of keys, in key order.
  func rows(
    from first: RowKey, to end: RowKey, limit: Int, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void) throws
  /// Marks the store as perhaps damaged: a row's bytes could not be decoded.
  func suspectDamage()
}

extension RowStore {
  /// Does nothing, because the store is not a file.
  func suspectDamage() {}

  /// Calls `body` with the row's bytes. Returns nil if there is no row.
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

/// Encoded rows in memory in place of a store file, for tests, simulation and `StageDriver`.
final class MemoryRowStore: RowStore {
  private(set) var rows: [RowKey: [UInt8]] = [:]
  /// The keys in order. Absent if keys were added or removed since they were sorted.
  private var sorted: [RowKey]?
  /// The number of rows that were read by their keys, absent rows included, and the bytes of keys and rows.
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

/// A task's rows in a SQLite file, a cache of the changelog. Each step is written whole or not at all.
///
/// Losing the file costs only a restore, so a damaged file is replaced when it is opened. SQLite notices a damaged inner page only when it
/// reads that page. The operation then fails, which ends the process, and a file `.damaged` beside the store makes the next start replace
/// the store.
final class SQLiteTaskStore: TaskStore {
  private let path: String
  private let coder: RecordCoder
  private var connection: SQLiteConnection?
  /// The statement that reads a row by its key. It keeps the file open, so it is closed with the connection.
  private var get: SQLiteStatement?
  /// Whether a transaction is open for reading. Without one, each read would begin and end its own, which is a quarter of its cost. Only
  /// this connection writes to the file, and ends the transaction first.
  private var isReading = false
  /// Whether this process made or emptied the file, so that all its rows come from the changelog.
  private var isNew = false
  private(set) var header: StoreHeader?
  private let writer: StoreWriter
  /// The result of the background write. Absent if there was none or its result was taken.
  private var later: Later?

  private final class Later: Sendable {
    let failure = Mutex<StoreFailure?>(nil)
  }
  /// The connection, while the writer uses it.
  ///
  /// `@unchecked Sendable` because only the writer takes it, once. Every other use of the connection goes through `settle`, which waits for
  /// the writer. The writer must not keep a reference: closing the file late would remove the log of its successor.
  private final class Lent: @unchecked Sendable {
    private var connection: SQLiteConnection?
    init(_ connection: SQLiteConnection) { self.connection = connection }
    func take() -> SQLiteConnection? {
      defer { connection = nil }
      return connection
    }
  }

  /// SQLite's page cache, in KiB. It is small because `RowCache` keeps hot rows.
  private static let cacheKibibytes: Int32 = 512

  /// Opens a file, or creates it with its folder.
  /// - Parameter writer: Performs the writes of `applyLater`. All stores of a thread share it.
  init(path: String, coder: RecordCoder, writer: StoreWriter = StoreWriter()) throws(StoreFailure) {
    self.path = path
    self.coder = coder
    self.writer = writer
    do {
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      do {
        if FileManager.default.fileExists(atPath: Self.marker(of: path)) { try replace() } else { try open() }
      } catch let error as SQLiteError where error.isCorrupt {
        try replace()
      }
    } catch {
      throw failure("open", error)
    }
  }

  private func open() throws {
    PrivateFiles.make(path)
    let connection = try SQLiteConnection(
      path: path, options: .init(cacheKibibytes: Self.cacheKibibytes, isExclusive: true))
    try connection.migrate([
      SQLiteMigration(
        name: "rows",
        sql: """
          CREATE TABLE rows (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
          CREATE TABLE header (id INTEGER PRIMARY KEY CHECK (id = 0), value BLOB NOT NULL);
          """)
    ])
    let bytes = try connection.statement("SELECT value FROM header WHERE id = 0").first { try $0.bytes(0) }
    header = bytes.flatMap { try? coder.decode(StoreHeader.self, from: $0) }
    self.connection = connection
    get = try connection.statement("SELECT value FROM rows WHERE key = ?")
    // Rows without a readable header belong to an unfinished restore or to another release, and are useless.
    let hasRows = try connection.statement("SELECT 1 FROM rows LIMIT 1").first { _ in true } ?? false
    if header == nil && (bytes != nil || hasRows) { try replace() }
    if header == nil { isNew = true }
  }

  /// The path of the file that marks a store as damaged.
  private static func marker(of path: String) -> String { path + ".damaged" }

  private func replace() throws {
    forgetConnection()
    header = nil
    // The marker is removed last: a crash in between must not leave a damaged file without it.
    for suffix in ["", "-wal", "-shm", Self.marker(of: "")] where FileManager.default.fileExists(atPath: path + suffix)
    {
      try FileManager.default.removeItem(atPath: path + suffix)
    }
    try open()
  }

  private func forgetConnection() {
    get = nil
    isReading = false
    connection = nil
  }

  private func opened() throws(StoreFailure) -> SQLiteConnection {
    try settle()
    guard let connection else { throw StoreFailure(operation: "use", reason: "\(path) is closed") }
    return connection
  }

  private func failure(_ operation: String, _ error: any Error) -> StoreFailure {
    Self.failure(operation, path: path, error)
  }

  private static func failure(_ operation: String, path: String, _ error: any Error) -> StoreFailure {
    guard let error = error as? SQLiteError, error.isCorrupt else {
      return StoreFailure(operation: operation, reason: "\(path): \(error)")
    }
    PrivateFiles.make(marker(of: path))
    return StoreFailure(
      operation: operation, reason: "\(error). The next start restores this store from the changelog")
  }

  /// Marks the file as perhaps damaged, because a row could not be decoded. The next start then restores it. If this process has restored
  /// the file itself, the changelog has the same row, so nothing is marked.
  func suspectDamage() {
    if !isNew { PrivateFiles.make(Self.marker(of: path)) }
  }

  // MARK: Reads

  func read(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
    if later != nil { try settle() }
    guard let get else { throw StoreFailure(operation: "use", reason: "\(path) is closed") }
    do {
      if !isReading {
        try connection?.execute("BEGIN")
        isReading = true
      }
      return try get.withBlob(forKey: key.bytes, body)
    } catch let error as SQLiteError {
      throw failure("read a row", error)
    }
  }

  func rows(
    from first: RowKey, to end: RowKey, limit: Int, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    do {
      let statement = try opened().statement(
        "SELECT key, value FROM rows WHERE key >= ? AND key < ? ORDER BY key LIMIT ?")
      try statement.rows(.blob(first.bytes), .blob(end.bytes), .integer(Int64(limit))) { row in
        let key = RowKey(bytes: try row.bytes(0))
        try row.withBlob(1) { try body(key, $0) }
      }
    } catch let error as SQLiteError {
      throw failure("scan", error)
    }
  }

  // MARK: Writes

  private func openedForWriting() throws(StoreFailure) -> SQLiteConnection {
    let connection = try opened()
    guard isReading else { return connection }
    do {
      try connection.execute("COMMIT")
    } catch {
      throw failure("end reading", error)
    }
    isReading = false
    return connection
  }

  func apply(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure) {
    let connection = try openedForWriting()
    do {
      try Self.write(rows, header: try header.map(coder.encode), to: connection)
    } catch {
      throw failure("write", error)
    }
    self.header = header
  }

  func applyLater(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure) {
    let connection = try openedForWriting()
    let bytes: [UInt8]?
    do {
      bytes = try header.map(coder.encode)
    } catch {
      throw failure("write", error)
    }
    let (lent, later, path) = (Lent(connection), Later(), path)
    self.later = later
    self.header = header
    writer.begin {
      do {
        if let connection = lent.take() { try Self.write(rows, header: bytes, to: connection) }
      } catch {
        later.failure.withLock { $0 = Self.failure("write", path: path, error) }
      }
    }
  }

  /// Waits for the background write, and throws its failure.
  private func settle() throws(StoreFailure) {
    guard let later else { return }
    writer.wait()
    self.later = nil
    if let failure = later.failure.withLock({ $0 }) { throw failure }
  }

  private static func write(
    _ rows: [(key: RowKey, bytes: [UInt8]?)], header: [UInt8]?, to connection: SQLiteConnection
  ) throws {
    let put = try connection.statement("INSERT OR REPLACE INTO rows (key, value) VALUES (?, ?)")
    let remove = try connection.statement("DELETE FROM rows WHERE key = ?")
    let setHeader = try connection.statement("INSERT OR REPLACE INTO header (id, value) VALUES (0, ?)")
    try connection.transaction {
      for (key, bytes) in rows {
        if let bytes {
          try put.run(key: key.bytes, value: bytes)
        } else {
          try remove.run(.blob(key.bytes))
        }
      }
      if let header { try setHeader.run(.blob(header)) }
    }
  }

  func wipe() throws(StoreFailure) {
    // A failed write no longer matters.
    try? settle()
    do {
      try replace()
    } catch {
      throw failure("wipe", error)
    }
  }

  func close() {
    // After a failed write the store lags. The changelog has the missing rows.
    try? settle()
    forgetConnection()
  }
}

/// Writes the stores of a stream thread in the background, while the stream thread processes records or restores from the changelog.
///
/// It writes one batch at a time for all stores of the thread, which bounds the memory of waiting batches to one.
final class StoreWriter: Sendable {
  private let queue = DispatchQueue(label: "nudge-store-writer", qos: .userInitiated)
  private let isFree = DispatchSemaphore(value: 1)

  /// Waits for the previous write to end, starts this one, and returns.
  func begin(_ step: @escaping @Sendable () -> Void) {
    isFree.wait()
    queue.async { [isFree] in
      step()
      isFree.signal()
    }
  }

  /// Waits until no write is in progress.
  func wait() {
    isFree.wait()
    isFree.signal()
  }
}
