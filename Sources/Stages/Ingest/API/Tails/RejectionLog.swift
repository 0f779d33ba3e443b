import Foundation
import JSONCodec
package import Kafka
package import NudgeSchema

/// A refused event that came over HTTP, in the form in which its producer sees it: ids and reasons, never texts or tokens.
package struct ProducerRejection: Sendable, Equatable, Encodable {
  /// The name of the API key.
  package let producer: String
  /// When it was refused, in milliseconds since the epoch.
  package let refusedAt: Milliseconds
  /// A `DeadLetterCode` as text.
  package let code: String
  /// The reason for people.
  package let message: String
  /// The topic of the event.
  package let topic: String?
  /// The event's key: a conversation or a person.
  package let key: String?
  /// The event's type; nil if its value has none.
  package let type: String?
  /// The event's id; nil if its value has none.
  package let eventId: String?
  /// The replay that published it again.
  package let replayId: String?

  /// The rejection in a record of `nudge.dead-letters`; nil if the event came another way. `wanted` restricts it to one producer.
  package init?(_ record: ConsumerRecord, producer wanted: [UInt8]? = nil) {
    guard let producer = record.header(RecordHeader.producer) else { return nil }
    if let wanted, producer != wanted { return nil }
    func header(_ name: String) -> String? { record.header(name).map { String(decoding: $0, as: UTF8.self) } }
    self.producer = String(decoding: producer, as: UTF8.self)
    refusedAt = record.timestamp
    code = header(RecordHeader.errorCode) ?? "unknown"
    message = header(RecordHeader.errorMessage) ?? ""
    topic = header(RecordHeader.originTopic)
    key = record.keyBytes().map { String(decoding: $0, as: UTF8.self) }
    replayId = header(RecordHeader.replayId)
    (type, eventId) = record.value.map { Self.names(in: $0) } ?? (nil, nil)
  }

  /// The type and id of an event; nil unless it is JSON and they are short texts.
  private static func names(in value: UnsafeRawBufferPointer) -> (type: String?, eventId: String?) {
    let parser = JSONParser(maximumDepth: 1_024)
    guard let node = try? parser.parse(value) else { return (nil, nil) }
    defer { withExtendedLifetime(parser) {} }
    func text(_ name: StaticString) -> String? {
      node[name]?.string.flatMap { $0.utf8.count <= 256 ? $0 : nil }
    }
    return (text("type"), text("eventId"))
  }

  /// One line of JSON for the producer.
  var line: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // It has only texts and numbers, so encoding cannot fail.
    return ((try? encoder.encode(self)).map { [UInt8]($0) } ?? []) + [UInt8(ascii: "\n")]
  }

  /// One line of text.
  package var text: String {
    let what = [type, eventId.map { "event \($0)" }, key.map { "key \($0)" }].compactMap { $0 }.joined(separator: ", ")
    return "\(RFC3339.text(refusedAt))  \(code)  \(what.isEmpty ? "an unreadable event" : what): \(message)"
  }
}

/// The latest rejections of each producer, in memory, with cursors that mean the same on every instance.
struct RejectionLog {
  /// The most rejections kept for each producer.
  static let perProducer = 2_000
  /// The most producers with rejections in memory. With more, the one without news for longest is removed.
  static let producers = 256
  /// The most rejections in one answer.
  static let page = 1_000
  /// The most bytes kept for each producer, and in total. Beyond that, the older half of the producer with the most is removed.
  static let producerBytes = 1 << 20
  static let bytes = 64 << 20

  /// Where a reader continues, by partition of `nudge.dead-letters`.
  struct Cursor: Sendable, Equatable {
    var next: [Int32: Int64]

    init(next: [Int32: Int64]) { self.next = next }

    /// Reads `0-17.1-20` (partition-offset); nil for any other text.
    init?(_ text: String) {
      next = [:]
      guard text.utf8.count <= 8_192 else { return nil }
      for part in text.split(separator: ".", omittingEmptySubsequences: false) {
        let numbers = part.split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let partition = Int32(numbers[0]), let offset = Int64(numbers[1]),
          partition >= 0,
          offset >= 0, next.updateValue(offset, forKey: partition) == nil
        else { return nil }
      }
    }

    /// The text that `init` reads.
    var text: String {
      next.sorted { $0.key < $1.key }.map { "\($0.key)-\($0.value)" }.joined(separator: ".")
    }
  }

  /// The reader's position.
  enum Since: Sendable, Equatable {
    case time(Milliseconds)
    case cursor(Cursor)
  }

  private struct Entry {
    var offset: Int64
    /// Its number in the order of arrival at the producer.
    var number: Int
    var refusedAt: Milliseconds
    /// The latest `refusedAt` of the partition up to here. It only rises, even if clocks go back.
    var time: Milliseconds
    /// The rejection as a line of an answer.
    var line: [UInt8]
  }

  private struct Producer {
    /// By partition, in the order of offsets, numbers and times.
    var entries: [Int32: [Entry]] = [:]
    var count = 0
    var bytes = 0
    var lastNumber = 0
    /// The time of the latest rejection that is no longer kept.
    var forgottenAt: Milliseconds?
    var heardAt: Milliseconds = 0

    mutating func add(_ line: [UInt8], at time: Milliseconds, partition: Int32, offset: Int64) {
      lastNumber += 1
      let latest = max(time, entries[partition]?.last?.time ?? time)
      entries[partition, default: []].append(
        Entry(offset: offset, number: lastNumber, refusedAt: time, time: latest, line: line))
      count += 1
      bytes += line.count
      heardAt = time
    }

    /// Removes the oldest until this number remains.
    mutating func keep(_ kept: Int) {
      let first = lastNumber - kept + 1
      for (partition, list) in entries {
        let cut = list.prefix { $0.number < first }
        guard !cut.isEmpty else { continue }
        count -= cut.count
        bytes -= cut.reduce(0) { $0 + $1.line.count }
        forgottenAt = cut.reduce(forgottenAt) { max($0 ?? $1.refusedAt, $1.refusedAt) }
        entries[partition] = Array(list.dropFirst(cut.count))
      }
    }

    mutating func keepHalf() { keep(count / 2) }
  }

  /// A page of a producer's rejections.
  struct Page {
    /// One line per rejection.
    var lines: [[UInt8]]
    var next: Cursor
    /// Earlier rejections are no longer kept: up to this time some may be missing.
    var forgottenAt: Milliseconds?
  }

  private var known: [String: Producer] = [:]
  private(set) var keptBytes = 0
  /// The next offset of each partition.
  private(set) var position: [Int32: Int64] = [:]

  /// Everything before an offset of a partition was read.
  mutating func advance(_ partition: Int32, to offset: Int64) {
    position[partition] = max(offset, position[partition] ?? offset)
  }

  /// Adds a rejection, in the order of offsets within a partition. `line` is what the producer receives.
  mutating func add(
    _ line: [UInt8], of producer: String, at time: Milliseconds, partition: Int32, offset: Int64
  ) {
    guard offset >= position[partition] ?? 0 else { return }
    advance(partition, to: offset + 1)
    change(producer) { known in
      known.add(line, at: time, partition: partition, offset: offset)
      if known.count > Self.perProducer + Self.perProducer / 4 { known.keep(Self.perProducer) }
      if known.bytes > Self.producerBytes { known.keepHalf() }
    }
    if known.count > Self.producers, let oldest = known.min(by: { $0.value.heardAt < $1.value.heardAt }) {
      keptBytes -= oldest.value.bytes
      known[oldest.key] = nil
    }
    while keptBytes > Self.bytes, let largest = known.max(by: { $0.value.bytes < $1.value.bytes })?.key {
      change(largest) { $0.keepHalf() }
    }
  }

  private mutating func change(_ name: String, _ body: (inout Producer) -> Void) {
    // Taken out of the dictionary, so that it is changed in place.
    var producer = known.removeValue(forKey: name) ?? Producer()
    let before = producer.bytes
    body(&producer)
    keptBytes += producer.bytes - before
    known[name] = producer
  }

  /// A producer's next rejections, the earliest first. Only those of the page are read.
  func page(of producer: String, since: Since) -> Page {
    let known = known[producer] ?? Producer()
    // Ordered by offset within a partition, whatever the clocks said, so that everything left out of a page follows it.
    var rest: [(partition: Int32, entries: ArraySlice<Entry>)] = []
    for (partition, entries) in known.entries {
      let start =
        switch since {
        case .time(let time): Self.first(of: entries) { $0.time >= time }
        case .cursor(let cursor): Self.first(of: entries) { $0.offset >= cursor.next[partition] ?? 0 }
        }
      if start < entries.count { rest.append((partition, entries[start...])) }
    }
    rest.sort { $0.partition < $1.partition }
    var lines: [[UInt8]] = []
    while lines.count < Self.page {
      var earliest: Int?
      for index in rest.indices {
        guard let entry = rest[index].entries.first else { continue }
        if let known = earliest.flatMap({ rest[$0].entries.first }), known.time <= entry.time { continue }
        earliest = index
      }
      guard let earliest, let entry = rest[earliest].entries.popFirst() else { break }
      if case .time(let time) = since, entry.refusedAt < time { continue }
      lines.append(entry.line)
    }
    var next = position
    for (partition, entries) in rest {
      if let entry = entries.first { next[partition] = min(next[partition] ?? entry.offset, entry.offset) }
    }
    return Page(lines: lines, next: Cursor(next: next), forgottenAt: known.forgottenAt)
  }

  /// The first index from which a condition holds for all following entries.
  private static func first(of entries: [Entry], _ holds: (Entry) -> Bool) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(entries[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
