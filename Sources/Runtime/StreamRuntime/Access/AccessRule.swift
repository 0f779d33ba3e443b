public import KafkaTransactions
public import NudgeSchema

/// Operations that a Kafka user needs on a resource of the cluster.
public struct AccessRule: Sendable, Equatable {
  /// A resource of the cluster.
  public enum Resource: Sendable, Equatable, Hashable {
    case topic(String)
    case group(String)
    /// All transactional ids with this prefix.
    case transactionalIDs(prefix: String)
  }

  public var resource: Resource
  /// The operations that must be allowed.
  public var operations: Set<AccessOperation>

  public init(_ resource: Resource, _ operations: Set<AccessOperation>) {
    self.resource = resource
    self.operations = operations
  }
}

extension AccessRule {
  /// Rules for the processes of a stage. `others`: topics that another part of them reads.
  public static func rules(of stage: StageDefinition, topics: TopicNames, reading others: [Topic] = []) -> [AccessRule]
  {
    var needed: [Topic: Set<AccessOperation>] = [:]
    for topic in stage.inputs + [stage.changelog] + others { needed[topic, default: []].insert(.read) }
    for topic in stage.outputs + [stage.changelog, .deadLetters] { needed[topic, default: []].insert(.write) }
    if stage.handsOver { needed[stage.inputs[0], default: []].insert(.write) }
    return Topic.allCases.compactMap { topic in
      needed[topic].map { AccessRule(.topic(topics(topic)), $0.union([.describe, .describeConfigs])) }
    } + [
      AccessRule(.group(stage.group(topics)), [.read, .describe]),
      AccessRule(.transactionalIDs(prefix: "\(stage.group(topics))-"), [.write, .describe]),
    ]
  }

  /// Rules for read-only access of the person on call.
  public static func rulesOfLooking(at stages: [StageDefinition], topics: TopicNames) -> [AccessRule] {
    Topic.allCases.map { AccessRule(.topic(topics($0)), [.read, .describe, .describeConfigs]) }
      + stages.map { AccessRule(.group($0.group(topics)), [.describe]) }
  }

  /// Rules for replays, and for `nudge upgrade finalize`, in addition to those for read-only access.
  public static func rulesOfReplaying(topics: TopicNames) -> [AccessRule] {
    [Topic.chatEvents, .userEvents, .deviceClaims, .timeline, .pushes, .audit].map {
      AccessRule(.topic(topics($0)), [.write, .describe])
    } + [AccessRule(.transactionalIDs(prefix: "\(topics.prefix)nudge-replay-"), [.write, .describe])]
  }
}
