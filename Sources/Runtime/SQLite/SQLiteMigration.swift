import CSQLite

/// A step from one schema to the next.
public struct SQLiteMigration: Sendable {
  /// Recorded in the file once the step has run. The name and the SQL of a released step must never change.
  public let name: String
  /// One or more statements, without `BEGIN` or `COMMIT`.
  public let sql: String

  public init(name: String, sql: String) {
    self.name = name
    self.sql = sql
  }
}

extension SQLiteConnection {
  /// Runs those of `migrations` that the file has not had, in order. Each runs in one transaction with the record of its name in the
  /// table `schema_migrations`.
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
