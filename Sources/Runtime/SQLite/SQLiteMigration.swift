import CSQLite

/// A step from one schema to the next, identified by its name.
public struct SQLiteMigration: Sendable {
  /// The statements of the step. Recorded in the file, so a released step must never change.
  public let name: String
  /// One or more statements, without `BEGIN` or `COMMIT`.
  public let sql: String

  /// A step with its name and its SQL.
  public init(name: String, sql: String) {
    self.name = name
    self.sql = sql
  }
}

extension SQLiteConnection {
  /// Brings the file up to the last of `migrations`: those it has not had yet are run in order, each in a transaction
  /// with the record of its name (table `schema_migrations`).
  ///
  /// The file's steps must be a prefix of the list. If not, a newer version has written the file, or the list was
  /// changed in its middle: it throws, and the file is as it was.
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
