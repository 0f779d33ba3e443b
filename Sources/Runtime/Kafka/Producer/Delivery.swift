/// What became of a record produced with a tag.
public struct Delivery: Sendable {
  /// The tag it was produced with.
  public let tag: UInt64
  /// Where it went.
  public let topicPartition: TopicPartition
  /// Its offset; `nil` where it was not written.
  public let offset: Int64?
  /// Why it was not written, or may not have been (time-out); `nil` once the broker has acknowledged it.
  public let error: KafkaError?
}
