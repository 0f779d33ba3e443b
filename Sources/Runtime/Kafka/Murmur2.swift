/// The hash by which Java's default partitioner, and librdkafka's `murmur2`, give a key its partition.
public enum Murmur2 {
  /// The partition of a key, in `0..<count`; 0 if `count` is not positive.
  public static func partition(of key: UnsafeRawBufferPointer, count: Int32) -> Int32 {
    count > 0 ? Int32(hash(key) & 0x7fff_ffff) % count : 0
  }

  /// The partition of a key, in `0..<count`; 0 if `count` is not positive.
  public static func partition(of key: [UInt8], count: Int32) -> Int32 {
    key.withUnsafeBytes { partition(of: $0, count: count) }
  }

  /// MurmurHash2 (Austin Appleby, public domain) in its 32-bit form with Kafka's seed.
  static func hash(_ key: UnsafeRawBufferPointer) -> UInt32 {
    let multiplier: UInt32 = 0x5bd1_e995
    var hash: UInt32 = 0x9747_b28c ^ UInt32(truncatingIfNeeded: key.count)
    var index = 0
    while index + 4 <= key.count {
      var word = UInt32(littleEndian: key.loadUnaligned(fromByteOffset: index, as: UInt32.self))
      word &*= multiplier
      word ^= word >> 24
      word &*= multiplier
      hash = (hash &* multiplier) ^ word
      index += 4
    }
    if index < key.count {
      for offset in 0..<(key.count - index) { hash ^= UInt32(key[index + offset]) << UInt32(8 * offset) }
      hash &*= multiplier
    }
    hash ^= hash >> 13
    hash &*= multiplier
    hash ^= hash >> 15
    return hash
  }
}
