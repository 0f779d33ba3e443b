import NudgeSchema

/// The rows of a cache by their keys.
///
/// A dictionary would hash the key of each row that it looks at on the way to a free place, whenever a row leaves: keys that lie far
/// apart in memory, several of them for each row that comes and goes. Here each row has its hash beside it.
///
/// The cache's ring owns the rows. The table only points to them. Counting a reference to a row writes to the row, and the
/// processor waits for that memory before it compares the key.
///
/// Open addressing with linear probing: a row stands at the place of its hash, or behind it without a gap. At most half of the places are
/// taken.
struct RowTable {
  /// A row with its hash, side by side: one look at memory for both.
  private struct Place {
    /// 0: the place is free.
    var hash: UInt64 = 0
    var row: Unmanaged<CachedRow>?
  }

  private var places = [Place](repeating: Place(), count: 64)
  /// The number of rows.
  private(set) var count = 0
  /// Producers choose the ids in keys: without it they could choose ids that all have one place.
  private let seed: UInt64

  init(seed: UInt64 = .random(in: .min ... .max)) {
    self.seed = seed
  }

  /// The hash of a key in this table; never 0.
  func hash(of key: RowKey) -> UInt64 {
    key.bytes.withUnsafeBytes { bytes in
      var hash = seed
      var index = 0
      while index + 8 <= bytes.count {
        hash = Self.mixed(hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self), 0x9e37_79b9_7f4a_7c15)
        index += 8
      }
      // At most seven bytes; the number of all bytes stands above them, or leading zeros would not count.
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

  /// The row of a key with this hash; nil: it is not here.
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

  /// The row of a key; nil: it is not here.
  subscript(key: RowKey) -> CachedRow? { row(key, hash: hash(of: key)) }

  /// Adds a row whose key is not here, and whose hash is this table's.
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

  /// Removes a row that is here. Rows behind it move up, so that none is cut off from its place by a gap.
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
      // A row whose own place lies behind the gap stays where it is.
      let way = (place - home(of: places[place].hash)) & mask
      guard way >= (place - gap) & mask else { continue }
      places.swapAt(gap, place)
      gap = place
    }
    places[gap] = Place()
  }
}
