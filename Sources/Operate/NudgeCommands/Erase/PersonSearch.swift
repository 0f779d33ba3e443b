import Kafka
import NudgeSchema
import StreamRuntime

/// Finds what names a person: rows of the stages' state, and records of topics.
struct PersonSearch {
  /// Rows that name the person, by stage.
  private(set) var rows: [StageName: Int] = [:]

  private let userId: String
  private let coder = RecordCoder()
  /// The id as bytes, and as it stands in JSON.
  private let needles: [[UInt8]]
  private var named: [StageName: Set<RowKey>] = [:]
  /// Where the next look at each state topic begins.
  private var next: [TopicPartition: Int64] = [:]

  /// Topics whose records about a person are on the partition of the person's key.
  static let keyedByPerson: [Topic] = [.userEvents, .timeline, .decisions, .pushes, .banners, .outcomes]
  /// Topics with other keys, of which every partition is read: a few records a registration or failure, or all messages.
  static let keyedByOthers: [Topic] = [.deviceClaims, .deadLetters, .chatEvents]

  init(userId: String) {
    self.userId = userId
    needles = [Array(userId.utf8), coder.needle(userId)]
  }

  /// The sum of the offsets that ingest's state has reached: it grows while ingest works.
  var reached: Int64 {
    let topic = StageName.ingest.definition.changelog.rawValue
    return next.reduce(Int64(0)) { $0 + ($1.key.topic.hasSuffix(topic) ? $1.value : 0) }
  }

  /// Whether no row names the person.
  var isErased: Bool { rows.values.allSatisfy { $0 == 0 } }

  /// Reads the state topics, from where the last look ended.
  mutating func readState(_ browser: TopicBrowser) throws {
    for stage in StageName.allCases {
      let topic = stage.definition.changelog
      var ranges = try browser.ranges(of: topic)
      for index in ranges.indices {
        let place = ranges[index].place
        ranges[index].from = max(ranges[index].from, next[place] ?? 0)
        next[place] = ranges[index].to
      }
      var found = named[stage] ?? []
      try browser.read(ranges, "reading \(browser.names(topic))") { record in
        guard let key = record.keyBytes() else { return true }
        let row = RowKey(bytes: key)
        if try names(row, record, stage) { found.insert(row) } else { found.remove(row) }
        return true
      }
      named[stage] = found
      rows[stage] = found.count
    }
  }

  /// How many records of each topic name the person. `readsMessages`: those of `chat.events` are counted, too.
  func records(_ browser: TopicBrowser, readsMessages: Bool) throws -> [(topic: Topic, count: Int)] {
    let own = Array(userId.utf8)
    return try (Self.keyedByPerson + Self.keyedByOthers.filter { readsMessages || $0 != .chatEvents }).map { topic in
      var count = 0
      let partitions =
        Self.keyedByPerson.contains(topic) ? try browser.partitions(of: userId, on: topic) : nil
      try browser.read(
        try browser.ranges(of: topic, partitions: partitions), "reading \(browser.names(topic))"
      ) { record in
        if record.hasKey(own) || names(record) { count += 1 }
        return true
      }
      return (topic, count)
    }
  }

  /// Whether a record's value, which may be no JSON, names the person.
  private func names(_ record: ConsumerRecord) -> Bool {
    guard needles.contains(where: { record.valueContains($0) }) else { return false }
    guard let value = try? JSONValue(record.valueBytes() ?? []) else { return true }
    return value.has(userId)
  }

  private func names(_ key: RowKey, _ record: ConsumerRecord, _ stage: StageName) throws -> Bool {
    guard record.value != nil else { return false }
    if isNamed(byKey: key) { return true }
    guard needles.contains(where: { record.valueContains($0) }) else { return false }
    // The bytes may be a part of another id, or of a text: the row's fields tell.
    let bytes = record.valueBytes() ?? []
    let json =
      (try? stage.json(of: StateLookup.Found(task: record.partition, key: key, bytes: bytes), coder: coder)) ?? bytes
    guard let value = try? JSONValue(json) else { return true }
    return value.has(userId)
  }

  /// A part of the key is the id, or begins with it where a lane's key has the device behind it; a timer's name has it between slashes or
  /// at its end.
  private func isNamed(byKey key: RowKey) -> Bool {
    key.parts.contains { part in
      sameId(part, userId) || part.utf8.starts(with: "\(userId)\u{1}".utf8)
        || part.contains("/\(userId)/") || part.hasSuffix("/\(userId)")
    }
  }
}

extension JSONValue {
  /// Whether a string in it, or a field's name, is a text.
  fileprivate func has(_ text: String) -> Bool {
    switch self {
    case .string(let string): sameId(string, text)
    case .array(let elements): elements.contains { $0.has(text) }
    case .object(let fields): fields.contains { sameId($0.key, text) || $0.value.has(text) }
    case .null, .bool, .integer, .number: false
    }
  }
}
