import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// What a stage's group has committed.
final class GroupOffsets {
  private let consumer: Consumer

  /// A client that asks for a stage's offsets and never joins its group.
  init(_ cluster: ClusterSettings, stage: StageDefinition) throws(KafkaError) {
    consumer = try Consumer(
      cluster.client(
        .consumer(bootstrapServers: cluster.bootstrapServers, group: stage.group(cluster.topics))),
      name: "nudge-offsets")
  }

  /// The next offsets, of the partitions that have one. Throws where the coordinator does not answer, also because a
  /// transaction with offsets stays open.
  func committed(_ places: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
    var offsets: [TopicPartition: Int64] = [:]
    for found in try consumer.committed(places, timeout: TopicBrowser.answerTimeout) {
      offsets[found.topicPartition] = found.offset
    }
    return offsets
  }

  func close() { consumer.close() }
}
