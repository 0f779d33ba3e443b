/// A record that is published by itself, outside transactions.
public struct PublishedRecord: Sendable {
  /// The index of its topic in the publisher's list.
  public var topic: Int
  /// 0 or more.
  public var partition: Int32
  public var key: [UInt8]
  public var value: [UInt8]
  public var headers: [TransactionContent.Header]

  /// A record.
  public init(
    topic: Int, partition: Int32, key: [UInt8], value: [UInt8], headers: [TransactionContent.Header] = []
  ) {
    self.topic = topic
    self.partition = partition
    self.key = key
    self.value = value
    self.headers = headers
  }
}

/// The result for one record.
public enum PublishResult: Sendable, Equatable {
  /// All in-sync replicas have it. The offset is nil if the broker had it already, from an earlier request whose answer was lost.
  case written(offset: Int64?)
  /// It is not written, and the same record would be refused again.
  case refused(TransactionRefusal, String)
  /// It may be written, or not.
  case unknown(String)
}
