import NudgeSchema
import ServiceKit
import StreamRuntime

/// What `nudge erase` found and did.
struct ErasureReport: Encodable {
  /// The person's data on a topic, and how long it stays.
  struct Place: Encodable {
    var topic: String
    /// Rows of state, or records that name the person.
    var count: Int
    /// When the last of it is gone, in words.
    var goneAfter: String
    /// That time, in RFC 3339; nil: the topic keeps records for ever.
    var goneBy: String?
  }

  var userId: String
  var isDryRun: Bool
  /// Where the person's data was.
  var places: [Place] = []
  /// Whether the state topics no longer name the person; nil: nothing was erased.
  var isProven: Bool?
  /// The id of the audit record; nil if nothing was written.
  var auditId: String?
  private var left: [String: Int] = [:]

  /// Whether anything names the person.
  var isKnown: Bool { places.contains { $0.count > 0 } }

  init(userId: String, isDryRun: Bool) {
    self.userId = userId
    self.isDryRun = isDryRun
  }

  /// Notes how many rows still name the person.
  mutating func note(rowsLeft rows: [StageName: Int]) {
    left = Dictionary(uniqueKeysWithValues: rows.filter { $0.value > 0 }.map { ($0.key.rawValue, $0.value) })
  }

  /// - Parameters:
  ///   - settings: The topics' effective settings; without one, the plan's stands.
  ///   - now: When the person is erased.
  mutating func add(
    rows: [StageName: Int], records: [(topic: Topic, count: Int)], settings: [Topic: [String: String]],
    now: Milliseconds
  ) {
    func setting(_ name: String, of topic: Topic) -> Milliseconds {
      (settings[topic]?[name] ?? TopicPlan(topic).configuration[name]).flatMap(Milliseconds.init) ?? 0
    }
    /// nil where one of them is negative, or beyond any calendar: for ever.
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
          // The tombstones' time begins with a compaction, and ends with the next.
          goneBy: time(after: compaction, tombstones, compaction)))
    }
    for (topic, count) in records {
      let retention = setting("retention.ms", of: topic)
      places.append(
        Place(
          topic: topic.rawValue, count: count, goneAfter: "retention: \(Self.text(retention))",
          // A segment is removed as a whole, after its last record's retention.
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
      "\(place.topic.padding(to: 24)) \(String(place.count).padding(to: 8)) \(place.goneAfter)"
        + (place.goneBy.map { "; gone by \($0)" } ?? "; never gone")
    }
    if !places.contains(where: { $0.topic == Topic.chatEvents.rawValue }) {
      lines.append("chat.events has what the person wrote, and lists of members: --messages counts those records.")
    }
    lines.append(
      "Messages that the person wrote are also on the timelines, pushes and decisions of their readers, for as long as those topics "
        + "keep records.")
    switch isProven {
    case nil: lines.append("Nothing was written. Add --yes --why TEXT to erase the person.")
    case true?:
      lines.append("Erased: no row of the three state topics names the person, and what waited for them is cancelled.")
    case false?:
      let rows = left.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
      lines.append(
        "Not proven in time: rows still name the person (\(rows)). user.deleted is published: do the services run ('nudge lag')? Run "
          + "'nudge erase --user …' to look again.")
    }
    if let auditId { lines.append("Audited as \(auditId).") }
    return lines.joined(separator: "\n")
  }

  private enum CodingKeys: String, CodingKey { case userId, isDryRun, places, isProven, auditId, left }
}

extension String {
  fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
