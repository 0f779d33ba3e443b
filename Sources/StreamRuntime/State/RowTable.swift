import NudgeSchema

/// What lies below a task's rows in memory: a read-only view of the store.
protocol RowStore: AnyObject {
  /// The row's bytes; nil where there is none.
  func withRow<Result>(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result?
  /// Calls `body` with each row below a prefix, in key order.
  func scan(below prefix: RowKey, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void) throws
}

/// The rows of one task in memory, over its store: hot rows stay decoded, changed rows wait for their commit and then for
/// the store. One thread owns it.
struct RowTable<Row: StateRow> {
  private struct Entry {
    /// nil: there is no such row.
    var row: Row?
    /// About what the row takes in memory.
    var bytes: Int
    /// Changed since the last commit.
    var uncommitted = false
    /// Committed, but not in the store yet.
    var unstored = false
    /// The changelog may hold a value of this key: a removal must be written as a tombstone.
    var inChangelog: Bool
    /// Used since the sweep that evicts last passed.
    var used = true
  }

  private var entries: [RowKey: Entry] = [:]
  private(set) var uncommittedKeys: [RowKey] = []
  private(set) var unstoredKeys: [RowKey] = []
  /// Changed keys the store does not show yet, by parent: what a scan must put over the store.
  private var unstoredByParent: [RowKey: Set<RowKey>] = [:]
  private var journal: [(RowKey, Entry?)] = []
  private var journalUncommitted = 0
  private var cachedBytes = 0
  private let coder: RecordCoder
  private let store: any RowStore
  /// Evicts clean rows beyond this many bytes of rows in memory.
  let cacheBytes: Int

  init(store: any RowStore, coder: RecordCoder, cacheBytes: Int) {
    self.store = store
    self.coder = coder
    self.cacheBytes = cacheBytes
  }

  /// Rows in memory, among them those known to be absent.
  var count: Int { entries.count }

  /// The row now, changes of this step included.
  mutating func row(_ key: RowKey) throws -> Row? {
    if let index = entries.index(forKey: key) {
      entries.values[index].used = true
      return entries.values[index].row
    }
    let entry = try load(key)
    entries[key] = entry
    cachedBytes += entry.bytes
    return entry.row
  }

  private func load(_ key: RowKey) throws -> Entry {
    let found = try store.withRow(key) { bytes in
      Entry(
        row: try Row(key: key, bytes: bytes, coder: coder), bytes: bytes.count + key.bytes.count, inChangelog: true)
    }
    return found ?? Entry(row: nil, bytes: key.bytes.count, inChangelog: false)
  }

  /// Sets or, with nil, removes a row.
  mutating func set(_ row: Row?, for key: RowKey) throws {
    if entries[key] == nil { _ = try self.row(key) }
    guard let index = entries.index(forKey: key) else { return }
    journal.append((key, entries.values[index]))
    if row == nil && entries.values[index].row == nil { return }
    entries.values[index].row = row
    entries.values[index].used = true
    if !entries.values[index].uncommitted {
      entries.values[index].uncommitted = true
      uncommittedKeys.append(key)
      if !entries.values[index].unstored, let parent = key.parent { unstoredByParent[parent, default: []].insert(key) }
    }
  }

  /// All rows whose parent is `prefix`, in key order, changes of this step included.
  mutating func rows(below prefix: RowKey) throws -> [(RowKey, Row)] {
    var found: [(RowKey, Row)] = []
    let changed = unstoredByParent[prefix] ?? []
    try store.scan(below: prefix) { key, bytes in
      guard key.parent == prefix, !changed.contains(key) else { return }
      found.append((key, try entries[key]?.row ?? Row(key: key, bytes: bytes, coder: coder)))
    }
    if changed.isEmpty { return found }
    for key in changed {
      if let row = entries[key]?.row { found.append((key, row)) }
    }
    return found.sorted { $0.0 < $1.0 }
  }

  /// Marks a row to be written again as it is, or its absence as a tombstone: the changelog may end in a value of this key
  /// that does not count.
  mutating func rewrite(_ key: RowKey) throws {
    _ = try row(key)
    guard let index = entries.index(forKey: key) else { return }
    entries.values[index].inChangelog = true
    guard !entries.values[index].uncommitted else { return }
    entries.values[index].uncommitted = true
    uncommittedKeys.append(key)
    if !entries.values[index].unstored, let parent = key.parent { unstoredByParent[parent, default: []].insert(key) }
  }

  // MARK: Steps

  /// From here on changes can be undone.
  mutating func beginStep() {
    journal.removeAll(keepingCapacity: true)
    journalUncommitted = uncommittedKeys.count
  }

  /// Undoes what the step changed.
  mutating func undoStep() {
    for (key, entry) in journal.reversed() { entries[key] = entry }
    uncommittedKeys.removeSubrange(journalUncommitted...)
    journal.removeAll(keepingCapacity: true)
  }

  // MARK: Transactions

  /// The changed rows as changelog records: nil is a tombstone. A row that came and went between two commits writes
  /// nothing.
  func changes() throws -> [(key: RowKey, bytes: [UInt8]?)] {
    var changes: [(key: RowKey, bytes: [UInt8]?)] = []
    changes.reserveCapacity(uncommittedKeys.count)
    for key in uncommittedKeys {
      guard let entry = entries[key] else { continue }
      if let row = entry.row {
        changes.append((key, try row.encoded(coder: coder)))
      } else if entry.inChangelog {
        changes.append((key, nil))
      }
    }
    return changes
  }

  /// The transaction with `changes` has committed.
  mutating func committed(_ changes: [(key: RowKey, bytes: [UInt8]?)]) {
    for (key, bytes) in changes {
      guard let index = entries.index(forKey: key) else { continue }
      let size = key.bytes.count + (bytes?.count ?? 0)
      cachedBytes += size - entries.values[index].bytes
      entries.values[index].bytes = size
      entries.values[index].inChangelog = bytes != nil
      if !entries.values[index].unstored {
        entries.values[index].unstored = true
        unstoredKeys.append(key)
      }
    }
    for key in uncommittedKeys {
      if let index = entries.index(forKey: key) { entries.values[index].uncommitted = false }
    }
    uncommittedKeys.removeAll(keepingCapacity: true)
  }

  // MARK: Write-behind

  /// The committed rows the store lacks, in key order. Only between two transactions: nothing uncommitted may leak.
  func unstored() throws -> [(key: RowKey, bytes: [UInt8]?)] {
    try unstoredKeys.sorted().map { key in
      (key, try entries[key]?.row?.encoded(coder: coder))
    }
  }

  /// The store has all of `unstored` now: clean rows beyond the bound may go.
  mutating func stored() {
    for key in unstoredKeys {
      if let index = entries.index(forKey: key) { entries.values[index].unstored = false }
    }
    unstoredKeys.removeAll(keepingCapacity: true)
    unstoredByParent.removeAll(keepingCapacity: true)
    evict()
  }

  /// Second chance: a row used since the last sweep survives this one.
  private mutating func evict() {
    guard cachedBytes > cacheBytes else { return }
    for pass in 0..<2 where cachedBytes > cacheBytes {
      var victims: [RowKey] = []
      var freed = 0
      for index in entries.indices {
        let entry = entries.values[index]
        if entry.uncommitted || entry.unstored { continue }
        if entry.used && pass == 0 {
          entries.values[index].used = false
        } else {
          victims.append(entries.keys[index])
          freed += entry.bytes
          if cachedBytes - freed <= cacheBytes * 3 / 4 { break }
        }
      }
      for key in victims { entries[key] = nil }
      cachedBytes -= freed
    }
  }
}
