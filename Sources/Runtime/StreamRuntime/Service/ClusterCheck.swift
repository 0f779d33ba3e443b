import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit

/// A cluster to check before a service's threads start. No call takes longer than a few seconds, so that the service can be stopped in
/// between.
protocol ClusterUnderCheck {
  /// Waits for a broker, and returns all topics with their partition counts. Absent if the service was stopped before.
  func waitForBroker() throws -> [String: Int]?
  /// Whether the cluster has a controller. An embedded broker has none.
  var hasController: Bool { get }
  /// Throws `AccessRefused` if the service's user lacks permissions.
  func checkAccess() throws
  /// The effective settings of topics.
  func settings(of topics: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>]
  /// The version of transactions. Throws if the cluster lacks them or refuses them to this client.
  func checkTransactions() throws(TransactionalProducerError) -> TransactionVersion
  /// Waits before the next check.
  func pause()
}

/// Checks a cluster before a service's threads start: whether a broker answers, whether topics are right, and which transactions it has.
///
/// If the cluster stops answering, the check starts again. A missing answer must not be taken for unreadable topic settings, or for an
/// embedded broker, whose transactions are librdkafka's.
struct ClusterCheck {
  /// The result of the check.
  struct Finding: Equatable {
    var counts: [Topic: Int32]
    /// The version of transactions. Absent for an embedded broker, whose transactions are librdkafka's.
    var transactions: TransactionVersion?
  }

  /// The cluster stopped answering.
  struct Unanswered: Error, CustomStringConvertible {
    let description: String
  }

  let topics: TopicCheck
  /// Whether to wait for a cluster that stops answering. Else `Unanswered` is thrown.
  let isPatient: Bool
  let isStopping: () -> Bool
  /// Logs a line with a reason.
  let log: (_ message: String, _ reason: String?) -> Void

  /// Runs the check. Returns nil if the service is stopped meanwhile.
  /// - Throws: an error that says what is wrong and how to fix it.
  func run(on cluster: some ClusterUnderCheck) throws -> Finding? {
    while !isStopping(), let found = try cluster.waitForBroker() {
      do {
        return try check(cluster, found)
      } catch let unanswered as Unanswered where isPatient {
        log("the brokers stopped answering while they were looked at; they are asked again", unanswered.description)
        cluster.pause()
      }
    }
    return nil
  }

  private func check(_ cluster: some ClusterUnderCheck, _ found: [String: Int]) throws -> Finding? {
    let hasController = cluster.hasController
    // Checked before missing topics are reported, because the list lacks topics that this user may not see.
    if hasController { try cluster.checkAccess() }
    let counts = try topics.partitionCounts(from: found)
    guard !isStopping() else { return nil }
    let transactions: Result<TransactionVersion, TransactionalProducerError>
    do throws(TransactionalProducerError) {
      transactions = .success(try cluster.checkTransactions())
    } catch {
      if error.kind == .passing { throw Unanswered(description: "\(error)") }
      transactions = .failure(error)
    }
    guard !isStopping() else { return nil }
    guard hasController else {
      log("topic settings were not checked: the cluster has no controller to ask (an embedded broker)", nil)
      return finding(counts, transactions)
    }
    let settings: [String: Result<[String: String], KafkaError>]
    do throws(KafkaError) {
      settings = try cluster.settings(of: topics.names)
    } catch {
      // An embedded broker never answers this request, but its transactions have shown that this broker is not embedded.
      if case .success = transactions, error.isTimedOut || error.isCoordinatorLoss {
        throw Unanswered(description: "\(error)")
      }
      log("topic settings were not checked: the broker does not tell them", "\(error)")
      return finding(counts, transactions)
    }
    // Every version of Kafka reports settings.
    let version = try transactions.get()
    let complaints = topics.complaints(about: settings.compactMapValues { try? $0.get() })
    guard complaints.isEmpty else { throw TopicCheck.Failure(description: complaints.joined(separator: "; ")) }
    return Finding(counts: counts, transactions: version)
  }

  /// The result for a broker that does not report topic settings. If it also lacks the transactions, it is embedded.
  private func finding(
    _ counts: [Topic: Int32], _ transactions: Result<TransactionVersion, TransactionalProducerError>
  ) -> Finding {
    if case .failure(let refusal) = transactions {
      log("transactions are librdkafka's, as with an embedded broker", "\(refusal)")
    }
    return Finding(counts: counts, transactions: try? transactions.get())
  }
}

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

  /// One sentence for each topic whose settings are wrong.
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

/// Probes a cluster with librdkafka's admin client and the transactional client, with the operator's settings.
struct KafkaClusterProbe: ClusterUnderCheck {
  /// The time-out of each request.
  private static let patience: Duration = .seconds(3)

  private let settings: ServiceSettings
  private let stage: StageDefinition
  private let others: [Topic]
  /// How long to wait for a broker. Absent: until the service is stopped.
  private let waitsForBroker: Duration?
  private let logger: Logger
  private let isStopping: () -> Bool
  private let setReadiness: (HealthStatus) -> Void
  private let admin: Admin

  /// Makes a probe. It does not connect yet.
  /// - Parameters:
  ///   - others: Topics that another part of the process reads.
  ///   - setReadiness: Called with whether a broker answers.
  init(
    _ settings: ServiceSettings, stage: StageDefinition, reading others: [Topic], patience: Duration?, logger: Logger,
    isStopping: @escaping () -> Bool, setReadiness: @escaping (HealthStatus) -> Void
  ) throws {
    self.settings = settings
    self.stage = stage
    self.others = others
    self.waitsForBroker = patience
    self.logger = logger
    self.isStopping = isStopping
    self.setReadiness = setReadiness
    admin = try Admin(
      ClientConfiguration(bootstrapServers: settings.bootstrapServers).merging(
        overrides: settings.kafkaProperties.map { (name: $0.key, value: $0.value) }),
      name: "nudge-\(stage.name)-check", log: { logger.write($0) })
  }

  func waitForBroker() throws -> [String: Int]? {
    if let waitsForBroker { return try admin.topics(within: waitsForBroker, at: settings.bootstrapServers) }
    while !isStopping() {
      do {
        let topics = try admin.listTopics(timeout: .seconds(1))
        setReadiness(.notReady("joining the group"))
        return topics
      } catch {
        if error.isAuthorization { throw error }
        let why = admin.connectionFailure ?? error
        logger.limited("no-broker", every: .seconds(10))?.warning(
          "no broker answers; trying again",
          [
            "brokers": .string(settings.bootstrapServers), "reason": .string(NoBroker.reason(why)),
            "fix": .string(NoBroker.fix(why)),
          ])
        setReadiness(.notReady("no broker answers at \(settings.bootstrapServers)"))
      }
    }
    return nil
  }

  var hasController: Bool { admin.hasController(timeout: .seconds(1)) }

  /// Throws if the service's user lacks permissions. Does nothing if the brokers do not report permissions: refused requests show later.
  func checkAccess() throws {
    let rules = AccessRule.rules(of: stage, topics: TopicNames(prefix: settings.topicPrefix), reading: others).map {
      AccessRule($0.resource, $0.operations.subtracting([.describeConfigs]))
    }
    let report: AccessReport
    do {
      let producer = try makeProducer()
      defer { producer.close() }
      report = try AccessReport(on: rules, asking: producer, timeout: Self.patience)
    } catch {
      logger.notice("access rules were not looked at", ["reason": "\(error)"])
      return
    }
    if let refused = AccessRefused(report, settings.bootstrapServers, settings.kafkaProperties) { throw refused }
  }

  func settings(of topics: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>] {
    try admin.describeTopicConfigurations(topics, timeout: Self.patience)
  }

  func checkTransactions() throws(TransactionalProducerError) -> TransactionVersion {
    let producer = try makeProducer()
    defer { producer.close() }
    return try producer.checkBroker(timeout: Self.patience)
  }

  func pause() { ThreadSignal().wait(atMost: 200) }

  private func makeProducer() throws(TransactionalProducerError) -> TransactionalProducer {
    var configuration = try TransactionalProducerConfiguration(
      bootstrapServers: settings.bootstrapServers,
      properties: ClientConfiguration.inOrder(settings.kafkaProperties))
    configuration.transactionVersion = TransactionVersion(settings.transactions)
    for notice in configuration.notices { logger.notice("\(notice)") }
    return try TransactionalProducer(configuration, transactionalIDs: [], topics: [], group: nil)
  }
}

extension TransactionVersion {
  /// The version that a choice demands. Fails for `auto`, which takes the version that the cluster has.
  init?(_ choice: TransactionChoice) {
    switch choice {
    case .auto: return nil
    case .version1: self = .one
    case .version2: self = .two
    }
  }
}
