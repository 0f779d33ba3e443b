import Foundation
import Kafka
import NudgeClient
import NudgeCommands
import NudgeSchema

/// Reads the records that are added to `nudge.banners` from now on, as a real-time gateway does. Not thread-safe.
final class BannerFeed: BannerSource {
  private static let patience: Duration = .seconds(10)

  private let consumer: Consumer
  private var batch: [ConsumerRecord] = []

  /// Starts at the topic's end.
  /// - Throws: `CommandError` if the topic is missing. `KafkaError` if no broker answers.
  init(_ configuration: ClientConfiguration, topics: TopicNames) throws {
    let name = topics(.banners)
    consumer = try Consumer(configuration, name: "nudge-device")
    guard let count = try consumer.partitionCounts(of: [name], timeout: Self.patience)[name], count > 0 else {
      throw CommandError("there is no topic \(name); 'nudge topics create' makes it")
    }
    try consumer.assign(
      try (0..<Int32(clamping: count)).map { partition in
        let place = TopicPartition(topic: name, partition: partition)
        return TopicPartitionOffset(place, offset: try consumer.watermarks(place, timeout: Self.patience).high)
      })
  }

  /// The records since the last call. Does not wait.
  func take() throws -> [GatewayRecord] {
    batch.removeAll(keepingCapacity: true)
    if case .error(let error) = consumer.poll(into: &batch, maxRecords: 1_000, maxBytes: 4 << 20, timeout: .zero),
      error.isFatal
    {
      throw error
    }
    // An app skips a record of a type or version that it does not know.
    return batch.compactMap { record in
      record.valueBytes().flatMap { try? JSONDecoder().decode(GatewayRecord.self, from: Data($0)) }
    }
  }

  func close() { consumer.close() }
}
