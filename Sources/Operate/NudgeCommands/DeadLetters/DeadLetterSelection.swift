import Kafka
import NudgeSchema

/// Selects dead letters by place, code, stage, topic, key and time.
struct DeadLetterSelection: Sendable, Equatable {
  /// `PARTITION@OFFSET` on `nudge.dead-letters`.
  struct Place: Hashable, Sendable {
    var partition: Int32
    var offset: Int64

    init(partition: Int32, offset: Int64) {
      self.partition = partition
      self.offset = offset
    }

    /// nil if the text is not a place.
    init?(_ text: String) {
      let parts = text.split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]), partition >= 0, offset >= 0
      else { return nil }
      self.init(partition: partition, offset: offset)
    }
  }

  /// Only these dead letters; empty for all.
  var places: [Place] = []
  var reason: String?
  var stage: String?
  var topic: String?
  var key: String?
  /// The name of the API key that the event came with.
  var producer: String?
  /// Only dead letters written at or after this time, in milliseconds since the epoch.
  var since: Milliseconds?
  /// Only dead letters written before this time; nil for no limit.
  var until: Milliseconds?
  /// Whether dead letters that were already replayed or discarded are selected too.
  var includesHandled = false

  func contains(_ letter: DeadLetterFacts, handled: [Int32: Set<Int64>]) -> Bool {
    if !includesHandled, handled[letter.position.partition]?.contains(letter.position.offset) == true { return false }
    let place = Place(partition: letter.position.partition, offset: letter.position.offset)
    if !places.isEmpty, !places.contains(place) { return false }
    if let reason, letter.code != reason { return false }
    if let stage, letter.stage != stage { return false }
    if let topic, letter.origin?.topic != topic { return false }
    if let key, letter.key != key { return false }
    if let producer, letter.producer != producer { return false }
    return true
  }

  /// Reads the selected dead letters with their records, in order within a partition, until `body` returns false.
  func read(_ browser: TopicBrowser, _ body: (DeadLetterFacts, ConsumerRecord) throws -> Bool) throws {
    try browser.find([.deadLetters, .audit])
    let handled = includesHandled ? [:] : try AuditTrail(browser).handledDeadLetters
    var ranges = try browser.ranges(
      of: .deadLetters, from: places.isEmpty ? since : nil, until: places.isEmpty ? until : nil)
    if !places.isEmpty {
      // The places are read from the first to the last of each partition.
      ranges = ranges.compactMap { range in
        let offsets = places.filter { $0.partition == range.place.partition }.map(\.offset)
        guard let first = offsets.min(), let last = offsets.max() else { return nil }
        return PartitionRange(place: range.place, from: max(range.from, first), to: min(range.to, last + 1))
      }
    }
    try browser.read(ranges, "reading \(browser.names(.deadLetters))") { record in
      let letter = DeadLetterFacts(record)
      guard contains(letter, handled: handled) else { return true }
      return try body(letter, record)
    }
  }
}

/// The headers of a dead letter, with its position. The value is left out, because it may contain tokens and texts.
struct DeadLetterFacts: Sendable, Encodable, Equatable {
  /// On `nudge.dead-letters`.
  var position: RecordPosition
  /// Milliseconds since the epoch.
  var timestamp: Milliseconds
  /// A `DeadLetterCode` as text, because newer services may write others.
  var code: String
  var message: String
  /// The stage that rejected the record.
  var stage: String
  /// The rejected record's position; nil if the headers have none.
  var origin: RecordPosition?
  /// The rejected record's timestamp.
  var originTimestamp: Milliseconds?
  /// The rejected record's key.
  var key: String?
  /// Whether a part of key, headers or value is missing, because the record was too large for the topic.
  var isCut: Bool
  /// The size of the value in bytes.
  var size: Int
  /// The replay that caused the record.
  var replayId: String?
  /// The name of the API key that the event came with; nil if it did not come over HTTP.
  var producer: String?

  init(_ record: ConsumerRecord) {
    self.init(
      position: RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset),
      timestamp: record.timestamp, key: record.keyBytes(), size: record.value?.count ?? 0
    ) { record.header($0) }
  }

  /// The stage that refused the record and its reason, as a sentence for an operator.
  var refusal: String {
    "\(stage) refused the event: \(code): \(message). "
      + "'nudge dead-letters show \(position.partition)@\(position.offset)' says more"
  }

  /// Decodes the headers. `value` returns a header's value by name; nil if it is missing.
  init(
    position: RecordPosition, timestamp: Milliseconds, key: [UInt8]?, size: Int, value: (_ header: String) -> [UInt8]?
  ) {
    func header(_ name: String) -> String? { value(name).map { String(decoding: $0, as: UTF8.self) } }
    self.position = position
    self.timestamp = timestamp
    self.size = size
    code = header(RecordHeader.errorCode) ?? "unknown"
    message = header(RecordHeader.errorMessage) ?? ""
    stage = header(RecordHeader.errorStage) ?? "unknown"
    if let topic = header(RecordHeader.originTopic),
      let partition = header(RecordHeader.originPartition).flatMap(Int32.init),
      let offset = header(RecordHeader.originOffset).flatMap(Int64.init)
    {
      origin = RecordPosition(topic: topic, partition: partition, offset: offset)
    }
    originTimestamp = header(RecordHeader.originTimestamp).flatMap(Int64.init)
    self.key = key.map { String(decoding: $0, as: UTF8.self) }
    isCut = [RecordHeader.truncatedKey, RecordHeader.truncatedHeaders, RecordHeader.truncatedValue].contains {
      value($0) != nil
    }
    replayId = header(RecordHeader.replayId)
    producer = header(RecordHeader.producer)
  }
}

/// Dead letters grouped by code, stage, topic and producer.
struct DeadLetterGroups: Encodable {
  struct Group: Encodable, Equatable {
    /// A `DeadLetterCode` as text, because newer services may write others.
    var code: String
    /// The stage that rejected them.
    var stage: String
    /// The topic of the rejected records; nil if the headers do not say.
    var topic: String?
    /// The name of the API key that the events came with; nil if they did not come over HTTP.
    var producer: String?
    var count: Int
    /// Distinct keys, counted up to 1,000.
    var keys: Int
    /// Timestamps of the first and the last, in milliseconds since the epoch.
    var first: Milliseconds
    var last: Milliseconds
    /// The last of them.
    var example: DeadLetterFacts
  }

  private struct Name: Hashable { let code, stage: String, topic, producer: String? }
  private var places: [Name: Int] = [:]
  private var keys: [Set<String>] = []
  private(set) var groups: [Group] = []

  private static let maxKeys = 1_000

  mutating func add(_ letter: DeadLetterFacts) {
    let name = Name(code: letter.code, stage: letter.stage, topic: letter.origin?.topic, producer: letter.producer)
    guard let place = places[name] else {
      places[name] = groups.count
      keys.append(Set(letter.key.map { [$0] } ?? []))
      groups.append(
        Group(
          code: letter.code, stage: letter.stage, topic: letter.origin?.topic, producer: letter.producer, count: 1,
          keys: keys[groups.count].count, first: letter.timestamp, last: letter.timestamp, example: letter))
      return
    }
    groups[place].count += 1
    groups[place].first = min(groups[place].first, letter.timestamp)
    if letter.timestamp >= groups[place].last {
      groups[place].last = letter.timestamp
      groups[place].example = letter
    }
    if let key = letter.key, keys[place].count < Self.maxKeys {
      keys[place].insert(key)
      groups[place].keys = keys[place].count
    }
  }

  func encode(to encoder: any Encoder) throws { try encoder.encode(fields: ["groups": sorted]) }

  /// Largest group first.
  var sorted: [Group] { groups.sorted { ($1.count, $0.code) < ($0.count, $1.code) } }

  /// Two lines per group: its counts, and an example.
  var text: String {
    guard !groups.isEmpty else { return "No dead letters." }
    return sorted.map { group in
      let keys =
        group.keys >= Self.maxKeys ? "\(Self.maxKeys) or more keys" : group.keys.counted("key")
      let place = group.example.position
      let producer = group.producer.map { ", producer \($0)" } ?? ""
      return
        "\(group.count)  \(group.code)  by \(group.stage), from \(group.topic ?? "?")\(producer), \(keys), "
        + "\(RFC3339.text(group.first)) to \(RFC3339.text(group.last))\n"
        + "    such as \(place.partition)@\(place.offset): \(group.example.message)"
    }.joined(separator: "\n")
  }
}
