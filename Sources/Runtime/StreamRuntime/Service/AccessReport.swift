public import KafkaTransactions
public import NudgeSchema

/// The access rules that are not met for a Kafka user, from the brokers' answers.
public struct AccessReport: Sendable {
  /// The unmet rules, each with only the operations that are not allowed.
  public private(set) var missing: [AccessRule] = []
  /// Resources that the brokers do not report access to.
  public private(set) var unknown: [AccessRule.Resource] = []

  /// Asks the brokers, without using or changing a resource.
  /// - Parameter timeout: The time-out of each request.
  /// - Throws: `TransactionalProducerError` if a broker does not answer or does not know the requests.
  public init(on rules: [AccessRule], asking producer: TransactionalProducer, timeout: Duration)
    throws(TransactionalProducerError)
  {
    var topics: [String] = []
    for rule in rules { if case .topic(let name) = rule.resource { topics.append(name) } }
    let ofTopics = topics.isEmpty ? [:] : try producer.access(toTopics: topics, timeout: timeout)
    for rule in rules {
      switch rule.resource {
      case .topic(let name): add(rule, ofTopics[name] ?? .unknown)
      case .group(let name): add(rule, try producer.access(toGroup: name, timeout: timeout))
      case .transactionalIDs(let prefix):
        // No thread has this transactional id, because threads' ids end with a number and "-a" or "-b".
        add(rule, try producer.access(toTransactionalID: "\(prefix)access-check", timeout: timeout))
      }
    }
  }

  /// A report of given answers, for tests.
  init(on rules: [AccessRule], answers: (AccessRule.Resource) -> ResourceAccess) {
    for rule in rules { add(rule, answers(rule.resource)) }
  }

  private mutating func add(_ rule: AccessRule, _ access: ResourceAccess) {
    switch access {
    case .unknown: unknown.append(rule.resource)
    case .operations(let allowed):
      let lacking = rule.operations.subtracting(allowed)
      if !lacking.isEmpty { missing.append(AccessRule(rule.resource, lacking)) }
    }
  }

  /// The rules, grouped by operations, in their order.
  private var groups: [(operations: [AccessOperation], resources: [AccessRule.Resource])] {
    var groups: [(operations: [AccessOperation], resources: [AccessRule.Resource])] = []
    for rule in missing {
      let operations = rule.operations.sorted()
      // One command adds rules for only one kind of resource pattern.
      if let index = groups.firstIndex(where: {
        $0.operations == operations && $0.resources[0].isPrefix == rule.resource.isPrefix
          && $0.resources[0].option == rule.resource.option
      }) {
        groups[index].resources.append(rule.resource)
      } else {
        groups.append((operations, [rule.resource]))
      }
    }
    return groups
  }

  /// The missing permissions in one line. Absent if none is missing.
  public var sentence: String? {
    guard !missing.isEmpty else { return nil }
    return groups.map { operations, resources in
      "\(operations.map(\.rawValue).joined(separator: ", ")) on \(resources.map(\.description).joined(separator: ", "))"
    }.joined(separator: "; ")
  }

  /// Shell commands that grant the missing permissions.
  /// - Parameters:
  ///   - servers: `--bootstrap-servers` of an administrator's client.
  ///   - principal: the user, as from ``principal(_:)``.
  public func commands(servers: String, principal: String) -> [String] {
    groups.map { operations, resources in
      "kafka-acls.sh --bootstrap-server \(servers) --add --allow-principal '\(principal)'"
        + operations.map { " --operation \($0.rawValue)" }.joined()
        + (resources[0].isPrefix ? " --resource-pattern-type prefixed" : "")
        + resources.map { " \($0.option) '\($0.name)'" }.joined()
    }
  }

  /// The principal of a client with these properties, or a placeholder if they do not determine it.
  public static func principal(_ properties: [String: String]) -> String {
    switch properties["security.protocol"]?.lowercased() {
    case "sasl_ssl", "sasl_plaintext": "User:\(properties["sasl.username"] ?? "NAME")"
    // Brokers may map the name to a shorter one (ssl.principal.mapping.rules).
    case "ssl" where properties["ssl.certificate.location"] != nil || properties["ssl.certificate.pem"] != nil:
      "User:\(CertificateSubject.ofClient(properties) ?? "SUBJECT-OF-THE-CERTIFICATE")"
    default: "User:ANONYMOUS"
    }
  }
}

extension AccessRule.Resource: CustomStringConvertible {
  fileprivate var name: String {
    switch self {
    case .topic(let name), .group(let name): name
    case .transactionalIDs(let prefix): prefix
    }
  }

  fileprivate var isPrefix: Bool { if case .transactionalIDs = self { true } else { false } }

  /// The resource's option of `kafka-acls.sh`.
  fileprivate var option: String {
    switch self {
    case .topic: "--topic"
    case .group: "--group"
    case .transactionalIDs: "--transactional-id"
    }
  }

  /// The resource as text for people.
  public var description: String {
    switch self {
    case .topic(let name): "topic \(name)"
    case .group(let name): "group \(name)"
    case .transactionalIDs(let prefix): "transactional ids \(prefix)*"
    }
  }
}

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
  /// Rules for the processes of a stage. `others` are topics that another part of these processes reads.
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
  public static func rulesOfReading(at stages: [StageDefinition], topics: TopicNames) -> [AccessRule] {
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

/// The service's user lacks permissions that its stage needs. The description is one line with the commands that grant them.
struct AccessRefused: Error, CustomStringConvertible {
  let description: String

  /// Fails if nothing is missing.
  init?(_ report: AccessReport, _ servers: String, _ properties: [String: String]) {
    guard let sentence = report.sentence else { return nil }
    let principal = AccessReport.principal(properties)
    description =
      "access rules are missing for \(principal): \(sentence). An administrator adds them with: "
      + report.commands(servers: servers, principal: principal).joined(separator: "; ")
  }
}
