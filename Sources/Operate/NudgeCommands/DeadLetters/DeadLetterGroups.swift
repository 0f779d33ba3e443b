import NudgeSchema

/// Dead letters grouped by code, stage, topic and producer.
struct DeadLetterGroups: Encodable {
  struct Group: Encodable, Equatable {
    /// A `DeadLetterCode`, as text: newer services may write others.
    var code: String
    /// The stage that rejected them.
    var stage: String
    /// The topic of the rejected records; nil if the headers do not say.
    var topic: String?
    /// The name of the API key that the events came with; nil: they did not come over HTTP.
    var producer: String?
    var count: Int
    /// Distinct keys, counted up to 1,000.
    var keys: Int
    /// Timestamps of the first and the last, in milliseconds since the epoch.
    var first: Milliseconds
    var last: Milliseconds
    /// The last one.
    var example: DeadLetterFacts
  }

  private struct Name: Hashable { let code, stage: String, topic, producer: String? }
  private var places: [Name: Int] = [:]
  private var keys: [Set<String>] = []
  private(set) var groups: [Group] = []

  private static let maxKeys = 1_000

  private enum CodingKeys: String, CodingKey { case groups }

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

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(sorted, forKey: .groups)
  }

  /// Largest group first.
  var sorted: [Group] { groups.sorted { ($1.count, $0.code) < ($0.count, $1.code) } }

  /// Two lines a group: counts, and an example.
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
