import NudgeSchema

/// Dead letters that were refused for the same reason.
struct DeadLetterGroups: Encodable {
  struct Group: Encodable, Equatable {
    /// A `DeadLetterCode`, as it stands in the records.
    var code: String
    /// The stage that refused them.
    var stage: String
    /// Where they were; nil: not said.
    var topic: String?
    var count: Int
    /// Different keys among them; counted up to 1,000.
    var keys: Int
    /// When the first and the last were written, in milliseconds since the epoch.
    var first: Milliseconds
    var last: Milliseconds
    /// One of them, the last.
    var example: DeadLetterFacts
  }

  private struct Name: Hashable { let code, stage: String, topic: String? }
  private var places: [Name: Int] = [:]
  private var keys: [Set<String>] = []
  private(set) var groups: [Group] = []

  /// Different keys that are counted.
  private static let maxKeys = 1_000

  private enum CodingKeys: String, CodingKey { case groups }

  /// Counts a letter.
  mutating func add(_ letter: DeadLetterFacts) {
    let name = Name(code: letter.code, stage: letter.stage, topic: letter.origin?.topic)
    guard let place = places[name] else {
      places[name] = groups.count
      keys.append(Set(letter.key.map { [$0] } ?? []))
      groups.append(
        Group(
          code: letter.code, stage: letter.stage, topic: letter.origin?.topic, count: 1, keys: keys[groups.count].count,
          first: letter.timestamp, last: letter.timestamp, example: letter))
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

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(sorted, forKey: .groups)
  }

  /// The largest first.
  var sorted: [Group] { groups.sorted { ($1.count, $0.code) < ($0.count, $1.code) } }

  /// For a person: a line a group, and one with an example.
  var text: String {
    guard !groups.isEmpty else { return "No dead letters." }
    return sorted.map { group in
      let keys =
        group.keys >= Self.maxKeys ? "\(Self.maxKeys) or more keys" : "\(group.keys) key\(group.keys == 1 ? "" : "s")"
      let place = group.example.position
      return
        "\(group.count)  \(group.code)  by \(group.stage), from \(group.topic ?? "?"), \(keys), "
        + "\(RFC3339.text(group.first)) to \(RFC3339.text(group.last))\n"
        + "    such as \(place.partition)@\(place.offset): \(group.example.message)"
    }.joined(separator: "\n")
  }
}
