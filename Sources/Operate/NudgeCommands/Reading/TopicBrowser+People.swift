import Foundation
import Kafka
import NudgeSchema

extension TopicBrowser {
  /// The partitions with records of a key, the present one first.
  ///
  /// `nudge topics repartition` gives the stages' inputs more partitions, and a key's earlier records stay where they were. The topics
  /// that no stage reads keep their first number, which shows which numbers the inputs may have had. A reader without the right to look
  /// at `nudge.decisions` reads the present partition.
  func partitions(of key: String, on topic: Topic) throws -> [Int32] {
    let count = try partitionCount(of: topic)
    let bytes = Array(key.utf8)
    let counts = Self.counts(of: count, first: (try? partitionCount(of: .decisions)) ?? count)
    return counts.map { Murmur2.partition(of: bytes, count: $0) }.reduce(into: []) { known, partition in
      if !known.contains(partition) { known.append(partition) }
    }
  }

  /// The numbers of partitions that a topic may have had since it had its first, the present one first. Each is a multiple of the one before.
  static func counts(of count: Int32, first: Int32) -> [Int32] {
    guard first > 0, first < count, count % first == 0 else { return [count] }
    return stride(from: count, through: first, by: Int(-first)).filter { count % $0 == 0 }
  }

  /// Passes records with this key to `body`, in order, until it returns false. Other records cost one comparison of bytes.
  func records(
    of topic: Topic, key: String, from: Milliseconds? = nil, until: Milliseconds? = nil,
    _ body: (ConsumerRecord) throws -> Bool
  ) throws {
    let bytes = Array(key.utf8)
    var goesOn = true
    // The former partitions first, one after the other: that is the order of a key's records.
    for range in try ranges(of: topic, partitions: partitions(of: key, on: topic), from: from, until: until).reversed()
    where goesOn {
      try read([range], "reading \(names(topic))") { record in
        guard record.hasKey(bytes) else { return true }
        goesOn = try body(record)
        return goesOn
      }
    }
  }

  /// How far back each piece of a search reaches: most questions are about today, and a piece is read as a whole.
  private static let searchAges: [Milliseconds?] =
    [1, 6, 12, 24, 36, 48, 72, 120, 168].map { $0 * 3_600_000 } + [nil]

  /// Searches backwards from now in growing pieces until `body` finds something. `body` gets a piece's bounds; nil: unbounded.
  static func searchBack(
    now: Milliseconds, _ body: (_ from: Milliseconds?, _ until: Milliseconds?) throws -> Bool
  ) throws {
    var until: Milliseconds?
    for age in searchAges {
      let from = age.map { now - $0 }
      if try body(from, until) { return }
      until = from
    }
  }
}

extension ConsumerRecord {
  func hasKey(_ bytes: [UInt8]) -> Bool {
    guard let key, key.count == bytes.count, let start = key.baseAddress else { return false }
    // Runs for every record read; most have another key.
    return memcmp(start, bytes, bytes.count) == 0
  }

  /// Whether the value contains these bytes: cheaper than decoding records that cannot match.
  func valueContains(_ needle: [UInt8]) -> Bool {
    guard let first = needle.first else { return true }
    guard let value, var place = value.baseAddress else { return false }
    var rest = value.count
    // memchr is much faster than a loop in Swift, in a debug build especially.
    while rest >= needle.count, let hit = memchr(place, Int32(first), rest - needle.count + 1) {
      if memcmp(hit, needle, needle.count) == 0 { return true }
      rest -= UnsafeRawPointer(hit) - place + 1
      place = UnsafeRawPointer(hit) + 1
    }
    return false
  }
}

extension RecordCoder {
  /// The bytes that our services write into JSON for a string, without the quotes.
  func needle(_ text: String) -> [UInt8] {
    guard let quoted = try? encode(text) else { return Array(text.utf8) }
    return Array(quoted.dropFirst().dropLast())
  }
}
