public import NudgeSchema

/// A record that a stage writes. It is immutable and passed by reference, as `InputRecord` is.
public final class OutputRecord: Sendable, Equatable {
  public let topic: Topic
  public let partition: Int32
  /// The key; nil only on dead letters.
  public let key: [UInt8]?
  public let value: [UInt8]?
  public let headers: [RecordHeaderField]

  public init(topic: Topic, partition: Int32, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeaderField] = []) {
    self.topic = topic
    self.partition = partition
    self.key = key
    self.value = value
    self.headers = headers
  }

  /// The largest size of a record on the wire without key, value and headers, in bytes.
  static let overhead = 64

  /// The largest size on the wire, uncompressed and without the batch header, in bytes.
  var size: Int { (key?.count ?? 0) + (value?.count ?? 0) + headers.reduce(Self.overhead) { $0 + $1.size } }

  /// Whether all fields are equal.
  public static func == (a: OutputRecord, b: OutputRecord) -> Bool {
    a === b
      || a.topic == b.topic && a.partition == b.partition && a.key == b.key && a.value == b.value
        && a.headers == b.headers
  }
}
