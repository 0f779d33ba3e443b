import Kafka
import NudgeClient
import NudgeSchema

/// Reads `nudge.banners` from now on, as a real-time gateway does. One thread uses it.
final class BannerFeed {
  /// What a gateway brings to an app.
  enum Item {
    case banner(InAppBanner)
    case notice(text: String, userId: String)
  }

  private static let patience: Duration = .seconds(10)

  private let consumer: Consumer
  private let coder = RecordCoder()
  private var batch: [ConsumerRecord] = []

  /// Finds the topic's end.
  /// - Throws: `ReadingError` where there is no such topic; `KafkaError` where no broker answers.
  init(_ configuration: ClientConfiguration, topics: NudgeSchema.TopicNames) throws {
    let name = topics(.banners)
    consumer = try Consumer(configuration, name: "nudge-device")
    guard let count = try consumer.partitionCounts(of: [name], timeout: Self.patience)[name], count > 0 else {
      throw ReadingError("there is no topic \(name); 'nudge topics create' makes it")
    }
    try consumer.assign(
      try (0..<Int32(clamping: count)).map { partition in
        let place = TopicPartition(topic: name, partition: partition)
        return TopicPartitionOffset(place, offset: try consumer.watermarks(place, timeout: Self.patience).high)
      })
  }

  /// What has come since the last time. Does not wait.
  func take() throws -> [Item] {
    batch.removeAll(keepingCapacity: true)
    if case .error(let error) = consumer.poll(into: &batch, maxRecords: 1_000, maxBytes: 4 << 20, timeout: .zero),
      error.isFatal
    {
      throw error
    }
    return batch.compactMap { record in
      // What is neither is of a newer version, and not for this app.
      guard let value = record.valueBytes(), let event = try? coder.decode(BannerEvent.self, from: value) else {
        return nil
      }
      switch event.body {
      case .notice(let notice): return .notice(text: notice.text, userId: notice.userId)
      case .banner: return (try? coder.decode(InAppBanner.self, from: value)).map { .banner($0) }
      }
    }
  }

  /// Ends the client.
  func close() { consumer.close() }
}
