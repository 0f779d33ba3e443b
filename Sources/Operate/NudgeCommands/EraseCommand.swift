import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// `nudge erase`.
enum EraseCommand {
  private static let user = PublishCommand.required("user", "USER", "The person to erase.")
  private static let messages = Setting<Bool>(
    "messages", environment: .none, default: false,
    help: "Counts the person's records on chat.events, too. Reads the whole topic.")
  private static let timeout = Setting<Duration>(
    "timeout", environment: .none, default: .seconds(120), in: .seconds(1)...(.seconds(3_600)),
    help: "How long to wait without any progress until the state topics no longer name the person.")

  static let command = Command(
    "erase", abstract: "Erases a person, and proves it by reading the state topics.",
    discussion:
      "Without --yes, the command only says where the person's data is. With it user.deleted is published, together with an audit "
      + "record that has the hash of the id. Exits with 1 if nothing names the person, or rows still do at the end.",
    settings: ClusterSettings.all + [user, messages, timeout] + Writing.all + [CommandOutput.json],
    examples: [
      "nudge erase --user ann --bootstrap-servers kafka:9092",
      "nudge erase --user ann --yes --why 'asked for by letter' --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let writes = try Writing.isAsked(input)
    let cluster = ClusterSettings(input)
    let browser = try TopicBrowser(cluster)
    let event = UserEvent(
      PublishCommand.envelope(input, "erase"), .deleted(UserDeleted(userId: input[user])))
    do throws(SchemaViolation) {
      try event.validate()
    } catch {
      throw SettingsError("--user: \(error.description)")
    }
    var search = PersonSearch(userId: input[user])
    try search.readState(browser)
    var report = ErasureReport(userId: input[user], isDryRun: !writes)
    report.add(
      rows: search.rows, records: try search.records(browser, readsMessages: input[messages]),
      settings: settings(cluster), now: SystemClock.milliseconds())
    guard report.isKnown else {
      throw CommandError(
        "nothing names \(input[user]): no row of state, and no record\(input[messages] ? "" : " besides those of chat.events"). "
          + "Is the id right? Nothing was written")
    }
    if writes {
      report.auditId = try publish(event, why: input[Writing.why], cluster, browser)
      report.isProven = try wait(&search, browser, within: input[timeout])
      report.record(rowsLeft: search.rows)
    }
    report.rowsOfOthers = search.rowsOfOthers
    try CommandOutput.print(report, asJSON: input[CommandOutput.json], text: report.text)
    return report.isProven == false ? ExitCode.failure : ExitCode.success
  }

  /// Publishes `user.deleted` and its audit, both or none. Returns the id in the audit.
  private static func publish(
    _ event: UserEvent, why: String, _ cluster: ClusterSettings, _ browser: TopicBrowser
  ) throws -> String {
    let userId = event.body.userId
    let key = Array(userId.utf8)
    return try AuditedWriter.write(
      "erase",
      [
        OutgoingRecord(
          topic: .userEvents,
          partition: Murmur2.partition(of: key, count: try browser.partitionCount(of: .userEvents)), key: key,
          value: try RecordCoder().encode(event), headers: [])
      ], why: why, details: ["user": TokenHash.of(userId)], cluster, browser)
  }

  /// The topics' effective settings. The embedded broker has none, so the plan's settings count.
  private static func settings(_ cluster: ClusterSettings) -> [Topic: [String: String]] {
    let names = Dictionary(uniqueKeysWithValues: Topic.allCases.map { (cluster.topics($0), $0) })
    guard let admin = try? cluster.admin(),
      let found = try? admin.describeTopicConfigurations(Array(names.keys), timeout: TopicBrowser.answerTimeout)
    else { return [:] }
    return found.reduce(into: [:]) { settings, entry in
      if let topic = names[entry.key] { settings[topic] = try? entry.value.get() }
    }
  }

  /// Reads the state topics until no row has named the person in two successive readings, because ingest's tasks may still write rows in
  /// between. Other people may be erased before this one, so it waits up to ten times the limit as long as ingest's state changes.
  private static func wait(
    _ search: inout PersonSearch, _ browser: TopicBrowser, within limit: Duration
  ) throws -> Bool {
    var patience = ErasurePatience(limit: limit, rows: search.rows, reached: search.reached)
    var clean = 0
    var shown = ContinuousClock.now
    while patience.isLeft(now: .now) {
      Thread.sleep(forTimeInterval: 1)
      try search.readState(browser)
      patience.record(rows: search.rows, reached: search.reached, now: .now)
      clean = search.isErased ? clean + 1 : 0
      if clean == 2 { return true }
      if shown.duration(to: .now) >= .seconds(10) {
        shown = .now
        let left = search.rows.values.reduce(0, +)
        CommandOutput.report("\(left.counted("row still names", "rows still name")) the person")
      }
    }
    return false
  }
}

/// How long to wait for an erasure: a time without progress, and ten times that in total.
struct ErasurePatience {
  private let limit: Duration
  private let began: ContinuousClock.Instant
  private var movedAt: ContinuousClock.Instant
  private var rows: [StageName: Int]
  private var reached: Int64

  init(limit: Duration, rows: [StageName: Int], reached: Int64, now: ContinuousClock.Instant = .now) {
    self.limit = limit
    self.rows = rows
    self.reached = reached
    began = now
    movedAt = now
  }

  /// - Parameter reached: The sum of the offsets that ingest's state has reached.
  mutating func record(rows: [StageName: Int], reached: Int64, now: ContinuousClock.Instant) {
    if rows != self.rows || reached != self.reached { movedAt = now }
    (self.rows, self.reached) = (rows, reached)
  }

  func isLeft(now: ContinuousClock.Instant) -> Bool {
    movedAt.duration(to: now) < limit && began.duration(to: now) < limit * 10
  }
}

/// What `nudge erase` found and did.
struct ErasureReport: Encodable {
  /// The person's data on a topic, and how long it stays.
  struct Place: Encodable {
    var topic: String
    /// The number of rows of state, or of records, that name the person.
    var count: Int
    /// In words, when the last of it is gone.
    var goneAfter: String
    /// That time in RFC 3339; nil if the topic keeps records for ever.
    var goneBy: String?
  }

  var userId: String
  var isDryRun: Bool
  /// Where the person's data was.
  var places: [Place] = []
  /// Whether the state topics no longer name the person; nil if nothing was erased.
  var isProven: Bool?
  /// The id of the audit record; nil if nothing was written.
  var auditId: String?
  /// The number of other people's rows that name the person, and stay.
  var rowsOfOthers = 0
  private var left: [String: Int] = [:]

  /// Whether anything names the person.
  var isKnown: Bool { places.contains { $0.count > 0 } }

  init(userId: String, isDryRun: Bool) {
    self.userId = userId
    self.isDryRun = isDryRun
  }

  /// Records how many rows still name the person.
  mutating func record(rowsLeft rows: [StageName: Int]) {
    left = rows.filter { $0.value > 0 }.byName
  }

  /// - Parameters:
  ///   - settings: The topics' effective settings. For a missing one the plan's setting counts.
  ///   - now: When the person is erased.
  mutating func add(
    rows: [StageName: Int], records: [(topic: Topic, count: Int)], settings: [Topic: [String: String]],
    now: Milliseconds
  ) {
    func setting(_ name: String, of topic: Topic) -> Milliseconds {
      (settings[topic]?[name] ?? TopicPlan(topic).configuration[name]).flatMap(Milliseconds.init) ?? 0
    }
    /// The time after these waits; nil for ever, if one of them is negative or beyond any calendar.
    func time(after waits: Milliseconds...) -> String? {
      waits.allSatisfy { (0..<Self.longestWait).contains($0) } ? RFC3339.text(now + waits.reduce(0, +)) : nil
    }
    for stage in StageName.allCases {
      let topic = stage.definition.changelog
      let compaction = setting("max.compaction.lag.ms", of: topic)
      let tombstones = setting("delete.retention.ms", of: topic)
      places.append(
        Place(
          topic: topic.rawValue, count: rows[stage] ?? 0,
          goneAfter:
            "rows at once; their former records by compaction, after \(Self.text(compaction)), and their tombstones "
            + "\(Self.text(tombstones)) later",
          // The time of tombstones begins with one compaction and ends with the next.
          goneBy: time(after: compaction, tombstones, compaction)))
    }
    for (topic, count) in records {
      let retention = setting("retention.ms", of: topic)
      places.append(
        Place(
          topic: topic.rawValue, count: count, goneAfter: "retention: \(Self.text(retention))",
          // A whole segment is removed at once, after the retention of its last record.
          goneBy: time(after: retention, setting("segment.ms", of: topic))))
    }
  }

  /// A hundred years.
  private static let longestWait: Milliseconds = 100 * 365 * 86_400_000

  private static func text(_ time: Milliseconds) -> String {
    guard (0..<longestWait).contains(time) else { return "for ever" }
    let hours = time / 3_600_000
    return hours * 3_600_000 != time
      ? Duration.milliseconds(time).settingText : hours > 0 && hours % 24 == 0 ? "\(hours / 24) d" : "\(hours) h"
  }

  var text: String {
    var lines = places.map { place in
      "\(place.topic.padded(to: 24)) \(String(place.count).padded(to: 8)) \(place.goneAfter)"
        + (place.goneBy.map { "; gone by \($0)" } ?? "; never gone")
    }
    if !places.contains(where: { $0.topic == Topic.chatEvents.rawValue }) {
      lines.append("chat.events has what the person wrote, and lists of members: --messages counts those records.")
    }
    lines.append(
      "Messages that the person wrote are also on the timelines, pushes and decisions of their readers, for as long as those topics "
        + "keep records.")
    if rowsOfOthers > 0 {
      lines.append(
        "\(rowsOfOthers.counted("row names", "rows name")) the person in other people's state: as a starred sender, or with a message "
          + "that waits for them. What they have is those people's, and stays.")
    }
    switch isProven {
    case nil: lines.append("Nothing was written. Add --yes --why TEXT to erase the person.")
    case true?:
      lines.append(
        "Erased: no \(rowsOfOthers > 0 ? "other " : "")row of the three state topics names the person, and what waited for them is "
          + "cancelled.")
    case false?:
      let rows = left.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
      lines.append(
        "Not proven in time: rows still name the person (\(rows)). user.deleted is published: do the services run ('nudge lag')? Run "
          + "'nudge erase --user …' to look again.")
    }
    if let auditId { lines.append("Audited as \(auditId).") }
    return lines.joined(separator: "\n")
  }

}

/// Finds everything that names a person: rows of the stages' state, and records of topics.
struct PersonSearch {
  /// The number of rows about the person or a conversation that name the person, by stage.
  private(set) var rows: [StageName: Int] = [:]
  /// The number of rows about other people that name the person: as a starred sender, or as the writer of a message that waits for them.
  /// They stay, because what they have is the other people's (D16).
  var rowsOfOthers: Int { ofOthers.values.reduce(0) { $0 + $1.count } }

  private let userId: String
  private let coder = RecordCoder()
  /// The id as bytes, and in the form that JSON has.
  private let needles: [[UInt8]]
  private var named: [StageName: Set<RowKey>] = [:]
  private var ofOthers: [StageName: Set<RowKey>] = [:]
  /// Where the next reading of each state topic begins.
  private var next: [TopicPartition: Int64] = [:]

  /// Topics in which records about a person are on the partition of the person's key.
  static let keyedByPerson: [Topic] = [.userEvents, .timeline, .decisions, .pushes, .banners, .outcomes]
  /// Topics with other keys, of which every partition is read. They have a few records per registration or failure, or all messages.
  static let keyedByOthers: [Topic] = [.deviceClaims, .deadLetters, .chatEvents]

  init(userId: String) {
    self.userId = userId
    needles = [Array(userId.utf8), coder.needle(userId)]
  }

  /// The sum of the offsets that ingest's state has reached. It grows while ingest works.
  var reached: Int64 {
    let topic = StageName.ingest.definition.changelog.rawValue
    return next.reduce(Int64(0)) { $0 + ($1.key.topic.hasSuffix(topic) ? $1.value : 0) }
  }

  /// Whether no row names the person.
  var isErased: Bool { rows.values.allSatisfy { $0 == 0 } }

  /// Reads the state topics from where the last reading ended.
  mutating func readState(_ browser: TopicBrowser) throws {
    for stage in StageName.allCases {
      let topic = stage.definition.changelog
      var ranges = try browser.ranges(of: topic)
      for index in ranges.indices {
        let place = ranges[index].place
        ranges[index].from = max(ranges[index].from, next[place] ?? 0)
        next[place] = ranges[index].to
      }
      var (found, others) = (named[stage] ?? [], ofOthers[stage] ?? [])
      try browser.read(ranges, "reading \(browser.names(topic))") { record in
        guard let key = record.keyBytes() else { return true }
        let row = RowKey(bytes: key)
        let isNamed = try names(row, record, stage)
        let isOfAnother = isNamed && isOfAnother(row, stage)
        if isNamed, !isOfAnother { found.insert(row) } else { found.remove(row) }
        if isOfAnother { others.insert(row) } else { others.remove(row) }
        return true
      }
      (named[stage], ofOthers[stage]) = (found, others)
      rows[stage] = found.count
    }
  }

  /// How many records of each topic name the person. `readsMessages` says whether those of `chat.events` are counted too.
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

  /// Whether a record's value, which may not be JSON, names the person.
  private func names(_ record: ConsumerRecord) -> Bool {
    guard needles.contains(where: { record.valueContains($0) }) else { return false }
    guard let value = try? JSONValue(record.valueBytes() ?? []) else { return true }
    return value.has(userId)
  }

  private func names(_ key: RowKey, _ record: ConsumerRecord, _ stage: StageName) throws -> Bool {
    guard record.value != nil else { return false }
    if isNamed(byKey: key) { return true }
    guard needles.contains(where: { record.valueContains($0) }) else { return false }
    // The bytes may be part of another id or of a text, so the row's fields decide.
    let bytes = record.valueBytes() ?? []
    let json =
      (try? stage.json(of: StateLookup.Found(task: record.partition, key: key, bytes: bytes), coder: coder)) ?? bytes
    guard let value = try? JSONValue(json) else { return true }
    return value.has(userId)
  }

  /// Whether a row that names the person is about another one, whose id its key has. The analyzer's row of an erasure is not: it names the
  /// person until the erasure ends, and its key has a hash.
  private func isOfAnother(_ key: RowKey, _ stage: StageName) -> Bool {
    guard stage != .ingest, !isNamed(byKey: key), let kind = key.parts.first else { return false }
    return key.parts.count > 1 && kind.utf8.count == 1 && !(stage == .analyzer && kind == "x")
  }

  /// Whether a key names the person: a part of the key is the id, or begins with it as in a lane's key, which continues with the device.
  /// The name of a timer has the id between slashes or at its end.
  private func isNamed(byKey key: RowKey) -> Bool {
    key.parts.contains { part in
      sameId(part, userId) || part.utf8.starts(with: "\(userId)\u{1}".utf8)
        || part.contains("/\(userId)/") || part.hasSuffix("/\(userId)")
    }
  }
}

extension JSONValue {
  /// Whether the value has this text as a string or as a field's name.
  fileprivate func has(_ text: String) -> Bool {
    switch self {
    case .string(let string): sameId(string, text)
    case .array(let elements): elements.contains { $0.has(text) }
    case .object(let fields): fields.contains { sameId($0.key, text) || $0.value.has(text) }
    case .null, .bool, .integer, .number: false
    }
  }
}
