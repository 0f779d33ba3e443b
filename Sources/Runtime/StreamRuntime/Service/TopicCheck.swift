import Kafka
import NudgeSchema

/// Checks at start that the topics of a stage exist and are configured as the pipeline needs.
struct TopicCheck {
  /// The topics are wrong. The description has the fix.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  let stage: StageDefinition
  let topics: TopicNames
  let freshness: Milliseconds

  /// Every topic that the stage uses.
  private var needed: [Topic] { stage.inputs + stage.outputs + [stage.changelog, .deadLetters] }
  /// Their names in Kafka.
  var names: [String] { Set(needed).map { topics($0) }.sorted() }

  /// The partition counts of all topics that the stage uses.
  func partitionCounts(from found: [String: Int]) throws(Failure) -> [Topic: Int32] {
    let missing = Set(needed).map { topics($0) }.filter { found[$0] == nil }.sorted()
    guard missing.isEmpty else {
      throw Failure(
        description: "missing topics: \(missing.joined(separator: ", ")). Make them with: nudge topics create")
    }
    var counts: [Topic: Int32] = [:]
    for topic in needed { counts[topic] = Int32(found[topics(topic)] ?? 0) }
    let tasks = counts[stage.inputs[0]] ?? 0
    for topic in stage.inputs + [stage.changelog] where counts[topic] != tasks {
      throw Failure(
        description:
          "\(topics(topic)) has \(counts[topic] ?? 0) partitions but \(topics(stage.inputs[0])) has \(tasks): "
          + "all inputs and the state topic of a stage need the same number. If nudge topics repartition was interrupted, run "
          + "it again; partitions that were added in another way leave state behind")
    }
    return counts
  }

  /// Whether the settings of the topics are right; one sentence for each that is not.
  func complaints(about configurations: [String: [String: String]]) -> [String] {
    needed.compactMap { topic in
      guard let configuration = configurations[topics(topic)] else { return nil }
      let plan = TopicPlan(topic)
      let policy = configuration["cleanup.policy"] ?? ""
      if plan.compacted, policy != "compact" {
        return "\(topics(topic)) has cleanup.policy=\(policy), needs compact: state would be deleted by age"
      }
      if !plan.compacted, policy.contains("compact") {
        return "\(topics(topic)) has cleanup.policy=\(policy), needs delete: records of one key would be lost"
      }
      if stage.inputs.contains(topic), let text = configuration["retention.ms"], let retention = Int64(text),
        retention >= 0, retention < freshness
      {
        return "\(topics(topic)) keeps records for \(retention) ms, less than the freshness of \(freshness) ms: "
          + "messages that may still notify would be lost"
      }
      if let text = configuration["max.message.bytes"], let bytes = Int(text), bytes < plan.maxMessageBytes {
        return "\(topics(topic)) has max.message.bytes=\(bytes), needs \(plan.maxMessageBytes)"
      }
      return nil
    }
  }
}
