import NudgeSchema
import StreamRuntime

/// What `nudge erase` found and did.
struct ErasureReport: Encodable {
  /// The person's data on a topic, and how long it stays.
  struct Place: Encodable {
    var topic: String
    /// Rows of state, or records with the person's key.
    var count: Int
    /// When the last of it is gone.
    var goneAfter: String
  }

  var userId: String
  var isDryRun: Bool
  /// Where the person's data was.
  var places: [Place] = []
  /// Whether the state topics no longer name the person; nil: nothing was erased.
  var isProven: Bool?
  private var left: [String: Int] = [:]

  init(userId: String, isDryRun: Bool) {
    self.userId = userId
    self.isDryRun = isDryRun
  }

  /// Notes how many rows still name the person.
  mutating func note(rowsLeft rows: [StageName: Int]) {
    left = Dictionary(uniqueKeysWithValues: rows.filter { $0.value > 0 }.map { ($0.key.rawValue, $0.value) })
  }

  mutating func add(rows: [StageName: Int], records: [(topic: Topic, count: Int)]) {
    for stage in StageName.allCases {
      places.append(
        Place(
          topic: stage.definition.changelog.rawValue, count: rows[stage] ?? 0,
          goneAfter:
            "rows at once; their former records when the log is compacted, after 1 day, and their tombstones 7 days later"
        ))
    }
    for (topic, count) in records {
      places.append(Place(topic: topic.rawValue, count: count, goneAfter: "retention: \(Self.retention(topic))"))
    }
  }

  private static func retention(_ topic: Topic) -> String {
    guard let retention = TopicPlan(topic).retention else { return "compaction" }
    let hours = retention / 3_600_000
    return hours % 24 == 0 ? "\(hours / 24) d" : "\(hours) h"
  }

  var text: String {
    var lines = places.map { place in
      "\(place.topic.padding(to: 24)) \(String(place.count).padding(to: 8)) \(place.goneAfter)"
    }
    lines.append(
      "Messages that the person wrote are on chat.events (\(Self.retention(.chatEvents))), and on the timelines, pushes and decisions of "
        + "their readers, for as long as those topics keep records.")
    switch isProven {
    case nil: lines.append("Nothing was changed.")
    case true?:
      lines.append("Erased: no row of the three state topics names the person, and what waited for them is cancelled.")
    case false?:
      let rows = left.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
      lines.append(
        "Not proven in time: rows still name the person (\(rows)). user.deleted is published: do the services run ('nudge lag')? Run "
          + "'nudge erase --dry-run' to look again.")
    }
    return lines.joined(separator: "\n")
  }

  private enum CodingKeys: String, CodingKey { case userId, isDryRun, places, isProven, left }
}

extension String {
  fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
