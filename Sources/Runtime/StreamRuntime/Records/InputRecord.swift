public import NudgeSchema

/// A record of an input. It is immutable and passed by reference, because copying its fields costs more than most processing.
public final class InputRecord: Sendable, Equatable {
  public let topic: Topic
  /// The topic's full name, with the deployment's prefix.
  public let topicName: String
  /// The partition, which is the task's number.
  public let partition: Int32
  public let offset: Int64
  /// The record's timestamp, in milliseconds since the epoch.
  public let timestamp: Milliseconds
  public let key: [UInt8]?
  /// The value's bytes; nil is a tombstone.
  public let value: [UInt8]?
  /// The headers, in order.
  public let headers: [RecordHeaderField]

  public init(
    topic: Topic, topicName: String, partition: Int32, offset: Int64, timestamp: Milliseconds, key: [UInt8]?,
    value: [UInt8]?, headers: [RecordHeaderField] = []
  ) {
    self.topic = topic
    self.topicName = topicName
    self.partition = partition
    self.offset = offset
    self.timestamp = timestamp
    self.key = key
    self.value = value
    self.headers = headers
  }

  public var position: RecordPosition { RecordPosition(topic: topicName, partition: partition, offset: offset) }

  /// Whether all fields are equal.
  public static func == (a: InputRecord, b: InputRecord) -> Bool {
    a === b
      || a.position == b.position && a.topic == b.topic && a.timestamp == b.timestamp && a.key == b.key
        && a.value == b.value && a.headers == b.headers
  }

  public func header(_ name: String) -> [UInt8]? { headers.last { $0.name == name }?.value }
}
