import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// The broker of a demo: embedded, started for it, or running already.
final class DemoBroker {
  /// Where it is.
  let bootstrapServers: String
  /// The names of the demo's topics.
  let topics: NudgeSchema.TopicNames
  /// What a person calls it.
  let name: String
  /// Whether records of aborted transactions can be read: it has no isolation.
  let seesAborted: Bool
  /// Whether every topic was made for this run.
  private(set) var areTopicsNew = true
  private let properties: [ClientConfiguration.Property]
  private let embedded: EmbeddedBroker?
  private let local: LocalBroker?
  private let deletesTopics: Bool

  /// Starts it, or only notes where it is. `run` makes the names of topics on a broker that others use.
  convenience init(_ options: DemoOptions, directory: URL, run: String) throws {
    try self.init(
      options.broker, properties: options.kafkaProperties, topicPrefix: options.topicPrefix, keepsTopics: options.keep,
      directory: directory, run: run)
  }

  /// Starts it, or only notes where it is. `topicPrefix` nil: none, or one of `run` on a broker that others use, where the
  /// topics are deleted in the end unless `keepsTopics`.
  init(
    _ broker: DemoOptions.Broker, properties: [String: String] = [:], topicPrefix: String? = nil,
    keepsTopics: Bool = false, directory: URL, run: String
  ) throws {
    var properties = properties.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    switch broker {
    case .embedded:
      let broker = try EmbeddedBroker()
      // Before anybody connects. Where none is found, the demo is slower and no less true.
      _ = PromptAnswers.turnOn(for: broker.bootstrapServers)
      // It does not answer a fetch that waits when data comes, but when the wait is over.
      properties.insert(("fetch.wait.max.ms", "5"), at: 0)
      (embedded, local) = (broker, nil)
      bootstrapServers = broker.bootstrapServers
      name = "embedded broker"
    case .local(let home):
      let broker = try LocalBroker(
        home: URL(fileURLWithPath: home), directory: directory.appendingPathComponent("kafka"))
      try broker.start()
      (embedded, local) = (nil, broker)
      bootstrapServers = broker.bootstrapServers
      name = "Kafka of \(home)"
    case .running(let servers):
      (embedded, local) = (nil, nil)
      bootstrapServers = servers
      name = "Kafka"
    }
    self.properties = properties
    seesAborted = embedded != nil
    let isShared = embedded == nil && local == nil
    topics = NudgeSchema.TopicNames(prefix: topicPrefix ?? (isShared ? "nudge-demo-\(run)-" : ""))
    deletesTopics = isShared && topicPrefix == nil && !keepsTopics
  }

  /// How long it waits for a broker before it says that none is there.
  private static let patience: Duration = .seconds(6)

  /// Makes the topics that are not there.
  func createTopics(partitions: Int) throws {
    if let embedded { return try TopicCreation.create(on: embedded, names: topics, partitions: partitions) }
    let admin = try admin()
    _ = try admin.topics(within: Self.patience, at: bootstrapServers)
    let report: TopicReport
    do throws(KafkaError) {
      report = try TopicCreation.create(on: admin, names: topics, partitions: partitions)
    } catch {
      throw DemoError(
        "no topics could be made on \(bootstrapServers): \(error); does --kafka-property say what the broker asks for?")
    }
    let wrong = report.topics.filter { !$0.differences.isEmpty }
    guard wrong.isEmpty else {
      throw DemoError(
        "the topics are not as they must be: "
          + wrong.map { "\($0.name): \($0.differences.joined(separator: ", "))" }.joined(separator: "; "))
    }
    areTopicsNew = report.topics.allSatisfy { $0.status == .created }
  }

  /// What a client of the demo's own needs to connect.
  func client(_ configuration: ClientConfiguration) -> ClientConfiguration {
    configuration.merging(overrides: properties)
  }

  /// The environment by which the services get what may be secret.
  var environment: [String: String] {
    var environment: [String: String] = [:]
    for (name, value) in properties {
      environment["NUDGE_KAFKA_" + name.uppercased().replacing(".", with: "_")] = value
    }
    return environment
  }

  private func admin() throws(KafkaError) -> Admin {
    try Admin(client(ClientConfiguration(bootstrapServers: bootstrapServers)), name: "nudge-demo-admin")
  }

  /// Stops what was started, and deletes the topics made on a broker that others use, where `isDone`: nobody needs them
  /// to find out what went wrong.
  func close(isDone: Bool) throws {
    if isDone, deletesTopics {
      let names = Topic.allCases.map { topics($0) }
      for case .failure(let error) in try admin().deleteTopics(names, timeout: .seconds(30)).values { throw error }
    }
    embedded?.close()
    local?.stop()
  }

  // MARK: The embedded broker's bounds

  /// What it keeps of a partition, in bytes.
  private static let embeddedPartitionBytes = 5 << 20
  /// What a decision takes, which is the largest thing a recipient makes: measured, with all its checks.
  private static let decisionBytes = 2_600
  /// How far behind a reader may be without a loss.
  private static let embeddedSlack = 5.0

  /// Messages a second at which it still keeps some seconds of everything.
  static func embeddedRateLimit(members: Int, partitions: Int) -> Double {
    // People are not spread evenly over the partitions: half of what an even spread would allow.
    Double(embeddedPartitionBytes * partitions) / 2 / (Double(decisionBytes * max(members - 1, 1)) * embeddedSlack)
  }
}
