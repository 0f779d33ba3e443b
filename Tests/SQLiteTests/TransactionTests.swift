import SQLite
import Testing

@Suite("SQLite: transactions and migrations")
struct TransactionTests {
  @Test("a transaction whose body throws leaves nothing; one that returns is seen by others at once and whole")
  func allOrNothing() throws {
    let database = try TemporaryDatabase()
    let connection = try database.open()
    let reader = try database.open(.init(mode: .readOnly))
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
