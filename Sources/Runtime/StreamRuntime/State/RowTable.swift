import NudgeSchema

/// The rows of a cache by their keys.
///
/// A dictionary hashes the key of each row on the way to a free place whenever a row is removed. The keys lie far apart in memory, and
/// several of them are hashed for each row that is added and removed. Here each row has its hash beside it.
///
/// The cache's ring owns the rows, and the table only points to them. Counting a reference to a row would write to the row, and the
/// processor would wait for that memory before it compares the key.
///
/// The table uses open addressing with linear probing: a row is at the place of its hash, or behind it without a gap. At most half of the
/// places are taken.
struct RowTable {
  /// A row and its hash side by side, so that one access to memory reads both.
  private struct Place {
    /// The row's hash. 0: the place is free.
    var hash: UInt64 = 0
    var row: Unmanaged<CachedRow>?
  }

  private var places = [Place](repeating: Place(), count: 64)
  /// The number of rows.
  private(set) var count = 0
  /// A random seed of the hash. Producers choose the ids in keys, and could else choose ids that all have one place.
  private let seed: UInt64

  init(seed: UInt64 = .random(in: .min ... .max)) {
    self.seed = seed
  }

  /// The hash of a key in this table. It is never 0.
  func hash(of key: RowKey) -> UInt64 {
    key.bytes.withUnsafeBytes { bytes in
      var hash = seed
      var index = 0
      while index + 8 <= bytes.count {
        hash = Self.mixed(hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self), 0x9e37_79b9_7f4a_7c15)
        index += 8
      }
      // At most seven bytes. The number of all bytes is above them, so that leading zeros count.
      var rest: UInt64 = 0
      while index < bytes.count {
        rest = rest << 8 | UInt64(bytes[index])
        index += 1
      }
      rest |= UInt64(truncatingIfNeeded: bytes.count) << 56
      hash = Self.mixed(hash ^ rest, 0xd6e8_feb8_6659_fd93)
      return hash == 0 ? 1 : hash
    }
  }

  /// Both halves of a product of 128 bits: each bit of the number has a part in each bit of the result.
  private static func mixed(_ number: UInt64, _ factor: UInt64) -> UInt64 {
    let product = number.multipliedFullWidth(by: factor)
    return product.high ^ product.low
  }

  private var mask: Int { places.count - 1 }

  private func home(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & mask }

  /// The row of a key with this hash. Absent if the table has none.
  func row(_ key: RowKey, hash: UInt64) -> CachedRow? {
    var place = home(of: hash)
    while places[place].hash != 0 {
      if places[place].hash == hash, let row = places[place].row, row._withUnsafeGuaranteedRef({ $0.key == key }) {
        return row.takeUnretainedValue()
      }
      place = (place + 1) & mask
    }
    return nil
  }

  /// The row of a key. Absent if the table has none.
  subscript(key: RowKey) -> CachedRow? { row(key, hash: hash(of: key)) }

  /// Adds a row whose key the table does not have. The row's hash must be this table's.
  mutating func insert(_ row: CachedRow) {
    if 2 * (count + 1) > places.count { grow() }
    put(row)
    count += 1
  }

  private mutating func put(_ row: CachedRow) {
    var place = home(of: row.hash)
    while places[place].hash != 0 { place = (place + 1) & mask }
    places[place] = Place(hash: row.hash, row: .passUnretained(row))
  }

  private mutating func grow() {
    let former = places
    places = [Place](repeating: Place(), count: 2 * former.count)
    for place in former { if let row = place.row { put(row.takeUnretainedValue()) } }
  }

  /// Removes a row that the table has. Rows behind it move up, so that no gap cuts them off from their places.
  mutating func remove(_ row: CachedRow) {
    var gap = home(of: row.hash)
    while places[gap].hash != 0, places[gap].row?.toOpaque() != Unmanaged.passUnretained(row).toOpaque() {
      gap = (gap + 1) & mask
    }
    guard places[gap].hash != 0 else { return }
    count -= 1
    var place = gap
    while true {
      place = (place + 1) & mask
      guard places[place].hash != 0 else { break }
      // A row whose own place is behind the gap stays there.
      let way = (place - home(of: places[place].hash)) & mask
      guard way >= (place - gap) & mask else { continue }
      places.swapAt(gap, place)
      gap = place
    }
    places[gap] = Place()
  }
}

/// An immutable box for a row of any type.
///
/// A stage is in another module, so generic code runs unspecialised, and copying a value of unknown type costs ten times as much as copying
/// a pointer. The cache therefore moves boxes, and only `Step` opens them.
class StoredRow {
  /// The row's bytes.
  func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] { [] }
}

/// A row of a stage.
final class TypedRow<Row: StateRow>: StoredRow {
  let row: Row

  init(_ row: Row) { self.row = row }

  override func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] {
    try row.encoded(coder: coder, at: level)
  }
}

/// A row in the cache, or the fact that there is no such row.
final class CachedRow {
  let key: RowKey
  /// The hash of the key in the cache's table.
  let hash: UInt64
  /// The row. Absent if there is no such row.
  private(set) var row: StoredRow?
  /// The row before the current step. Only kept while `isInJournal`.
  private var before: StoredRow?
  /// The estimated size in memory.
  var bytes: Int
  /// Whether it was changed since the last transaction was sealed.
  var isOpen = false
  /// Whether it is part of the sealed transaction.
  var isSealed = false
  /// Whether it is committed but not in the store yet.
  var isUnstored = false
  /// Whether the current step has changed it: `before` is kept.
  private(set) var isInJournal = false
  private var wasOpen = false
  /// Whether the changelog has a value of this key, or will have one with the sealed transaction. A removal then needs a tombstone.
  var isInChangelog: Bool
  /// Whether the store has a value of this key. If not, a removal need not be written.
  var isInStore: Bool
  /// Whether the store lacks the current value.
  var isChanged: Bool { isOpen || isSealed || isUnstored }
  /// Whether it was used since the last eviction sweep.
  var isUsed = true
  /// The bytes committed last, for the store, only while `isUnstored`. Absent for a removed row.
  var committed: [UInt8]?

  init(key: RowKey, hash: UInt64, row: StoredRow?, bytes: Int, isInChangelog: Bool) {
    self.key = key
    self.hash = hash
    self.row = row
    self.bytes = bytes
    self.isInChangelog = isInChangelog
    isInStore = isInChangelog
  }

  /// Replaces the row. `undo` restores the row from before the step.
  func set(_ row: StoredRow?) {
    if !isInJournal {
      before = self.row
      isInJournal = true
      wasOpen = isOpen
    }
    self.row = row
  }

  /// The estimated size of a row in memory: its objects, key and dictionary entry, and its fields, whose strings and arrays take about
  /// three times their encoded size.
  static func size(encoded bytes: Int, of key: RowKey) -> Int { 300 + key.bytes.count + 3 * bytes }

  /// Restores the row from before the step.
  func undo() {
    row = before
    isOpen = wasOpen
  }

  /// Drops the row from before the step.
  func forget() {
    before = nil
    isInJournal = false
  }
}
