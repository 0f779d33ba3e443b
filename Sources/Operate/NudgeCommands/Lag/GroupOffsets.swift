import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// What a stage's group has committed.
final class GroupOffsets {
  private let consumer: Consumer
  private let cluster: ClusterSettings
  private let group: String

  /// A client that asks for a stage's offsets and never joins its group.
  init(_ cluster: ClusterSettings, stage: StageDefinition) throws(KafkaError) {
    self.cluster = cluster
    group = stage.group(cluster.topics)
    consumer = try Consumer(
      cluster.client(
        .consumer(bootstrapServers: cluster.bootstrapServers, group: group)),
      name: "nudge-offsets")
  }

  /// The next offsets, of the partitions that have one. Throws where the coordinator does not answer, also because a
  /// transaction with offsets stays open.
  func committed(_ places: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
    var offsets: [TopicPartition: Int64] = [:]
    do throws(KafkaError) {
      for found in try consumer.committed(places, timeout: TopicBrowser.answerTimeout) {
        offsets[found.topicPartition] = found.offset
      }
    } catch {
      // A group that this user may not see is looked for until the time is over; asked for its members it says so.
      if error.isTimedOut {
        let admin = try Admin(
          cluster.client(ClientConfiguration(bootstrapServers: cluster.bootstrapServers)), name: "nudge")
        _ = try admin.members(ofGroup: group, timeout: .seconds(3))
      }
      throw error
    }
    return offsets
  }

  func close() { consumer.close() }
}
