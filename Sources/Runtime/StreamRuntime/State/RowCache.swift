import NudgeSchema

/// The rows of one task in memory, above its store. Rows in use stay decoded. Changed rows wait here for their commit, and then for the
/// store. One thread owns the cache. A copy of the struct shares the rows.
///
/// A changed row is *open* until a transaction is sealed with it, *sealed* until that transaction is committed, and *unstored* until the
/// store has it. It can be all three at once, with three values, because steps continue while a transaction is in flight.
///
/// The cache is not generic over the row's type (see `StoredRow`). The caller knows the type.
struct RowCache {
  private var slots = RowTable()
  /// The same rows, in the order in which the clock hand examines them for eviction.
  private var ring: [CachedRow] = []
  private var hand = 0
  /// The row used last. Most rows are read and then set, so the second access finds it here.
  private var last: CachedRow?
  /// Rows of the next transaction.
  private var open: [CachedRow] = []
  /// Encoded rows of the sealed transaction. Absent bytes are a tombstone.
  private var sealed: [(slot: CachedRow, bytes: [UInt8]?)] = []
  private var unstoredSlots: [CachedRow] = []
  /// Keys whose changes the store lacks, by parent. Scans merge them with the store's rows.
  private var unstoredByParent: [RowKey: Set<RowKey>] = [:]
  /// Changed rows that are not in `unstoredByParent` yet. The next scan adds them, because most stages never scan.
  private var unindexed: [CachedRow] = []
  private var journal: [CachedRow] = []
  /// The number of open rows when the step began.
  private var journalOpen = 0
  /// The estimated size of the rows in memory, in bytes.
  private(set) var cachedBytes = 0
  /// The level at which rows are written from now on.
  var level: FormatLevel
  private let coder: RecordCoder
  private let store: any RowStore
  private let decode: (RowKey, UnsafeRawBufferPointer) throws -> StoredRow
  /// The number of bytes above which clean rows are evicted.
  let cacheBytes: Int
  /// How many rows the hand examines for each new row. If every row could be evicted, two would suffice: one to clear the mark of use, one
  /// to evict.
  private static let looks = 4

  /// Makes a cache for rows of one type.
  init<Row: StateRow>(
    of _: Row.Type, store: any RowStore, coder: RecordCoder, cacheBytes: Int, level: FormatLevel = .latest
  ) {
    self.level = level
    self.store = store
    self.coder = coder
    self.cacheBytes = cacheBytes
    decode = { key, bytes in
      do {
        return TypedRow(try Row(key: key, bytes: bytes, coder: coder))
      } catch let failure as StoreFailure {
        throw failure
      } catch {
        store.suspectDamage()
        throw StoreFailure(
          operation: "read a row",
          reason:
            "\(error). Run the release that wrote the row, or a later one (docs/operations.md, Upgrade and rollback)")
      }
    }
  }

  /// The number of rows in memory, absent ones included.
  var count: Int { slots.count }

  /// The number of rows changed since the last transaction was sealed.
  var openCount: Int { open.count }

  /// The number of committed rows the store lacks.
  var unstoredCount: Int { unstoredSlots.count }

  /// The current row, with the changes of this step.
  /// - Throws: `StoreFailure`, which ends the thread, if the row cannot be read or decoded.
  mutating func row(_ key: RowKey) throws -> StoredRow? { try slot(key).row }

  /// The current row without retaining it. The reference is valid until the row is set or another row is read.
  mutating func glance(at key: RowKey) throws -> Unmanaged<StoredRow>? {
    try slot(key).row.map { Unmanaged.passUnretained($0) }
  }

  private mutating func slot(_ key: RowKey) throws -> CachedRow {
    if let last, last.key == key { return last }
    let slot: CachedRow
    let hash = slots.hash(of: key)
    if let known = slots.row(key, hash: hash) {
      slot = known
    } else {
      slot = try load(key, hash: hash)
      // Evicts before the new row is added, so that it cannot evict itself.
      if cachedBytes > cacheBytes { evict(looks: Self.looks) }
      slots.insert(slot)
      ring.append(slot)
      cachedBytes += slot.bytes
    }
    slot.isUsed = true
    last = slot
    return slot
  }

  private func load(_ key: RowKey, hash: UInt64) throws -> CachedRow {
    var slot: CachedRow?
    _ = try store.read(key) { bytes in
      slot = CachedRow(
        key: key, hash: hash, row: try decode(key, bytes), bytes: CachedRow.size(encoded: bytes.count, of: key),
        isInChangelog: true)
    }
    return slot
      ?? CachedRow(
        key: key, hash: hash, row: nil, bytes: CachedRow.size(encoded: 0, of: key), isInChangelog: false)
  }

  /// Sets a row, or removes it if it is absent.
  mutating func set(_ row: StoredRow?, for key: RowKey) throws {
    let slot = try slot(key)
    if row == nil && slot.row == nil { return }
    if !slot.isInJournal { journal.append(slot) }
    slot.set(row)
    recordChange(slot)
  }

  private mutating func recordChange(_ slot: CachedRow) {
    guard !slot.isOpen else { return }
    if !slot.isChanged { unindexed.append(slot) }
    slot.isOpen = true
    open.append(slot)
  }

  private mutating func indexChanges() {
    for slot in unindexed {
      if let parent = slot.key.parent { unstoredByParent[parent, default: []].insert(slot.key) }
    }
    unindexed.removeAll(keepingCapacity: true)
  }

  /// A page of the keys below a prefix that come after `key`, in key order and with any number of parts. Changes of this step are included.
  ///
  /// - Parameter limit: The most keys of the store that are examined. The page may have more keys, because some are not in the store yet.
  /// - Returns: The keys, and the key after which the next page begins, absent for the last page.
  mutating func keys(
    below prefix: RowKey, after key: RowKey?, limit: Int
  ) throws -> (keys: [RowKey], next: RowKey?) {
    indexChanges()
    let first = RowKey(bytes: (key ?? prefix).bytes + [0])
    var found: [RowKey] = []
    try store.rows(from: first, to: RowKey(bytes: prefix.bytes + [1]), limit: limit) { key, _ in found.append(key) }
    let next = found.count < limit ? nil : found.last
    var changed: Set<RowKey> = []
    for (parent, keys) in unstoredByParent where parent == prefix || parent.isBelow(prefix) {
      for candidate in keys where key.map({ $0 < candidate }) ?? true && next.map({ candidate <= $0 }) ?? true {
        changed.insert(candidate)
      }
    }
    guard !changed.isEmpty else { return (found, next) }
    found.removeAll { changed.contains($0) }
    for key in changed where try row(key) != nil { found.append(key) }
    return (found.sorted(), next)
  }

  /// All rows whose parent is `prefix`, in key order, with the changes of this step.
  /// - Throws: As `row`.
  mutating func rows(below prefix: RowKey) throws -> [(RowKey, StoredRow)] {
    try page(below: prefix, from: nil, before: nil, limit: .max).rows
  }

  /// A page of the rows whose parent is `prefix`, in key order, with the changes of this step: up to `limit` rows of the store, and the
  /// changed rows among them. `next` is where the next page begins, absent for the last page.
  mutating func page(
    below prefix: RowKey, from first: RowKey?, before end: RowKey?, limit: Int
  ) throws -> (rows: [(RowKey, StoredRow)], next: RowKey?) {
    indexChanges()
    let first = max(first ?? prefix, RowKey(bytes: prefix.bytes + [0]))
    let end = end ?? RowKey(bytes: prefix.bytes + [1])
    let changed = unstoredByParent[prefix] ?? []
    var found: [(RowKey, StoredRow)] = []
    var read = 0
    var last: RowKey?
    try store.rows(from: first, to: end, limit: limit) { key, bytes in
      read += 1
      last = key
      guard key.parent == prefix, !changed.contains(key) else { return }
      found.append((key, try slots[key]?.row ?? decode(key, bytes)))
    }
    // The key that follows the last one read.
    let next = read < limit ? nil : last.map { RowKey(bytes: $0.bytes + [0]) }
    if changed.isEmpty { return (found, next) }
    // A changed row may have been undone and evicted since, so it is read again.
    for key in changed where key >= first && key < (next ?? end) {
      if let row = try row(key) { found.append((key, row)) }
    }
    return (found.sorted { $0.0 < $1.0 }, next)
  }

  // MARK: Steps

  /// Starts a step, whose changes can be undone.
  mutating func beginStep() {
    if !journal.isEmpty { forgetJournal() }
    journalOpen = open.count
  }

  /// Undoes the changes of the step.
  mutating func undoStep() {
    for slot in journal { slot.undo() }
    open.removeSubrange(journalOpen...)
    forgetJournal()
  }

  private mutating func forgetJournal() {
    for slot in journal { slot.forget() }
    journal.removeAll(keepingCapacity: true)
  }

  // MARK: Transactions

  /// Seals the open rows and returns them as changelog records. Absent bytes are a tombstone. A row that was added and removed since the
  /// last seal makes no record. Call this only while no other transaction is sealed.
  mutating func seal() throws -> [(key: RowKey, bytes: [UInt8]?)] {
    // The last step can no longer be undone.
    forgetJournal()
    journalOpen = 0
    sealed.reserveCapacity(open.count)
    for slot in open {
      let bytes = try slot.row?.encoded(coder: coder, at: level)
      guard bytes != nil || slot.isInChangelog else { continue }
      sealed.append((slot, bytes))
    }
    for slot in open { slot.isOpen = false }
    open.removeAll(keepingCapacity: true)
    for (slot, bytes) in sealed {
      slot.isSealed = true
      slot.isInChangelog = bytes != nil
      let size = CachedRow.size(encoded: bytes?.count ?? 0, of: slot.key)
      cachedBytes += size - slot.bytes
      slot.bytes = size
    }
    return sealed.map { ($0.slot.key, $0.bytes) }
  }

  /// Marks the sealed rows as committed.
  mutating func committed() {
    for (slot, bytes) in sealed {
      slot.isSealed = false
      slot.committed = bytes
      guard !slot.isUnstored else { continue }
      slot.isUnstored = true
      unstoredSlots.append(slot)
    }
    sealed.removeAll(keepingCapacity: true)
  }

  // MARK: Write-behind

  /// The committed rows that the store lacks, in key order, without rows that were added and removed since the last write to the store.
  func unstored() -> [(key: RowKey, bytes: [UInt8]?)] {
    var rows: [(key: RowKey, bytes: [UInt8]?)] = []
    rows.reserveCapacity(unstoredSlots.count)
    for slot in unstoredSlots where slot.committed != nil || slot.isInStore { rows.append((slot.key, slot.committed)) }
    // Sorted in place, because each copy would count the references of thousands of rows.
    rows.sort { $0.key < $1.key }
    return rows
  }

  /// Marks all `unstored` rows as stored. Evicts clean rows above the bound.
  mutating func stored() {
    for slot in unstoredSlots {
      slot.isUnstored = false
      slot.isInStore = slot.committed != nil
      slot.committed = nil
    }
    unstoredSlots.removeAll(keepingCapacity: true)
    // Sealed and open rows are not in the store yet, so scans merge them.
    if !unstoredByParent.isEmpty { unstoredByParent.removeAll(keepingCapacity: true) }
    unindexed.removeAll(keepingCapacity: true)
    for (slot, _) in sealed { unindexed.append(slot) }
    for slot in open where !slot.isSealed { unindexed.append(slot) }
    evict(looks: 2 * ring.count)
  }

  /// Evicts by second chance: a row that was used since the hand last passed survives this time.
  ///
  /// The hand continues where it stopped, and examines only a few rows for each new one. While a transaction fills, most rows are changed
  /// and must stay: a sweep over all rows would free little, and another one would be due soon.
  private mutating func evict(looks: Int) {
    var looks = looks
    while looks > 0, cachedBytes > cacheBytes, !ring.isEmpty {
      looks -= 1
      if hand >= ring.count { hand = 0 }
      let slot = ring[hand]
      hand += 1
      if slot.isChanged { continue }
      if slot.isUsed {
        slot.isUsed = false
        continue
      }
      hand -= 1
      ring.swapAt(hand, ring.count - 1)
      ring.removeLast()
      slots.remove(slot)
      cachedBytes -= slot.bytes
      if last === slot { last = nil }
    }
  }
}
