import Kafka
import NudgeSchema
import StreamRuntime

/// Finds what names a person: rows of the stages' state, and records of topics that are keyed by people.
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

  /// Topics whose records are keyed by people.
  static let keyedByPerson: [Topic] = [.userEvents, .timeline, .decisions, .pushes, .banners, .outcomes, .deadLetters]

  init(userId: String) {
    self.userId = userId
    needles = [Array(userId.utf8), coder.needle(userId)]
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

  /// How many records of each topic have the person's key.
  func records(_ browser: TopicBrowser) throws -> [(topic: Topic, count: Int)] {
    try Self.keyedByPerson.map { topic in
      var count = 0
      try browser.records(of: topic, key: userId) { _ in
        count += 1
        return true
      }
      return (topic, count)
    }
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

  /// A part of the key is the id, or begins with it where a lane's key has the device behind it; a timer's name has it between slashes.
  private func isNamed(byKey key: RowKey) -> Bool {
    key.parts.contains { part in
      part.utf8.elementsEqual(userId.utf8) || part.utf8.starts(with: "\(userId)\u{1}".utf8)
        || part.contains("/\(userId)/")
    }
  }
}

extension JSONValue {
  /// Whether a string in it, or a field's name, is a text.
  fileprivate func has(_ text: String) -> Bool {
    switch self {
    case .string(let string): string.utf8.elementsEqual(text.utf8)
    case .array(let elements): elements.contains { $0.has(text) }
    case .object(let fields): fields.contains { $0.key.utf8.elementsEqual(text.utf8) || $0.value.has(text) }
    case .null, .bool, .integer, .number: false
    }
  }
}
