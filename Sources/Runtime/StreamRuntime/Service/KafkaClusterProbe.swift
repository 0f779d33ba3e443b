import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit

/// Probes a cluster with librdkafka's admin client and the transactional client, with the operator's settings.
struct KafkaClusterProbe: ClusterUnderCheck {
  /// The time-out of each request.
  private static let patience: Duration = .seconds(3)

  private let settings: ServiceSettings
  private let stage: StageDefinition
  private let others: [Topic]
  /// How long to wait for a broker; nil: until the service is stopped.
  private let waitsForBroker: Duration?
  private let logger: Logger
  private let isStopping: () -> Bool
  private let setReadiness: (HealthStatus) -> Void
  private let admin: Admin

  /// Does not connect yet.
  /// - Parameters:
  ///   - others: topics that another part of the process reads.
  ///   - setReadiness: called with whether a broker answers.
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
            "fix": .string(NoBroker.mend(why)),
          ])
        setReadiness(.notReady("no broker answers at \(settings.bootstrapServers)"))
      }
    }
    return nil
  }

  var hasController: Bool { admin.hasController(timeout: .seconds(1)) }

  /// Throws if the service's user lacks permissions. If the brokers do not report permissions, it is silent: refused requests show later.
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
  /// nil: what the cluster has.
  init?(_ choice: TransactionChoice) {
    switch choice {
    case .auto: return nil
    case .version1: self = .one
    case .version2: self = .two
    }
  }
}
