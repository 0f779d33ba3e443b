/// Maps hashes to numbers. Looking up a hash that is not in the table, the usual case, costs a nanosecond or two.
struct UrgencyTable: Sendable {
  private var numbers: [UInt64: [Int]] = [:]
  /// A Bloom filter with two bits for each hash. It is small, so that it stays in the processor's cache.
  private var filter: [UInt64] = []
  private var keys: [UInt64] = []
  /// By index in `keys`: the range of its numbers in `values`. An empty range marks a free entry.
  private var places: [Range<Int32>] = []
  private(set) var values: [Int] = []

  mutating func add(_ number: Int, for key: UInt64) { numbers[key, default: []].append(number) }

  /// Call it after the last `add` and before the first lookup.
  mutating func seal() {
    var size = 64
    while size < 2 * numbers.count { size *= 2 }
    keys = [UInt64](repeating: 0, count: size)
    places = [Range<Int32>](repeating: 0..<0, count: size)
    // Eight to sixteen bits for each hash.
    filter = [UInt64](repeating: 0, count: size / 16)
    for (key, numbers) in numbers {
      let slot = slot(of: key)
      keys[slot] = key
      places[slot] = Int32(values.count)..<Int32(values.count + numbers.count)
      values += numbers
      let (word, bits) = filterPlace(of: key)
      filter[word] |= bits
    }
    numbers = [:]
  }

  /// Whether the hash may be in the table.
  @inline(__always) func mayHave(_ key: UInt64) -> Bool {
    let (word, bits) = filterPlace(of: key)
    return filter[word] & bits == bits
  }

  /// The range of a hash's numbers in `values`.
  func places(of key: UInt64) -> Range<Int> {
    let places = places[slot(of: key)]
    return Int(places.lowerBound)..<Int(places.upperBound)
  }

  @inline(__always) private func filterPlace(of key: UInt64) -> (word: Int, bits: UInt64) {
    let mixed = key ^ key >> 29
    return (Int(truncatingIfNeeded: mixed >> 12) & (filter.count - 1), 1 << (mixed & 63) | 1 << (mixed >> 6 & 63))
  }

  /// The index of the key, or of a free entry for it.
  private func slot(of key: UInt64) -> Int {
    var slot = Int(truncatingIfNeeded: key ^ key >> 32) & (keys.count - 1)
    while keys[slot] != key, !places[slot].isEmpty { slot = (slot + 1) & (keys.count - 1) }
    return slot
  }
}
