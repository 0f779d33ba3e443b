import Foundation
import Kafka
import NudgeSchema

extension TopicBrowser {
  /// Calls `body` with the records whose key is an id, in order; those of others cost a comparison of bytes. `body` returns
  /// whether to go on.
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

  /// How far back a search for something of unknown age goes, piece by piece: what is asked about is mostly of today, and a
  /// piece is read whole.
  private static let searchAges: [Milliseconds?] =
    [1, 6, 12, 24, 36, 48, 72, 120, 168].map { $0 * 3_600_000 } + [nil]

  /// Goes back from now in growing pieces of time until `body` has found something. `body` gets the bounds of a piece; nil:
  /// no bound.
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
  /// Whether the key is these bytes.
  func hasKey(_ bytes: [UInt8]) -> Bool {
    guard let key, key.count == bytes.count, let start = key.baseAddress else { return false }
    // Of every record that is read, mostly somebody else's.
    return memcmp(start, bytes, bytes.count) == 0
  }

  /// Whether the value has these bytes somewhere: a glance that spares reading what cannot be meant.
  func valueContains(_ needle: [UInt8]) -> Bool {
    guard let first = needle.first else { return true }
    guard let value, var place = value.baseAddress else { return false }
    var rest = value.count
    // The C library's search of a byte is far faster than a loop here, also in a debug build.
    while rest >= needle.count, let hit = memchr(place, Int32(first), rest - needle.count + 1) {
      if memcmp(hit, needle, needle.count) == 0 { return true }
      rest -= UnsafeRawPointer(hit) - place + 1
      place = UnsafeRawPointer(hit) + 1
    }
    return false
  }
}

extension RecordCoder {
  /// The bytes of a text as our services write it into JSON, without quotes: what to look for in a value.
  func needle(_ text: String) -> [UInt8] {
    guard let quoted = try? encode(text) else { return Array(text.utf8) }
    return Array(quoted.dropFirst().dropLast())
  }
}
