import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Where the pipeline's Kafka is: the settings of every command that talks to it, by the names the services use.
struct ClusterSettings {
  /// All of them, in the order of the help.
  static let all: [any AnySetting] = [
    ServiceSettings.bootstrapServers, ServiceSettings.kafkaProperties, ServiceSettings.topicPrefix,
  ]

  /// As given.
  let bootstrapServers: String
  /// librdkafka's, by name. May hold secrets.
  let properties: [String: String]
  /// The topics' names with the deployment's prefix.
  let topics: TopicNames

  /// A cluster by its address, for tests.
  init(bootstrapServers: String, properties: [String: String] = [:], topics: TopicNames = TopicNames()) {
    self.bootstrapServers = bootstrapServers
    self.properties = properties
    self.topics = topics
  }

  /// Takes them from what a command was called with.
  init(_ input: CommandInput) {
    bootstrapServers = input[ServiceSettings.bootstrapServers]
    properties = input[ServiceSettings.kafkaProperties]
    topics = TopicNames(prefix: input[ServiceSettings.topicPrefix])
  }

  /// How long a command waits for a broker before it says that none is there.
  private static let patience: Duration = .seconds(6)

  /// A client for what administrators ask, of a broker that answers.
  /// - Throws: `NoBroker` where none does within some seconds; `KafkaError` for a property that is wrong.
  func admin() throws -> Admin {
    let admin = try Admin(
      client(ClientConfiguration(bootstrapServers: bootstrapServers)), name: "nudge")
    _ = try admin.topics(within: Self.patience, at: bootstrapServers)
    return admin
  }

  /// A client's configuration with the operator's properties over it.
  func client(_ configuration: ClientConfiguration) -> ClientConfiguration {
    configuration.merging(
      overrides: properties.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
  }

  /// What looks at, and repairs, the state of a stage, on a broker that answers.
  /// - Throws: as `admin`.
  func stateRepair(of stage: StageDefinition) throws -> StateRepair {
    _ = try admin()
    return try StateRepair(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: Self.show)
  }

  /// What finds rows of a stage's state.
  func stateLookup(of stage: StageDefinition) throws(KafkaError) -> StateLookup {
    try StateLookup(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: Self.show)
  }

  private static let show: @Sendable (KafkaLogLine) -> Void = { line in
    // What is lower repeats what the command says itself in the end.
    if line.level <= 3 { FileHandle.standardError.write(Data("librdkafka: \(line.message)\n".utf8)) }
  }
}
