/// The hash by which Java's default partitioner, and so every producer of ours, chooses a key's partition.
public enum Murmur2 {
  /// The partition of a key among `count` (1 or more): positive murmur2 modulo count.
  public static func partition(of key: UnsafeRawBufferPointer, count: Int32) -> Int32 {
    Int32(bitPattern: hash(key) & 0x7fff_ffff) % max(count, 1)
  }

  /// The partition of a key among `count` (1 or more).
  public static func partition(of key: [UInt8], count: Int32) -> Int32 {
    key.withUnsafeBytes { partition(of: $0, count: count) }
  }

  /// Austin Appleby's MurmurHash2, 32 bits, with Kafka's seed.
  static func hash(_ key: UnsafeRawBufferPointer) -> UInt32 {
    let m: UInt32 = 0x5bd1_e995
    var h: UInt32 = 0x9747_b28c ^ UInt32(truncatingIfNeeded: key.count)
    var index = 0
    while index + 4 <= key.count {
      var k = UInt32(littleEndian: key.loadUnaligned(fromByteOffset: index, as: UInt32.self))
      k &*= m
      k ^= k >> 24
      k &*= m
      h = (h &* m) ^ k
      index += 4
    }
    let rest = key.count - index
    if rest == 3 { h ^= UInt32(key[index + 2]) << 16 }
    if rest >= 2 { h ^= UInt32(key[index + 1]) << 8 }
    if rest >= 1 {
      h ^= UInt32(key[index])
      h &*= m
    }
    h ^= h >> 13
    h &*= m
    h ^= h >> 15
    return h
  }
}
