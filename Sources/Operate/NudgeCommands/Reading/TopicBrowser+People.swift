import Foundation
import Kafka
import NudgeSchema

extension TopicBrowser {
  /// Passes records with this key to `body`, in order, until it returns false. Other records cost one comparison of bytes.
  func records(
    of topic: Topic, key: String, from: Milliseconds? = nil, until: Milliseconds? = nil,
    _ body: (ConsumerRecord) throws -> Bool
  ) throws {
    let partition = try partition(of: key, on: topic)
    let bytes = Array(key.utf8)
    try read(
      try ranges(of: topic, partitions: [partition], from: from, until: until), "reading \(names(topic))"
    ) { record in
      guard record.hasKey(bytes) else { return true }
      return try body(record)
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
