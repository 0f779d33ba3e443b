import Kafka
import NudgeSchema

@testable import NudgeCommands

/// A broker of a test's own, and records on it.
struct BrowsedBroker {
  let broker: EmbeddedBroker
  let cluster: ClusterSettings
  private let producer: Producer

  /// - Parameters:
  ///   - partitions: The number of partitions of each topic.
  ///   - inputs: The number for the stages' inputs and changelogs, as after a repartition; nil: as all others.
  init(partitions: Int = 3, inputs: Int? = nil) throws {
    broker = try EmbeddedBroker()
    for topic in Topic.allCases {
      let isInput = Repartition.topics.contains(topic)
      try broker.createTopic(topic.rawValue, partitions: isInput ? inputs ?? partitions : partitions)
    }
    cluster = ClusterSettings(bootstrapServers: broker.bootstrapServers)
    producer = try Producer(
      .producer(bootstrapServers: broker.bootstrapServers, transactionalID: nil), name: "test")
  }

  /// Writes to the partition of the key, or to another one.
  func produce(
    _ value: String, key: String, to topic: Topic, partition: Int32 = -1, at time: Milliseconds,
    headers: [(name: String, value: String)] = []
  ) throws {
    try producer.produce(
      topic: try producer.topic(topic.rawValue), partition: partition, key: Array(key.utf8), value: Array(value.utf8),
      headers: headers.map { (name: $0.name, value: Array($0.value.utf8)) }, timestamp: time)
  }

  func flush() throws { try producer.flush(timeout: .seconds(30)) }

  func browser() throws -> TopicBrowser {
    try TopicBrowser(cluster, progress: ReadingProgress(isTerminal: false, write: { _ in }))
  }
}
