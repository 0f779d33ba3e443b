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
  /// The value's bytes. Absent for a tombstone.
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

/// A record that a stage writes. It is immutable and passed by reference, as `InputRecord` is.
public final class OutputRecord: Sendable, Equatable {
  public let topic: Topic
  public let partition: Int32
  /// The key. Absent only for dead letters.
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

public struct RecordHeaderField: Sendable, Equatable {
  public var name: String
  public var value: [UInt8]

  public init(_ name: String, _ value: [UInt8]) {
    self.name = name
    self.value = value
  }

  /// A header with a text.
  public init(_ name: String, _ value: String) { self.init(name, Array(value.utf8)) }

  /// The largest size on the wire, in bytes: name, value and two lengths of up to 5 bytes.
  var size: Int { name.utf8.count + value.count + 10 }
}

extension OutputRecord {
  /// The dead letter of a record: its key, value and headers, and headers with the reason and the origin.
  ///
  /// A record may be as large as its topic allows, or larger before compression, and the reason needs room. Parts that exceed `maxBytes`
  /// are cut, and headers say what was cut. The whole record stays at its origin for that topic's retention.
  ///
  /// - Parameters:
  ///   - stage: the name of the stage that refused the record.
  ///   - partitionCount: the number of partitions of the dead-letter topic.
  ///   - maxBytes: the largest `size` of the dead letter; at least 16 KiB.
  static func deadLetter(
    of record: InputRecord, _ rejection: Rejection, stage: String, partitionCount: Int32, maxBytes: Int
  ) -> OutputRecord {
    // The partition follows from the whole key, even if the key is cut.
    let partition =
      record.key.map { OutputRecord.partition(of: $0, count: partitionCount) } ?? record.partition % partitionCount
    let reasons = RecordHeaderField.ofDeadLetter(
      rejection.code, rejection.message, stage: stage, topic: record.topicName, partition: record.partition,
      offset: record.offset, timestamp: record.timestamp)
    let whole = OutputRecord(
      topic: .deadLetters, partition: partition, key: record.key, value: record.value,
      headers: record.headers + reasons)
    if whole.size <= maxBytes { return whole }

    // The value gets at least half of the room, because it is the most useful part.
    var rest = maxBytes - reasons.reduce(OutputRecord.overhead + 512) { $0 + $1.size }
    let key = record.key.map { Array($0.prefix(rest / 4)) }
    rest -= key?.count ?? 0
    var kept: [RecordHeaderField] = []
    var roomForHeaders = rest / 3
    for header in record.headers where header.size <= roomForHeaders {
      kept.append(header)
      roomForHeaders -= header.size
      rest -= header.size
    }
    let value = record.value.map { Array($0.prefix(rest)) }
    var cuts: [RecordHeaderField] = []
    func addCut(_ name: String, _ kept: Int, of whole: Int) {
      if kept < whole { cuts.append(RecordHeaderField(name, "\(kept)/\(whole)")) }
    }
    addCut(RecordHeader.truncatedKey, key?.count ?? 0, of: record.key?.count ?? 0)
    addCut(RecordHeader.truncatedHeaders, kept.count, of: record.headers.count)
    addCut(RecordHeader.truncatedValue, value?.count ?? 0, of: record.value?.count ?? 0)
    return OutputRecord(
      topic: .deadLetters, partition: partition, key: key, value: value, headers: kept + reasons + cuts)
  }
}

extension Rejection {
  /// Reads a record's value. Throws a rejection for what is wrong with it, which names fields and never their values.
  @inlinable
  public static func reading<Value>(_ read: () throws -> Value) throws -> Value {
    do {
      return try read()
    } catch let error as EventFormatError {
      throw Rejection(error)
    } catch let error as DecodingError {
      throw Rejection(error)
    } catch let error as SchemaViolation {
      throw Rejection(.schemaViolation, error.description)
    }
  }
}

extension RecordHeaderField {
  /// The headers that say why a record is a dead letter and where it was: Nudge's, and those of Kafka Streams (KIP-1034).
  ///
  /// - Parameters:
  ///   - message: the reason for people, cut after 1,000 characters (Unicode scalars).
  ///   - stage: the name of the stage that refused the record.
  ///   - timestamp: the record's own, in milliseconds.
  public static func ofDeadLetter(
    _ code: DeadLetterCode, _ message: String, stage: String, topic: String, partition: Int32, offset: Int64,
    timestamp: Milliseconds
  ) -> [RecordHeaderField] {
    let message = String(message.unicodeScalars.prefix(1000))
    return [
      RecordHeaderField(RecordHeader.errorCode, code.rawValue),
      RecordHeaderField(RecordHeader.errorMessage, message),
      RecordHeaderField(RecordHeader.errorStage, stage),
      RecordHeaderField(RecordHeader.originTopic, topic),
      RecordHeaderField(RecordHeader.originPartition, String(partition)),
      RecordHeaderField(RecordHeader.originOffset, String(offset)),
      RecordHeaderField(RecordHeader.originTimestamp, String(timestamp)),
      RecordHeaderField(RecordHeader.Streams.exception, code.rawValue),
      RecordHeaderField(RecordHeader.Streams.message, message),
      RecordHeaderField(RecordHeader.Streams.topic, topic),
      RecordHeaderField(RecordHeader.Streams.partition, String(partition)),
      RecordHeaderField(RecordHeader.Streams.offset, String(offset)),
    ]
  }
}
