public import KafkaTransactions

/// What somebody may not do of what rules ask for, as the brokers tell it.
public struct AccessReport: Sendable {
  /// The rules that do not hold, each with the operations that are not allowed alone.
  public private(set) var missing: [AccessRule] = []
  /// What the brokers do not tell of.
  public private(set) var unknown: [AccessRule.Resource] = []

  /// Asks the brokers. Changes nothing: topics, groups and transactional ids are looked at and not used.
  /// - Parameter timeout: of each question.
  /// - Throws: `SinkError` where a broker does not answer, or does not know the questions.
  public init(on rules: [AccessRule], asking sink: TransactionSink, timeout: Duration) throws(SinkError) {
    var topics: [String] = []
    for rule in rules { if case .topic(let name) = rule.resource { topics.append(name) } }
    let ofTopics = topics.isEmpty ? [:] : try sink.access(toTopics: topics, timeout: timeout)
    for rule in rules {
      switch rule.resource {
      case .topic(let name): note(rule, ofTopics[name] ?? .unknown)
      case .group(let name): note(rule, try sink.access(toGroup: name, timeout: timeout))
      case .transactionalIDs(let prefix):
        // No process has this name: instances are followed by the thread's number.
        note(rule, try sink.access(toTransactionalID: "\(prefix)access-check", timeout: timeout))
      }
    }
  }

  /// A report of answers that are known, for tests.
  init(on rules: [AccessRule], answers: (AccessRule.Resource) -> ResourceAccess) {
    for rule in rules { note(rule, answers(rule.resource)) }
  }

  private mutating func note(_ rule: AccessRule, _ access: ResourceAccess) {
    switch access {
    case .unknown: unknown.append(rule.resource)
    case .operations(let allowed):
      let lacking = rule.operations.subtracting(allowed)
      if !lacking.isEmpty { missing.append(AccessRule(rule.resource, lacking)) }
    }
  }

  /// Rules that ask for the same, together, in their order.
  private var groups: [(operations: [AccessOperation], resources: [AccessRule.Resource])] {
    var groups: [(operations: [AccessOperation], resources: [AccessRule.Resource])] = []
    for rule in missing {
      let operations = rule.operations.sorted()
      // One command adds rules for resources of one kind of pattern.
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

  /// What is not allowed, in one line; nil where nothing is missing.
  public var sentence: String? {
    guard !missing.isEmpty else { return nil }
    return groups.map { operations, resources in
      "\(operations.map(\.rawValue).joined(separator: ", ")) on \(resources.map(\.description).joined(separator: ", "))"
    }.joined(separator: "; ")
  }

  /// The commands that allow it, each a line for a shell.
  /// - Parameters:
  ///   - servers: `--bootstrap-servers`, for an administrator's client.
  ///   - principal: whom, as ``principal(_:)`` says it.
  public func commands(servers: String, principal: String) -> [String] {
    groups.map { operations, resources in
      "kafka-acls.sh --bootstrap-server \(servers) --add --allow-principal '\(principal)'"
        + operations.map { " --operation \($0.rawValue)" }.joined()
        + (resources[0].isPrefix ? " --resource-pattern-type prefixed" : "")
        + resources.map { " \($0.option) '\($0.name)'" }.joined()
    }
  }

  /// Who a client is to the brokers, by its properties; a name to be filled in where they do not say.
  public static func principal(_ properties: [String: String]) -> String {
    switch properties["security.protocol"]?.lowercased() {
    case "sasl_ssl", "sasl_plaintext": "User:\(properties["sasl.username"] ?? "NAME")"
    // Brokers may map it to something shorter (ssl.principal.mapping.rules).
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

  /// How `kafka-acls.sh` calls it.
  fileprivate var option: String {
    switch self {
    case .topic: "--topic"
    case .group: "--group"
    case .transactionalIDs: "--transactional-id"
    }
  }

  /// For people.
  public var description: String {
    switch self {
    case .topic(let name): "topic \(name)"
    case .group(let name): "group \(name)"
    case .transactionalIDs(let prefix): "transactional ids \(prefix)*"
    }
  }
}
