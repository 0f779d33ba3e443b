public import KafkaTransactions
public import NudgeSchema

/// What somebody must be allowed to do with a resource of the cluster, for their part of the pipeline.
public struct AccessRule: Sendable, Equatable {
  /// What it is about.
  public enum Resource: Sendable, Equatable, Hashable {
    /// A topic.
    case topic(String)
    /// A consumer group.
    case group(String)
    /// All transactional ids that begin so.
    case transactionalIDs(prefix: String)
  }

  /// What it is about.
  public var resource: Resource
  /// What must be allowed.
  public var operations: Set<AccessOperation>

  /// A rule.
  public init(_ resource: Resource, _ operations: Set<AccessOperation>) {
    self.resource = resource
    self.operations = operations
  }
}

extension AccessRule {
  /// What the processes of a stage do.
  public static func rules(of stage: StageDefinition, topics: TopicNames) -> [AccessRule] {
    var needed: [Topic: Set<AccessOperation>] = [:]
    for topic in stage.inputs + [stage.changelog] { needed[topic, default: []].insert(.read) }
    for topic in stage.outputs + [stage.changelog, .deadLetters] { needed[topic, default: []].insert(.write) }
    return Topic.allCases.compactMap { topic in
      needed[topic].map { AccessRule(.topic(topics(topic)), $0.union([.describe, .describeConfigs])) }
    } + [
      AccessRule(.group(stage.group(topics)), [.read, .describe]),
      AccessRule(.transactionalIDs(prefix: "\(stage.group(topics))-"), [.write, .describe]),
    ]
  }

  /// What whoever is on call does to look at a pipeline, and nothing more.
  public static func rulesOfLooking(at stages: [StageDefinition], topics: TopicNames) -> [AccessRule] {
    Topic.allCases.map { AccessRule(.topic(topics($0)), [.read, .describe, .describeConfigs]) }
      + stages.map { AccessRule(.group($0.group(topics)), [.describe]) }
  }

  /// What a replay, of records or of dead letters, does beside looking.
  public static func rulesOfReplaying(topics: TopicNames) -> [AccessRule] {
    [Topic.chatEvents, .userEvents, .timeline, .audit].map {
      AccessRule(.topic(topics($0)), [.write, .describe])
    } + [AccessRule(.transactionalIDs(prefix: "\(topics.prefix)nudge-replay-"), [.write, .describe])]
  }
}
