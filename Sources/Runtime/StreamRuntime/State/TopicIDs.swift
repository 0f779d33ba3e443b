import NudgeSchema

/// The ids of a stage's inputs and changelog, by the topics' catalogue names. Kafka gives a topic that is deleted and created again
/// another id; a position is one of the topics with the ids that it was written with.
struct TopicIDs: Codable, Equatable, Sendable {
  private var byName: [String: String]

  /// A topic is missing where the broker has no ids, as the embedded one, or does not have the topic now.
  init(_ byTopic: [Topic: String] = [:]) {
    byName = Dictionary(uniqueKeysWithValues: byTopic.map { ($0.key.rawValue, $0.value) })
  }

  init(from decoder: any Decoder) throws {
    byName = try decoder.singleValueContainer().decode([String: String].self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(byName)
  }

  subscript(_ topic: Topic) -> String? { byName[topic.rawValue] }

  /// Whether no id is known.
  var isEmpty: Bool { byName.isEmpty }

  /// The topics that have another id now.
  func replaced(by now: TopicIDs) -> Set<Topic> {
    Set(
      byName.compactMap { name, id in
        guard let found = now.byName[name], found != id else { return nil }
        return Topic(rawValue: name)
      })
  }

  /// These ids, and those of now for topics without one: positions of former releases have none.
  func adopting(_ now: TopicIDs) -> TopicIDs {
    var all = self
    all.byName.merge(now.byName) { known, _ in known }
    return all
  }
}
