import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Reads a stage's committed offsets.
final class GroupOffsets {
  private let consumer: Consumer
  private let cluster: ClusterSettings
  private let stage: StageDefinition

  /// Uses the group's id, and never joins the group.
  init(_ cluster: ClusterSettings, stage: StageDefinition) throws(KafkaError) {
    self.cluster = cluster
    self.stage = stage
    consumer = try Consumer(
      cluster.client(.consumer(bootstrapServers: cluster.bootstrapServers, group: stage.group(cluster.topics))),
      name: "nudge-offsets")
  }

  /// Committed offsets; partitions without one are left out. Throws if the coordinator does not answer, which also happens
  /// while a transaction with offsets is open.
  func committed(_ places: [TopicPartition]) throws -> [TopicPartition: Int64] {
    var offsets: [TopicPartition: Int64] = [:]
    do throws(KafkaError) {
      for found in try consumer.committed(places, timeout: TopicBrowser.answerTimeout) {
        offsets[found.topicPartition] = found.offset
      }
    } catch {
      // librdkafka retries until the time-out if this user may not see the group; describing the group returns the error.
      if error.isTimedOut { _ = try cluster.members(of: stage, timeout: .seconds(3)) }
      throw error
    }
    return offsets
  }

  func close() { consumer.close() }
}
