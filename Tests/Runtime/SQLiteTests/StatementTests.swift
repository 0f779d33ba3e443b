import SQLite
import Testing

@Suite("SQLite: statements and rows")
struct StatementTests {
  let connection: SQLiteConnection

  init() throws {
    connection = try SQLiteConnection(path: ":memory:")
    try connection.execute("CREATE TABLE t (i INTEGER, r REAL, s TEXT, b BLOB)")
  }

  @Test("every kind of value comes back as it was bound, the extremes too")
  func roundTrip() throws {
    let texts = ["", "a\u{0}b", "👍🏽 שלום", String(repeating: "x", count: 100_000)]
    let blobs: [[UInt8]] = [[], [0], Array(0...255), [UInt8](repeating: 9, count: 100_000)]
    let integers: [Int64] = [.min, -1, 0, .max]
    let reals: [Double] = [-0.5, 0, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
    for index in 0..<4 {
      try connection.execute("DELETE FROM t")
      try connection.statement("INSERT INTO t VALUES (?, ?, ?, ?)")
        .run(.integer(integers[index]), .real(reals[index]), .text(texts[index]), .blob(blobs[index]))
      let matches = try connection.statement("SELECT i, r, s, b FROM t WHERE s = ? AND b = ?")
        .first(.text(texts[index]), .blob(blobs[index])) { row in
          try row.int64(0) == integers[index] && row.double(1) == reals[index] && row.string(2) == texts[index]
            && row.bytes(3) == blobs[index] && row.withBlob(3) { $0.elementsEqual(blobs[index]) }
        }
      #expect(matches == true)
    }
  }

  @Test("bytes that lie elsewhere are bound in place")
  func borrowedBytes() throws {
    let storage: [UInt8] = Array(0..<200)
    try storage.withUnsafeBytes { all in
      try connection.statement("INSERT INTO t (b) VALUES (?)").run(
        .bytes(UnsafeRawBufferPointer(rebasing: all[50..<60])))
      try connection.statement("INSERT INTO t (b) VALUES (?)").run(.bytes(UnsafeRawBufferPointer(start: nil, count: 0)))
    }
    var found: [[UInt8]] = []
    try connection.statement("SELECT b FROM t").rows { found.append(try $0.bytes(0)) }
    #expect(found == [Array(50..<60), []])
  }

  @Test("a key and a value are written and read as they are, and a key without a row says so")
  func byKey() throws {
    try connection.execute("CREATE TABLE rows (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
    let put = try connection.statement("INSERT OR REPLACE INTO rows VALUES (?, ?)")
    let get = try connection.statement("SELECT value FROM rows WHERE key = ?")
    let values: [[UInt8]] = [[], [0], Array(0...255), [UInt8](repeating: 9, count: 100_000)]
    for (number, value) in values.enumerated() {
      try put.run(key: [UInt8(number)], value: [1])
      try put.run(key: [UInt8(number)], value: value)
    }
    for (number, value) in values.enumerated() {
      var found: [UInt8]?
      #expect(try get.withBlob(forKey: [UInt8(number)]) { found = Array($0) })
      #expect(found == value)
    }
    #expect(try !get.withBlob(forKey: []) { _ in Issue.record("there is no such row") })
    #expect(try !get.withBlob(forKey: [200, 0]) { _ in Issue.record("there is no such row") })

    struct Refusal: Error {}
    #expect(throws: Refusal.self) { try get.withBlob(forKey: [1]) { _ in throw Refusal() } }
    #expect(try get.withBlob(forKey: [1]) { _ in }, "after a body that has thrown")
    try connection.statement("INSERT INTO rows VALUES (?, NULL)").run(.blob([7]))
    #expect(throws: SQLiteError.self) { try get.withBlob(forKey: [7]) { _ in } }
    #expect(throws: SQLiteError.self) { try put.withBlob(forKey: [1]) { _ in } }
    #expect(throws: SQLiteError.self) { try get.run(key: [1], value: [2]) }
  }

  @Test("a column of another type, NULL, or out of range is an error and never a zero")
  func typeMismatch() throws {
    try connection.statement("INSERT INTO t VALUES (?, ?, ?, ?)").run(.null, .real(1.5), .text("7"), .blob([1]))
    try connection.statement("SELECT i, r, s, b FROM t").rows { row in
      // Read outside #expect, which cannot hold a row: it is not copyable.
      let nulls = (0..<4).map { row.isNull($0) }
      #expect(nulls == [true, false, false, false])
      for column in [0, 1, 2, 3, 4, -1, Int.max] {
        if column != 1 { #expect(refuses { _ = try row.double(column) }, "column \(column)") }
        if column != 2 { #expect(refuses { _ = try row.string(column) }, "column \(column)") }
        if column != 3 { #expect(refuses { _ = try row.bytes(column) }, "column \(column)") }
        #expect(refuses { _ = try row.int64(column) }, "column \(column)")
      }
    }
  }

  private func refuses(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch {
      return error is SQLiteError
    }
  }

  @Test("too few or too many values are refused, so no parameter keeps an earlier call's value")
  func parameterCount() throws {
    let statement = try connection.statement("INSERT INTO t (i, s) VALUES (?, ?)")
    #expect(throws: SQLiteError.self) { try statement.run(.integer(1)) }
    #expect(throws: SQLiteError.self) { try statement.run(.integer(1), .text("a"), .null) }
    try statement.run(.integer(1), .text("a"))
    #expect(try connection.statement("SELECT count(*) FROM t").first { try $0.int64(0) } == 1)
  }

  @Test("a text with two statements, or none, is refused where one is compiled")
  func oneStatement() throws {
    #expect(throws: SQLiteError.self) { try connection.statement("SELECT 1; SELECT 2") }
    #expect(throws: SQLiteError.self) { try connection.statement("  ") }
    #expect(try connection.statement("SELECT 1;\n ").first { try $0.int64(0) } == 1)
  }

  @Test("reading stops when the body throws, and the statement can be used again")
  func earlyStop() throws {
    for value in Int64(0)..<10 { try connection.statement("INSERT INTO t (i) VALUES (?)").run(.integer(value)) }
    let statement = try connection.statement("SELECT i FROM t ORDER BY i")
    var seen = 0
    #expect(throws: Interruption.self) {
      try statement.rows { _ in
        seen += 1
        if seen == 3 { throw Interruption() }
      }
    }
    #expect(seen == 3)
    var all: [Int64] = []
    try statement.rows { all.append(try $0.int64(0)) }
    #expect(all == Array(0..<10))
    #expect(try statement.first { try $0.int64(0) } == 0)
    #expect(try connection.statement("SELECT i FROM t WHERE i > ?").first(.integer(99)) { _ in true } == nil)
  }

  @Test("a statement used inside its own loop over rows is refused")
  func reentrance() throws {
    try connection.execute("INSERT INTO t (i) VALUES (1), (2)")
    let statement = try connection.statement("SELECT i FROM t")
    var rows = 0
    try statement.rows { _ in
      rows += 1
      #expect(throws: SQLiteError.self) { try statement.first { try $0.int64(0) } }
    }
    #expect(rows == 2)
  }
}
