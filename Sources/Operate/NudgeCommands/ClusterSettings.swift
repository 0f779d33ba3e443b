import Foundation
package import Kafka
import KafkaTransactions
package import NudgeSchema
package import ServiceKit
import StreamRuntime

/// The settings of every command that talks to the pipeline's Kafka, under the services' names.
package struct ClusterSettings {
  /// All settings, in the order of the help.
  package static let all: [any AnySetting] = [
    ServiceSettings.bootstrapServers, ServiceSettings.kafkaProperties, ServiceSettings.topicPrefix,
  ]

  package let bootstrapServers: String
  /// librdkafka's properties by name. They may contain secrets.
  package let properties: [String: String]
  package let topics: TopicNames

  package init(bootstrapServers: String, properties: [String: String] = [:], topics: TopicNames = TopicNames()) {
    self.bootstrapServers = bootstrapServers
    self.properties = properties
    self.topics = topics
  }

  package init(_ input: CommandInput) {
    bootstrapServers = input[ServiceSettings.bootstrapServers]
    properties = input[ServiceSettings.kafkaProperties]
    topics = TopicNames(prefix: input[ServiceSettings.topicPrefix])
  }

  /// How long a command waits for a broker's first answer.
  private static let patience: Duration = .seconds(6)

  /// An admin client, once a broker has answered.
  /// - Throws: `NoBroker` if none answers in time; `KafkaError` for an invalid property.
  package func admin() throws -> Admin {
    let admin = try Admin(
      client(ClientConfiguration(bootstrapServers: bootstrapServers)), name: "nudge")
    _ = try admin.topics(within: Self.patience, at: bootstrapServers)
    return admin
  }

  /// Adds the operator's properties, which override those of `configuration`.
  package func client(_ configuration: ClientConfiguration) -> ClientConfiguration {
    configuration.merging(overrides: orderedProperties)
  }

  /// Inspects and repairs a stage's state, once a broker has answered. Throws as `admin`.
  func stateRepair(of stage: StageDefinition) throws -> StateRepair {
    _ = try admin()
    return try StateRepair(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: Self.show)
  }

  /// Finds rows of a stage's state, once a broker has answered. Throws as `admin`.
  func stateLookup(of stage: StageDefinition) throws -> StateLookup {
    _ = try admin()
    return try StateLookup(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: Self.show)
  }

  /// Reads the levels of a stage's tasks. Throws as `admin`.
  func levelSurvey(of stage: StageDefinition) throws -> LevelSurvey {
    try LevelSurvey(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: Self.show)
  }

  /// The members of a stage's group; empty if no process of the stage runs.
  func members(of stage: StageDefinition, timeout: Duration) throws(TransactionalProducerError) -> [GroupMember] {
    try GroupMembers(
      of: stage.group(topics), bootstrapServers: bootstrapServers, properties: orderedProperties, timeout: timeout
    ).members
  }

  /// The `properties` in order.
  var orderedProperties: [ClientConfiguration.Property] { ClientConfiguration.inOrder(properties) }

  private static let show: @Sendable (KafkaLogLine) -> Void = { line in
    // Less severe lines only repeat the error that the command prints at its end.
    if line.level <= 3 { CommandOutput.report("librdkafka: \(line.message)") }
  }
}
