import Foundation
import SQLite

/// A folder of its own for one test's database file, removed with it.
final class TemporaryDatabase {
  let folder: URL
  var path: String { folder.appending(path: "state.db").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "nudge-sqlite-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      print("left behind: \(folder.path): \(error)")
    }
  }

  func open(_ options: SQLiteConnection.Options = .init()) throws -> SQLiteConnection {
    try SQLiteConnection(path: path, options: options)
  }
}

/// The table of a state store: a row a key.
let stateTable = "CREATE TABLE state (key BLOB PRIMARY KEY, value BLOB NOT NULL)"
let upsert = "INSERT INTO state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

struct Interruption: Error {}

func count(_ connection: SQLiteConnection) throws -> Int64? {
  try connection.statement("SELECT count(*) FROM state").first { try $0.int64(0) }
}
