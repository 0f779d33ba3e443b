import Foundation
import SQLite
import Testing

@Suite("SQLite: transactions and migrations")
struct TransactionTests {
  @Test("a transaction whose body throws leaves nothing; one that returns is seen by others at once and whole")
  func allOrNothing() throws {
    let database = try TemporaryDatabase()
    let connection = try database.open()
    let reader = try database.open(.init(isReadOnly: true))
    try connection.execute(stateTable)
    #expect(throws: Interruption.self) {
      try connection.transaction {
        try connection.statement(upsert).run(.blob([1]), .blob([1]))
        throw Interruption()
      }
    }
    #expect(try count(connection) == 0)
    let result = try connection.transaction {
      for key in UInt8(0)..<10 { try connection.statement(upsert).run(.blob([key]), .blob([1])) }
      #expect(try count(reader) == 0)
      return "done"
    }
    #expect(result == "done")
    #expect(try count(reader) == 10)
  }

  @Test("a process that is killed inside a transaction leaves all earlier commits and nothing of the transaction")
  func killed() throws {
    let database = try TemporaryDatabase()
    let crashed = try TemporaryDatabase()
    // A cache of a few pages: most of the open transaction is in the log before its commit.
    let connection = try database.open(.init(cacheKibibytes: 16))
    try connection.execute(stateTable)
    func write(_ byte: UInt8) throws {
      let statement = try connection.statement(upsert)
      for key in 0..<500 { try statement.run(.text("key-\(key)"), .blob([UInt8](repeating: byte, count: 400))) }
    }
    try connection.transaction { try write(1) }
    try connection.transaction {
      try write(2)
      // A killed process leaves the kernel's view of the files.
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: database.path + suffix, toPath: crashed.path + suffix)
      }
    }
    let size = try FileManager.default.attributesOfItem(atPath: crashed.path + "-wal")[.size] as? Int ?? 0
    #expect(size > 2 * 500 * 400, "the open transaction was not in the log, so this test shows nothing")
    let reopened = try crashed.open()
    #expect(try reopened.statement("PRAGMA integrity_check").first { try $0.string(0) } == "ok")
    var values: Set<[UInt8]> = []
    try reopened.statement("SELECT value FROM state").rows { values.insert(try $0.bytes(0)) }
    #expect(values == [[UInt8](repeating: 1, count: 400)])
    #expect(try count(reopened) == 500)
  }

  @Test("a transaction inside a transaction is refused and the outer one stays whole")
  func nesting() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(stateTable)
    try connection.transaction {
      try connection.statement(upsert).run(.blob([1]), .blob([1]))
      #expect(throws: SQLiteError.self) { try connection.transaction {} }
    }
    #expect(try count(connection) == 1)
  }

  @Test("migrations run once, in order, and are known by name")
  func migrations() throws {
    let database = try TemporaryDatabase()
    let first = SQLiteMigration(name: "state", sql: stateTable)
    let second = SQLiteMigration(
      name: "due", sql: "ALTER TABLE state ADD COLUMN due INTEGER; CREATE INDEX due ON state (due)")
    try database.open().migrate([first])
    let connection = try database.open()
    try connection.migrate([first, second])
    try connection.migrate([first, second])
    try connection.statement("INSERT INTO state (key, value, due) VALUES (?, ?, ?)").run(
      .blob([1]), .blob([1]), .integer(5))
    var names: [String] = []
    try connection.statement("SELECT name FROM schema_migrations ORDER BY position").rows {
      names.append(try $0.string(0))
    }
    #expect(names == ["state", "due"])
  }

  @Test("a migration that fails in its middle leaves the file as it was")
  func failedMigration() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    #expect(throws: SQLiteError.self) {
      try connection.migrate([SQLiteMigration(name: "state", sql: stateTable + "; CREATE TABLE state (x)")])
    }
    #expect(throws: SQLiteError.self) { try count(connection) }
    try connection.migrate([SQLiteMigration(name: "state", sql: stateTable)])
    #expect(try count(connection) == 0)
  }

  @Test("a file of a newer version, a changed list and a name used twice are refused")
  func foreignMigrations() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    let first = SQLiteMigration(name: "a", sql: "CREATE TABLE a (x)")
    let second = SQLiteMigration(name: "b", sql: "CREATE TABLE b (x)")
    try connection.migrate([first, second])
    let error = try #require(throws: SQLiteError.self) { try connection.migrate([first]) }
    #expect(error.description.contains("newer version"))
    #expect(throws: SQLiteError.self) { try connection.migrate([second, first]) }
    #expect(throws: SQLiteError.self) { try connection.migrate([first, second, first]) }
  }
}
