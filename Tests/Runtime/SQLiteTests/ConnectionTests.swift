import Foundation
import SQLite
import Testing

@Suite("SQLite: connection")
struct ConnectionTests {
  @Test("a new file has the write-ahead log, the synchronous mode of a store and the cache asked for")
  func pragmas() throws {
    let database = try TemporaryDatabase()
    let connection = try database.open(.init(cacheKibibytes: 1_024))
    func pragma(_ name: String) throws -> Int64? {
      try connection.statement("PRAGMA \(name)").first { try $0.int64(0) }
    }
    #expect(try connection.statement("PRAGMA journal_mode").first { try $0.string(0) } == "wal")
    #expect(try pragma("synchronous") == 1)
    #expect(try pragma("cache_size") == -1_024)
  }

  @Test("committed rows are there after the file is opened again")
  func reopen() throws {
    let database = try TemporaryDatabase()
    do {
      let connection = try database.open()
      try connection.execute(stateTable)
      try connection.statement(upsert).run(.blob([1]), .blob([2, 3]))
    }
    let connection = try database.open(.init(isReadOnly: true))
    #expect(try connection.statement("SELECT value FROM state").first { try $0.bytes(0) } == [2, 3])
  }

  @Test("a statement outlives the connection it was taken from")
  func statementOutlivesConnection() throws {
    let database = try TemporaryDatabase()
    var connection: SQLiteConnection? = try database.open()
    try connection?.execute(stateTable)
    let statement = try #require(try connection?.statement(upsert))
    connection = nil
    try statement.run(.blob([1]), .blob([2]))
    #expect(try count(database.open()) == 1)
  }

  @Test("the same SQL is compiled once")
  func cache() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    let sql = "SELECT 1"
    #expect(try connection.statement(sql) === connection.statement(sql))
  }

  @Test("a missing folder, a missing file and a file that is no database are told apart")
  func openErrors() throws {
    let database = try TemporaryDatabase()
    #expect(throws: SQLiteError.self) { try SQLiteConnection(path: database.folder.path + "/none/state.db") }
    let missing = try #require(throws: SQLiteError.self) { try database.open(.init(isReadOnly: true)) }
    #expect(missing.operation == "open")
    #expect(missing.code == 14)
    #expect(missing.description.contains("folder exists"))
    try Data(repeating: 0x41, count: 8_192).write(to: URL(fileURLWithPath: database.path))
    let corrupt = try #require(throws: SQLiteError.self) { try database.open() }
    #expect(corrupt.isCorrupt)
    let readOnly = try #require(throws: SQLiteError.self) { try database.open(.init(isReadOnly: true)) }
    #expect(readOnly.isCorrupt)
  }

  @Test("a damaged page is reported as corrupt, not read as data")
  func damagedPage() throws {
    let database = try TemporaryDatabase()
    do {
      let connection = try database.open()
      try connection.execute(stateTable)
      try connection.transaction {
        for key in 0..<2_000 {
          try connection.statement(upsert).run(.text("key-\(key)"), .blob([UInt8](repeating: 7, count: 300)))
        }
      }
    }
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: database.path))
    for page in 2..<100 {
      try file.seek(toOffset: UInt64(page * 4_096))
      try file.write(contentsOf: Data(repeating: 0xEE, count: 4_096))
    }
    try file.close()
    let error = try #require(throws: SQLiteError.self) {
      let connection = try database.open()
      try connection.statement("SELECT key, value FROM state").rows { _ in }
    }
    #expect(error.isCorrupt)
    #expect(error.description.contains("Delete the file"))
  }

  @Test("a full file is reported as full, and the transaction leaves nothing behind")
  func full() throws {
    let database = try TemporaryDatabase()
    let connection = try database.open()
    try connection.execute(stateTable)
    try connection.execute("PRAGMA max_page_count = 20")
    let error = try #require(throws: SQLiteError.self) {
      try connection.transaction {
        for key in 0..<10_000 {
          try connection.statement(upsert).run(.text("key-\(key)"), .blob([UInt8](repeating: 7, count: 400)))
        }
      }
    }
    #expect(error.isFull)
    #expect(try count(connection) == 0)
    try connection.transaction { try connection.statement(upsert).run(.blob([1]), .blob([2])) }
    #expect(try count(connection) == 1)
  }

  @Test("writing through a read-only connection is refused")
  func readOnly() throws {
    let database = try TemporaryDatabase()
    try database.open().execute(stateTable)
    let connection = try database.open(.init(isReadOnly: true))
    let error = try #require(throws: SQLiteError.self) { try connection.statement(upsert).run(.blob([1]), .blob([2])) }
    #expect(error.isReadOnly)
  }

  @Test("a second writer waits for its busy time-out, and the error names the lock")
  func busy() throws {
    let database = try TemporaryDatabase()
    let first = try database.open()
    try first.execute(stateTable)
    let second = try database.open(.init(busyTimeoutMilliseconds: 0))
    try first.transaction {
      let error = try #require(throws: SQLiteError.self) { try second.transaction {} }
      #expect(error.isBusy)
      #expect(error.description.contains("Another process"))
    }
    try second.transaction { try second.statement(upsert).run(.blob([1]), .blob([2])) }
  }

  @Test("an exclusive connection keeps every other one out until it is gone")
  func exclusive() throws {
    let database = try TemporaryDatabase()
    do {
      let connection = try database.open(.init(isExclusive: true))
      try connection.execute(stateTable)
      let error = try #require(throws: SQLiteError.self) {
        try database.open(.init(isReadOnly: true, busyTimeoutMilliseconds: 0))
      }
      #expect(error.isBusy)
      try connection.statement(upsert).run(.blob([1]), .blob([2]))
    }
    #expect(try count(database.open(.init(isReadOnly: true))) == 1)
  }

  @Test(
    "an exclusive connection shares no memory, and so locks nothing at each read, with a file that is there already, too"
  )
  func exclusiveAgain() throws {
    let database = try TemporaryDatabase()
    for _ in 0..<2 {
      let connection = try database.open(.init(isExclusive: true))
      try connection.execute("CREATE TABLE IF NOT EXISTS again (key INTEGER PRIMARY KEY)")
      #expect(FileManager.default.fileExists(atPath: database.path + "-wal"))
      #expect(!FileManager.default.fileExists(atPath: database.path + "-shm"))
    }
  }

  @Test("an error names the operation and the SQL and no bound value")
  func errorText() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(stateTable)
    let error = try #require(throws: SQLiteError.self) {
      try connection.statement(upsert).run(.text("a secret"), .null)
    }
    #expect(error.operation == "run")
    #expect(error.extendedCode == 1_299)
    #expect(error.sql == upsert)
    #expect(!error.description.contains("secret"))
    let syntax = try #require(throws: SQLiteError.self) { try connection.statement("SELEC 1") }
    #expect(syntax.operation == "prepare")
    #expect(syntax.description.contains("syntax error"))
  }
}
