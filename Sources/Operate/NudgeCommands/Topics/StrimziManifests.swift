import Analyzer
import Dispatcher
import Ingest
import KafkaTransactions
import NudgeSchema
import StreamRuntime

/// Topics and users as objects of Strimzi's operators, generated from the topics' plans and the access rules.
struct StrimziManifests {
  var names: TopicNames
  /// The value of `strimzi.io/cluster`: the `Kafka` object to which they belong.
  var cluster: String
  var namespace: String
  var partitions: Int
  var replicationFactor: Int
  var api: String
  /// `scram-sha-512` or `tls`.
  var authentication: String

  /// The topics, followed by the users.
  var objects: [JSONValue] { TopicPlan.all.map { topic($0) } + users.map { user($0.name, $0.rules) } }

  /// Documents for `kubectl apply -f -`.
  var yaml: String { objects.map { "---\n" + Self.yaml($0, indent: "") }.joined() }

  /// The users of the services and of people on call, with the rules that `nudge doctor --role` checks.
  private var users: [(name: String, rules: [AccessRule])] {
    let stages = [IngestStage.definition, AnalyzerStage.definition, DispatcherStage.definition]
    let looking = AccessRule.rulesOfReading(at: stages, topics: names)
    return [
      ("nudge-oncall", looking), ("nudge-replay", looking + AccessRule.rulesOfReplaying(topics: names)),
      // With its HTTP API, ingest informs producers about dead letters and decisions, and sends banners to apps.
      (
        "nudge-ingest",
        AccessRule.rules(
          of: IngestStage.definition, topics: names, reading: [.deadLetters, .timeline, .decisions, .banners])
      ),
      ("nudge-analyzer", AccessRule.rules(of: AnalyzerStage.definition, topics: names)),
      ("nudge-dispatcher", AccessRule.rules(of: DispatcherStage.definition, topics: names)),
    ]
  }

  private func object(_ kind: String, _ name: String, _ spec: JSONValue) -> JSONValue {
    .object([
      "apiVersion": .string("kafka.strimzi.io/\(api)"), "kind": .string(kind),
      "metadata": .object([
        "name": .string(name), "namespace": .string(namespace),
        "labels": .object(["strimzi.io/cluster": .string(cluster), "app.kubernetes.io/part-of": .string("nudge")]),
      ]), "spec": spec,
    ])
  }

  private func topic(_ plan: TopicPlan) -> JSONValue {
    let name = names(plan.topic)
    return object(
      "KafkaTopic", Self.objectName(name),
      .object([
        "topicName": .string(name), "partitions": .integer(Int64(partitions)),
        "replicas": .integer(Int64(replicationFactor)),
        // Strimzi accepts numbers and texts; Kafka accepts texts.
        "config": .object(plan.configuration.mapValues { .string($0) }),
      ]))
  }

  private func user(_ name: String, _ rules: [AccessRule]) -> JSONValue {
    object(
      "KafkaUser", name,
      .object([
        "authentication": .object(["type": .string(authentication)]),
        "authorization": .object(["type": .string("simple"), "acls": .array(rules.map { Self.rule($0) })]),
      ]))
  }

  private static func rule(_ rule: AccessRule) -> JSONValue {
    let (type, name, pattern) =
      switch rule.resource {
      case .topic(let name): ("topic", name, "literal")
      case .group(let name): ("group", name, "literal")
      case .transactionalIDs(let prefix): ("transactionalId", prefix, "prefix")
      }
    return .object([
      "resource": .object(["type": .string(type), "name": .string(name), "patternType": .string(pattern)]),
      "operations": .array(rule.operations.sorted().map { .string($0.rawValue) }),
    ])
  }

  /// A topic's name in a form that Kubernetes accepts. `topicName` has the topic's own name.
  static func objectName(_ topic: String) -> String {
    let name = String(
      topic.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" })
    return name.trimmingPrefix { !$0.isLetter && !$0.isNumber }.description
  }

  // MARK: YAML

  /// Block style. Every text is quoted, so that none is read as a number or a boolean.
  private static func yaml(_ value: JSONValue, indent: String) -> String {
    switch value {
    case .object(let fields):
      return order(fields.keys).map { name in "\(indent)\(key(name)):\(nested(fields[name] ?? .null, indent))" }
        .joined()
    case .array(let elements):
      return elements.map { element in
        let text = yaml(element, indent: indent + "  ")
        return "\(indent)- " + text.dropFirst(indent.count + 2)
      }.joined()
    default: return "\(indent)\(scalar(value))\n"
    }
  }

  private static func nested(_ value: JSONValue, _ indent: String) -> String {
    switch value {
    case .object, .array: "\n" + yaml(value, indent: indent + "  ")
    default: " \(scalar(value))\n"
    }
  }

  private static func scalar(_ value: JSONValue) -> String {
    if case .string(let text) = value {
      return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
    return value.shown
  }

  private static func key(_ name: String) -> String {
    name.utf8.allSatisfy { (97...122).contains($0 | 0x20) } ? name : "\"\(name)\""
  }

  /// The usual order of the fields.
  private static func order(_ names: some Sequence<String>) -> [String] {
    let first = ["apiVersion", "kind", "metadata", "spec", "name", "type", "topicName", "resource"]
    return names.sorted {
      (first.firstIndex(of: $0) ?? first.count, $0) < (first.firstIndex(of: $1) ?? first.count, $1)
    }
  }
}
