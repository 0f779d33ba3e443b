import CLibrdkafka
import TestSupport
import Testing

@testable import Kafka

@Suite("Murmur2")
struct Murmur2Tests {
  /// From Kafka's own UtilsTest, as Java's int.
  static let vectors: [(String, Int32)] = [
    ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
    ("a-little-bit-longer-string", -1_486_304_829),
    ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
  ]

  @Test("the hash of known keys is Java's", arguments: vectors)
  func knownKeys(key: String, hash: Int32) {
    let found = bytes(key).withUnsafeBytes { Murmur2.hash($0) }
    #expect(Int32(bitPattern: found) == hash)
  }

  @Test("any key goes where librdkafka's murmur2 partitioner sends it")
  func likeLibrdkafka() throws {
    var random = SeededGenerator(announcedFor: "Murmur2")
    let seed = random.seed
    for _ in 0..<2000 {
      // librdkafka takes an empty key for a missing one here; Java hashes it.
      let key = (0..<Int.random(in: 1...64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let count = Int32.random(in: 1...1000, using: &random)
      let expected = rd_kafka_msg_partitioner_murmur2(nil, key, key.count, count, nil, nil)
      #expect(Murmur2.partition(of: key, count: count) == expected, "seed \(seed), key \(key), count \(count)")
    }
  }

  @Test("a topic without partitions gives partition 0 and no trap")
  func noPartitions() { #expect(Murmur2.partition(of: bytes("key"), count: 0) == 0) }
}
