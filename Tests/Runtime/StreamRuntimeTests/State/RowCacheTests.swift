import Foundation
import NudgeSchema
import SQLite
import TestSupport
import Testing

@testable import StreamRuntime

extension StoredRow {
  /// The content of the box.
  fileprivate var counting: CountingStage.Row? { (self as? TypedRow<CountingStage.Row>)?.row }
}

@Suite("The rows of a task in memory")
struct RowCacheTests {
  private typealias Row = CountingStage.Row

  private func key(_ name: String) -> RowKey { RowKey("k", name) }

  private func bytes(_ count: Int) -> [UInt8] { Array(String(count).utf8) }

  private func table(_ store: MemoryRowStore, cacheBytes: Int = 1 << 20) -> RowCache {
    RowCache(of: Row.self, store: store, coder: RecordCoder(), cacheBytes: cacheBytes)
  }

  @Test("a refused step leaves no trace, whatever it set, removed or read")
  func undo() throws {
    let store = MemoryRowStore()
    store.apply([(key("a"), bytes(1)), (key("b"), bytes(2))])
    var table = table(store)
    table.beginStep()
    try table.set(TypedRow(Row(count: 10)), for: key("a"))
    table.beginStep()
    try table.set(TypedRow(Row(count: 11)), for: key("a"))
    try table.set(nil, for: key("b"))
    try table.set(TypedRow(Row(count: 3)), for: key("c"))
    table.undoStep()
    #expect(try table.row(key("a"))?.counting == Row(count: 10))
    #expect(try table.row(key("b"))?.counting == Row(count: 2))
    #expect(try table.row(key("c"))?.counting == nil)
    #expect(try table.seal().map(\.key) == [key("a")])
  }

  @Test("a row added and removed between commits writes nothing; a removed one writes a tombstone")
  func changes() throws {
    let store = MemoryRowStore()
    store.apply([(key("a"), bytes(1))])
    var table = table(store)
    table.beginStep()
    try table.set(TypedRow(Row(count: 5)), for: key("new"))
    try table.set(nil, for: key("new"))
    try table.set(nil, for: key("a"))
    let changes = try table.seal()
    #expect(changes.map(\.key) == [key("a")])
    #expect(changes.map(\.bytes) == [nil])
  }

  @Test("a row that came and went before the store was written is not written; one that the store has is removed")
  func comesAndGoes() throws {
    let store = MemoryRowStore()
    store.apply([(key("old"), bytes(1))])
    var table = table(store)
    func commit(_ changes: [(String, Int?)]) throws {
      table.beginStep()
      for (name, count) in changes { try table.set(count.map { TypedRow(Row(count: $0)) }, for: key(name)) }
      _ = try table.seal()
      table.committed()
    }
    try commit([("new", 1), ("stays", 1)])
    try commit([("new", nil), ("old", nil)])
    #expect(table.unstored().map(\.key) == [key("old"), key("stays")])
    store.apply(table.unstored())
    table.stored()
    #expect(store.rows == [key("stays"): bytes(1)])
    // The store has it now.
    try commit([("stays", nil), ("new", 2)])
    #expect(table.unstored().map(\.bytes) == [bytes(2), nil])
    table.stored()
    try commit([("stays", 3)])
    try commit([("stays", nil)])
    #expect(table.unstored().isEmpty)
  }

  @Test("children of a key: store and changes together, in key order, without neighbours of other parents")
  func scan() throws {
    let store = MemoryRowStore()
    store.apply([
      (RowKey("c", "1", "x"), bytes(1)), (RowKey("c", "1", "y"), bytes(2)), (RowKey("c", "10", "x"), bytes(3)),
      (RowKey("c", "1"), bytes(4)), (RowKey("c", "1", "x", "deeper"), bytes(5)),
    ])
    var table = table(store)
    table.beginStep()
    try table.set(nil, for: RowKey("c", "1", "x"))
    try table.set(TypedRow(Row(count: 6)), for: RowKey("c", "1", "a"))
    try table.set(TypedRow(Row(count: 7)), for: RowKey("c", "1", "y"))
    let rows = try table.rows(below: RowKey("c", "1"))
    #expect(rows.map(\.0) == [RowKey("c", "1", "a"), RowKey("c", "1", "y")])
    #expect(rows.map(\.1.counting?.count) == [6, 7])
  }

  @Test("memory is bounded: clean rows are evicted, changed ones stay, and all are still found")
  func eviction() throws {
    let store = MemoryRowStore()
    var table = table(store, cacheBytes: 60_000)
    for round in 0..<20 {
      table.beginStep()
      for index in 0..<50 { try table.set(TypedRow(Row(count: round)), for: key("\(round)-\(index)")) }
      _ = try table.seal()
      table.committed()
      store.apply(table.unstored())
      table.stored()
    }
    #expect(table.count < 250, "\(table.count) rows in memory of 1000")
    for round in 0..<20 { #expect(try table.row(key("\(round)-7"))?.counting == Row(count: round)) }
  }

  @Test("rows that were only read are evicted at the next commit; rows that the store lacks stay")
  func evictionOfReadRows() throws {
    let store = MemoryRowStore()
    store.apply((0..<1000).map { (key: key("read-\($0)"), bytes: Array("1".utf8)) })
    var table = table(store, cacheBytes: 60_000)
    for round in 0..<20 {
      table.beginStep()
      for index in 0..<50 { _ = try table.row(key("read-\(round * 50 + index)")) }
      for index in 0..<10 { try table.set(TypedRow(Row(count: round)), for: key("\(round)-\(index)")) }
      _ = try table.seal()
      table.committed()
    }
    #expect(table.count < 500, "\(table.count) rows in memory of 1200")
    #expect(table.unstoredCount == 200)
    for round in 0..<20 { #expect(try table.row(key("\(round)-7"))?.counting == Row(count: round)) }
    #expect(try table.row(key("read-3"))?.counting == Row(count: 1))
  }

  @Test("keys are bytes: ids that Unicode deems equal are two rows")
  func canonicalEquivalence() throws {
    var table = table(MemoryRowStore())
    table.beginStep()
    try table.set(TypedRow(Row(count: 1)), for: key("\u{e9}"))
    try table.set(TypedRow(Row(count: 2)), for: key("e\u{301}"))
    #expect(try table.row(key("\u{e9}"))?.counting == Row(count: 1))
    #expect(try table.seal().count == 2)
  }

  @Test("a scan finds an evicted row whose change was undone")
  func undoneAndEvicted() throws {
    let store = MemoryRowStore()
    store.apply([(RowKey("c", "1", "x"), bytes(1))])
    var table = table(store, cacheBytes: 2000)
    table.beginStep()
    try table.set(TypedRow(Row(count: 2)), for: RowKey("c", "1", "x"))
    #expect(try table.rows(below: RowKey("c", "1")).count == 1)
    table.undoStep()
    for index in 0..<100 { _ = try table.row(key("\(index)")) }
    _ = try table.seal()
    table.committed()
    #expect(table.count < 50)
    #expect(try table.rows(below: RowKey("c", "1")).map(\.1.counting?.count) == [1])
  }

  @Test("a row may be open, sealed and unstored at once, with three values")
  func threeValues() throws {
    let store = MemoryRowStore()
    var table = table(store)
    for count in 1...3 {
      table.beginStep()
      try table.set(TypedRow(Row(count: count)), for: key("a"))
      if count < 3 { #expect(try table.seal().map(\.bytes) == [bytes(count)]) }
      if count == 1 { table.committed() }
    }
    store.apply(table.unstored())
    table.stored()
    #expect(store.rows == [key("a"): bytes(1)])
    #expect(try table.row(key("a"))?.counting?.count == 3)
    #expect(try table.rows(below: RowKey("k")).map(\.1.counting?.count) == [3])
    table.committed()
    store.apply(table.unstored())
    table.stored()
    #expect(store.rows == [key("a"): bytes(2)])
    #expect(try table.seal().map(\.bytes) == [bytes(3)])
  }

  @Test("random steps, seals, commits and writes end in the same rows as a plain dictionary", arguments: 1...20)
  func randomised(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = MemoryRowStore()
    var table = table(store, cacheBytes: 3000)
    var expected: [RowKey: Int] = [:]
    var sealed: [RowKey: Int]?
    var committed = expected
    for _ in 0..<400 {
      table.beginStep()
      var next = expected
      for _ in 0..<(1 + random.below(4)) {
        let key = key("\(random.below(20))")
        let count = random.oneIn(3) ? nil : random.below(100)
        next[key] = count
        try table.set(count.map { TypedRow(Row(count: $0)) }, for: key)
      }
      if random.oneIn(5) { table.undoStep() } else { expected = next }
      if sealed == nil, random.oneIn(4) {
        _ = try table.seal()
        sealed = expected
      }
      if let rows = sealed, random.oneIn(4) {
        table.committed()
        committed = rows
        sealed = nil
      }
      if random.oneIn(8) {
        store.apply(table.unstored())
        table.stored()
        #expect(
          store.rows.mapValues { Int(String(decoding: $0, as: UTF8.self)) } == committed,
          "seed \(seed): the store has what is committed")
      }
      for name in 0..<20 {
        #expect(try table.row(key("\(name)"))?.counting?.count == expected[key("\(name)")], "seed \(seed)")
      }
      #expect(
        try Dictionary(uniqueKeysWithValues: table.rows(below: RowKey("k")).map { ($0.0, $0.1.counting?.count) })
          == expected,
        "seed \(seed)")
    }
    if sealed != nil { table.committed() }
    _ = try table.seal()
    table.committed()
    store.apply(table.unstored())
    #expect(store.rows.mapValues { Int(String(decoding: $0, as: UTF8.self)) } == expected, "seed \(seed)")
  }
}

@Suite("A task's store file")
struct SQLiteTaskStoreTests {
  private func header(_ sequence: Int64) -> StoreHeader {
    StoreHeader(
      position: PositionRecord(sequence: sequence, next: ["nudge.timeline": 4], writer: "w"), changelogOffset: 9,
      storedAt: 1)
  }

  @Test("rows and position survive a reopening, together")
  func reopen() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/counting/0.sqlite"
    let first = try SQLiteTaskStore(path: path, coder: RecordCoder())
    #expect(first.header == nil)
    try first.apply([(RowKey("k", "a"), [1]), (RowKey("k", "b"), [2])], header: header(1))
    try first.apply([(RowKey("k", "a"), nil)], header: header(2))
    first.close()
    let second = try SQLiteTaskStore(path: path, coder: RecordCoder())
    #expect(second.header == header(2))
    #expect(try second.withRow(RowKey("k", "a")) { _ in true } == nil)
    #expect(try second.withRow(RowKey("k", "b")) { Array($0) } == [2])
    try second.wipe()
    #expect(second.header == nil)
    #expect(try second.withRow(RowKey("k", "b")) { Array($0) } == nil)
  }

  @Test("a damaged file is replaced by an empty one")
  func damaged() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/0.sqlite"
    let first = try SQLiteTaskStore(path: path, coder: RecordCoder())
    try first.apply([(RowKey("k", "a"), [1])], header: header(1))
    first.close()
    try String(repeating: "no database ", count: 2000).write(toFile: path, atomically: false, encoding: .utf8)
    let second = try SQLiteTaskStore(path: path, coder: RecordCoder())
    #expect(second.header == nil)
    try second.apply([(RowKey("k", "b"), [2])], header: header(1))
  }

  @Test("every store that shares a writer sees its background writes")
  func later() throws {
    let directory = try TemporaryDirectory()
    let writer = StoreWriter()
    let stores = try (0..<4).map {
      try SQLiteTaskStore(path: "\(directory.path)/\($0).sqlite", coder: RecordCoder(), writer: writer)
    }
    let keys = (0..<200).map { RowKey("k", String(1000 + $0)) }
    for sequence in 1...5 {
      for (number, store) in stores.enumerated() {
        try store.applyLater(
          keys.map { ($0, [UInt8(number), UInt8(sequence)]) }, header: header(Int64(sequence)))
      }
      #expect(try stores[2].withRow(keys[199]) { Array($0) } == [2, UInt8(sequence)])
    }
    for (number, store) in stores.enumerated() {
      #expect(store.header == header(5))
      store.close()
      let again = try SQLiteTaskStore(path: "\(directory.path)/\(number).sqlite", coder: RecordCoder())
      #expect(again.header == header(5))
      for key in keys { #expect(try again.withRow(key) { Array($0) } == [UInt8(number), 5]) }
    }
  }

  @Test("the next use reports a failed background write, which leaves nothing in the file")
  func laterFails() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/0.sqlite"
    let (good, bad) = (RowKey("k", "good"), RowKey("k", "refused"))
    try prepare(path, refusing: bad)
    let store = try SQLiteTaskStore(path: path, coder: RecordCoder())
    try store.applyLater([(good, [2]), (bad, [2])], header: header(2))
    let failure = #expect(throws: StoreFailure.self) { try store.withRow(good) { Array($0) } }
    #expect(failure?.description.contains("full") == true, "\(failure?.description ?? "")")
    store.close()
    let again = try SQLiteTaskStore(path: path, coder: RecordCoder())
    #expect(again.header == header(1))
    #expect(try again.withRow(good) { Array($0) } == [1])
    // Nor does the failure of one step get lost where the next is another one.
    try again.applyLater([(bad, [3])], header: header(3))
    #expect(throws: StoreFailure.self) { try again.applyLater([(good, [3])], header: header(4)) }
  }

  /// A store with one row that fails where a key is written, as a full disk fails.
  private func prepare(_ path: String, refusing key: RowKey) throws {
    let store = try SQLiteTaskStore(path: path, coder: RecordCoder())
    try store.apply([(RowKey("k", "good"), [1])], header: header(1))
    store.close()
    let connection = try SQLiteConnection(path: path)
    let hexadecimal = key.bytes.map { String(format: "%02x", $0) }.joined()
    try connection.execute(
      "CREATE TRIGGER refuse BEFORE INSERT ON rows WHEN NEW.key = x'\(hexadecimal)' "
        + "BEGIN SELECT RAISE(ABORT, 'full'); END")
  }
}
