import NudgeSchema
import TestSupport
import Testing

@testable import StreamRuntime

@Suite("The table of a cache's rows")
struct RowTableTests {
  private func row(_ key: RowKey, in table: RowTable) -> CachedRow {
    CachedRow(key: key, hash: table.hash(of: key), row: nil, bytes: 0, isInChangelog: false)
  }

  @Test("finds what a dictionary finds, whatever came and went", arguments: 1...40)
  func asADictionary(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = RowTable(seed: seed)
    // It owns the rows, as the cache's ring does.
    var expected: [RowKey: CachedRow] = [:]
    // Few keys, so that many come and go and stand behind each other; the table grows in some of the runs.
    let keys = (0..<(seed.isMultiple(of: 4) ? 2_000 : 40)).map { RowKey("k", String($0, radix: 36)) }
    for _ in 0..<(8 * keys.count) {
      let key = keys[random.below(keys.count)]
      if let known = table[key] {
        #expect(expected[key] === known, "seed \(seed)")
        guard random.oneIn(2) else { continue }
        table.remove(known)
        expected[key] = nil
      } else {
        #expect(expected[key] == nil, "seed \(seed): \(key)")
        let added = row(key, in: table)
        table.insert(added)
        expected[key] = added
      }
      #expect(table.count == expected.count, "seed \(seed)")
    }
    for key in keys { #expect(table[key] === expected[key], "seed \(seed): \(key)") }
  }

  @Test("rows of one hash are all found, and each can go")
  func oneHash() {
    var table = RowTable(seed: 1)
    let rows = (0..<50).map {
      CachedRow(key: RowKey("k", String($0)), hash: .max, row: nil, bytes: 0, isInChangelog: false)
    }
    for row in rows { table.insert(row) }
    for row in rows { #expect(table.row(row.key, hash: .max) === row) }
    for row in rows.enumerated().filter({ $0.offset % 3 == 0 }) { table.remove(row.element) }
    for (index, row) in rows.enumerated() {
      #expect((table.row(row.key, hash: .max) === row) == (index % 3 != 0), "\(index)")
    }
    withExtendedLifetime(rows) { #expect(table.row(RowKey("k", "other"), hash: .max) == nil) }
    #expect(table.count == 33)
  }

  @Test("a key's hash depends on each of its bytes and on their number, and differs from table to table")
  func hashes() {
    let table = RowTable(seed: 7)
    var seen: Set<UInt64> = []
    var count = 0
    for length in 0...24 {
      let key = [UInt8](repeating: 0, count: length)
      seen.insert(table.hash(of: RowKey(bytes: key)))
      count += 1
      for index in 0..<length {
        var changed = key
        changed[index] = 1
        seen.insert(table.hash(of: RowKey(bytes: changed)))
        count += 1
      }
    }
    #expect(seen.count == count)
    let key = RowKey("c", "user", "conversation")
    #expect(table.hash(of: key) != RowTable(seed: 8).hash(of: key))
    #expect(table.hash(of: key) == RowTable(seed: 7).hash(of: key))
  }

  @Test("a copy keeps its rows when the table changes")
  func copies() {
    var table = RowTable(seed: 3)
    let first = row(RowKey("k", "a"), in: table)
    table.insert(first)
    let copy = table
    table.remove(first)
    withExtendedLifetime(first) {
      #expect(table[first.key] == nil)
      #expect(copy[first.key] === first)
    }
  }
}
