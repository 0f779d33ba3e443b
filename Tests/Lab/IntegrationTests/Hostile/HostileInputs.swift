import Foundation
import Kafka
import TestSupport

@testable import NudgeSchema

/// A record for one of ingest's inputs that somebody else than a well-behaved producer has written.
struct HostileInput {
  var topic: Topic
  /// Any, be it the key's or not.
  var partition: Int32
  var key: [UInt8]?
  var value: [UInt8]?
  var headers: [(name: String, value: [UInt8]?)]
}

/// Hostile records, each made from a seed and its number alone: the fuzzers' corpus, the schemas' good and bad examples, and
/// events that are almost valid. Most of them are then damaged.
struct HostileInputs {
  /// The header with a record's number; 4 bytes.
  static let numberHeader = "test-number"

  private static let topics: [Topic] = [.chatEvents, .userEvents, .deviceClaims]
  private static let keyFields: [Topic: String] = [
    .chatEvents: "conversationId", .userEvents: "userId", .deviceClaims: "tokenHash",
  ]
  /// One in this many records is nearly as large as the topic takes.
  private static let hugeEvery: UInt64 = 40_000

  let seed: UInt64
  private let partitions: Int
  /// Bytes as they are: requests and bodies that the fuzzers of the HTTP API were given or have found.
  private let corpus: [[UInt8]]
  /// Events of each topic.
  private let examples: [Topic: [[String: Any]]]
  /// The types of each topic's events.
  private let types: [Topic: Set<String>]

  init(seed: UInt64, partitions: Int32) throws {
    self.seed = seed
    self.partitions = Int(partitions)
    func files(_ folder: String) throws -> [Data] {
      let all = Repository.file(folder)
      return try (FileManager.default.subpathsOfDirectory(atPath: all.path)).sorted()
        .map { all.appendingPathComponent($0) }.filter { !$0.hasDirectoryPath }.map { try Data(contentsOf: $0) }
    }
    corpus = try (files("Tests/Corpus/fuzz") + files("Tests/Corpus/request-bodies")).map { Array($0) }
    examples = try Dictionary(
      uniqueKeysWithValues: Self.topics.map { topic in
        (
          topic,
          try files("Schemas/\(topic.rawValue)/examples")
            .compactMap { try JSONSerialization.jsonObject(with: $0) as? [String: Any] }
        )
      })
    types = try Dictionary(
      uniqueKeysWithValues: Self.topics.map { topic in
        let folder = Repository.file("Schemas/\(topic.rawValue)").path
        let suffix = ".schema.json"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(suffix) }
        return (topic, Set(names.map { String($0.dropLast(suffix.count)) }))
      })
  }

  /// A record by its number. `now`: milliseconds since the epoch.
  func input(_ number: Int, now: Int64) -> HostileInput {
    var random = SeededGenerator(seed: seed ^ UInt64(number) &* 0x9e37_79b9_7f4a_7c15)
    var topic = random.oneIn(10) ? Topic.deviceClaims : random.oneIn(2) ? .userEvents : .chatEvents
    let field = Self.keyFields[topic] ?? ""
    var key: [UInt8]?
    var value: [UInt8]
    if random.oneIn(Self.hugeEvery) {
      (key, value) = (Array("huge".utf8), [UInt8](repeating: random.oneIn(2) ? 0xff : 0x5b, count: 4_190_000))
    } else if random.oneIn(500) {
      // About as deep as Foundation's decoder takes, and no further.
      (key, value) = (
        Array("deep".utf8), [UInt8](repeating: random.oneIn(2) ? 0x5b : 0x7b, count: 505 + random.below(20))
      )
    } else if random.oneIn(5) {
      (key, value) = (Array("key-\(random.below(50))".utf8), corpus[random.below(corpus.count)])
    } else {
      let event = event(topic, number, now, &random)
      key = (event[field] as? String).map { Array($0.utf8) }
      value = Array((try? JSONSerialization.data(withJSONObject: event, options: [.sortedKeys])) ?? Data())
    }
    let ownPartition = key.map { Int(Murmur2.partition(of: $0, count: Int32(partitions))) }
    if !random.oneIn(4) { damage(&value, &random) }
    switch random.below(40) {
    case 0: key = nil
    case 1: key = []
    case 2: key = [0xc3, 0x28]
    case 3: key = Array("somebody-else".utf8)
    case 4: key = [UInt8](repeating: 107, count: 1 + random.below(3_000))
    default: break
    }
    if topic == .deviceClaims, isOfLaterRelease(value) { topic = .userEvents }
    var headers: [(name: String, value: [UInt8]?)] = [
      (Self.numberHeader, withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) })
    ]
    switch random.below(20) {
    case 0:
      headers.append(
        (RecordHeader.traceparent, (0..<random.below(80)).map { _ in UInt8.random(in: 0...255, using: &random) }))
    case 1: headers.append((RecordHeader.timer, Array("0 x".utf8)))
    case 2: headers.append((RecordHeader.errorCode, nil))
    case 3: headers.append(("nudge-unknown", [0xff]))
    default: break
    }
    return HostileInput(
      topic: topic, partition: Int32(random.oneIn(8) ? random.below(partitions) : ownPartition ?? 0), key: key,
      value: random.oneIn(200) ? nil : value, headers: headers)
  }

  /// Whether ingest would take the bytes for a device claim of a later release, and stop. Only Nudge writes to that topic, so such
  /// bytes go to another one.
  private func isOfLaterRelease(_ bytes: [UInt8]) -> Bool {
    do {
      _ = try RecordCoder().decode(DeviceClaim.self, from: bytes)
      return false
    } catch let error as EventFormatError {
      return if case .invalidTime = error { false } else { true }
    } catch DecodingError.dataCorrupted(let context) {
      return !context.codingPath.isEmpty && (context.underlyingError == nil || context.underlyingError is UnknownName)
    } catch {
      return false
    }
  }

  /// An event of this topic that is new, or nearly so.
  private func event(_ topic: Topic, _ number: Int, _ now: Int64, _ random: inout SeededGenerator) -> [String: Any] {
    let all = examples[topic] ?? []
    var event = all[random.below(all.count)]
    if !random.oneIn(10) {
      event["eventId"] = "hostile-\(random.oneIn(20) ? random.below(100) : number)"
      event["occurredAt"] = random.oneIn(20) ? Int64.random(in: .min ... .max, using: &random) : now
    }
    // Few, so that they meet one another.
    for field in ["conversationId", "userId", "senderId", "tokenHash", "messageId"] where event[field] != nil {
      if !random.oneIn(20) { event[field] = "\(field)-\(random.below(field == "messageId" ? 5_000 : 200))" }
    }
    return event
  }

  private func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    for _ in 0...random.below(3) {
      guard !bytes.isEmpty else { return }
      let place = random.below(bytes.count)
      switch random.below(10) {
      case 0: bytes[place] ^= 1 << UInt8(random.below(8))
      case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 2: bytes.removeSubrange(place...)
      case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.below(20)))
      case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 1 + random.below(60))], at: place)
      case 5:
        let other = corpus[random.below(corpus.count)]
        bytes.insert(contentsOf: other.prefix(random.below(200)), at: place)
      case 6: bytes.insert(contentsOf: [UInt8](repeating: 0x5b, count: random.below(3_000)), at: place)
      case 7: bytes.insert(contentsOf: Self.pieces[random.below(Self.pieces.count)].utf8, at: place)
      case 8: bytes.insert(contentsOf: [0xed, 0xa0, 0x80], at: place)
      default: bytes.insert(contentsOf: [UInt8](repeating: 0x61, count: random.below(20_000)), at: place)
      }
    }
  }

  private static let pieces = [
    "null", "-0", "1e999", "18446744073709551616", #"\ud800"#, #"\u0000"#, "\u{202e}", "{}", ",", #""userId":"u","#,
    "}",
    "\u{feff}", "//", "NaN", #""schemaVersion":2,"#, "'", "\0",
  ]

  /// Whether a record could be an event of its topic, by a reader that shares nothing with the services': what is not may not
  /// be taken without a word.
  func couldBeEvent(_ input: HostileInput) -> Bool {
    // On the topic of ingest's timers a timer's header makes a record a timer, and one that is not set is dropped as cancelled.
    if input.topic == .deviceClaims, input.headers.contains(where: { $0.name == RecordHeader.timer }) { return true }
    guard let value = input.value else { return false }
    // The first of two equal keys counts, but this reader keeps the last, so it cannot tell.
    let text = Data(value)
    for name in ["schemaVersion", "eventId", "occurredAt", "type", Self.keyFields[input.topic] ?? ""] {
      let quoted = Data("\"\(name)\"".utf8)
      guard let first = text.range(of: quoted) else { continue }
      if text.range(of: quoted, in: first.upperBound..<text.endIndex) != nil { return true }
    }
    guard let keyBytes = input.key, let key = String(validating: keyBytes, as: UTF8.self),
      let object = try? JSONSerialization.jsonObject(with: text) as? [String: Any],
      (object["schemaVersion"] as? NSNumber)?.intValue == 1, object["eventId"] is String,
      object["occurredAt"] is NSNumber || object["occurredAt"] is String, let type = object["type"] as? String
    else { return false }
    return types[input.topic]?.contains(type) == true
      && (object[Self.keyFields[input.topic] ?? ""] as? String).map { $0.utf8.elementsEqual(key.utf8) } == true
  }
}
