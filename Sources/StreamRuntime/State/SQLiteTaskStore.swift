import Foundation
import NudgeSchema
import SQLite

/// A task's rows in a SQLite file. It is a cache of the changelog: losing it costs a restore, so a damaged file is made
/// anew; a step is written whole or not at all.
final class SQLiteTaskStore: TaskStore {
  private let path: String
  private let coder: RecordCoder
  private var connection: SQLiteConnection?
  private(set) var header: StoreHeader?

  /// Memory for pages, in KiB: hot rows are kept above the store, decoded.
  private static let cacheKibibytes: Int32 = 2048

  /// Opens a file, or makes it, with its folder.
  init(path: String, coder: RecordCoder) throws(StoreFailure) {
    self.path = path
    self.coder = coder
    do {
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      do {
        try open()
      } catch let error as SQLiteError where error.isCorrupt {
        try replace()
      }
    } catch {
      throw failure("open", error)
    }
  }

  private func open() throws {
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
    // No header, but rows: a restore that was not finished. Or one of another version of this program. The rows are worth
    // nothing without it.
    let hasRows = try connection.statement("SELECT 1 FROM rows LIMIT 1").first { _ in true } ?? false
    if header == nil && (bytes != nil || hasRows) { try replace() }
  }

  private func replace() throws {
    connection = nil
    header = nil
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.removeItem(atPath: path + suffix)
    }
    try open()
  }

  private func opened() throws(StoreFailure) -> SQLiteConnection {
    guard let connection else { throw StoreFailure(operation: "use", reason: "\(path) is closed") }
    return connection
  }

  private func failure(_ operation: String, _ error: any Error) -> StoreFailure {
    StoreFailure(operation: operation, reason: "\(path): \(error)")
  }

  // MARK: Reading

  func withRow<Result>(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
    let statement: SQLiteStatement
    do {
      statement = try opened().statement("SELECT value FROM rows WHERE key = ?")
    } catch {
      throw failure("read a row", error)
    }
    do {
      return try statement.first(.blob(key.bytes)) { row in try row.withBlob(0) { try body($0) } }
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

  // MARK: Writing

  func apply(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure) {
    do {
      let connection = try opened()
      let put = try connection.statement("INSERT OR REPLACE INTO rows (key, value) VALUES (?, ?)")
      let remove = try connection.statement("DELETE FROM rows WHERE key = ?")
      let setHeader = try connection.statement("INSERT OR REPLACE INTO header (id, value) VALUES (0, ?)")
      try connection.transaction {
        for (key, bytes) in rows {
          if let bytes {
            try put.run(.blob(key.bytes), .blob(bytes))
          } else {
            try remove.run(.blob(key.bytes))
          }
        }
        if let header { try setHeader.run(.blob(try coder.encode(header))) }
      }
      self.header = header
    } catch {
      throw failure("write", error)
    }
  }

  func wipe() throws(StoreFailure) {
    do {
      try replace()
    } catch {
      throw failure("wipe", error)
    }
  }

  func close() { connection = nil }
}
