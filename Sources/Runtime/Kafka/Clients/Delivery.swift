/// The delivery report of a record that was produced with a tag.
public struct Delivery: Sendable {
  /// The record's tag.
  public let tag: UInt64
  public let topicPartition: TopicPartition
  /// The record's offset; `nil` if it was not written.
  public let offset: Int64?
  /// Why the record was not, or may not have been, written (time-out); `nil` if the broker acknowledged it.
  public let error: KafkaError?
}
