import Kafka
import NudgeSchema

/// What the headers of a dead letter say, and where it is. The value, which may hold tokens and texts, is left out.
struct DeadLetterFacts: Sendable, Encodable, Equatable {
  /// Where the dead letter is on `nudge.dead-letters`.
  var position: RecordPosition
  /// When it was written, in milliseconds since the epoch.
  var timestamp: Milliseconds
  /// A `DeadLetterCode`, as it stands there.
  var code: String
  /// The reason in words.
  var message: String
  /// The stage that refused it.
  var stage: String
  /// Where the record was; nil where the headers do not say.
  var origin: RecordPosition?
  /// The record's own timestamp.
  var originTimestamp: Milliseconds?
  /// The record's key.
  var key: String?
  /// It was too large for the topic, so that a part of key, headers or value is missing.
  var isCut: Bool
  /// Bytes of the value.
  var size: Int
  /// The replay it came from.
  var replayId: String?

  /// Reads the headers.
  init(_ record: ConsumerRecord) {
    self.init(
      position: RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset),
      timestamp: record.timestamp, key: record.keyBytes(), size: record.value?.count ?? 0
    ) { record.header($0) }
  }

  /// Takes what `value` says of the header of a name; nil: there is none.
  init(
    position: RecordPosition, timestamp: Milliseconds, key: [UInt8]?, size: Int, value: (_ header: String) -> [UInt8]?
  ) {
    func header(_ name: String) -> String? { value(name).map { String(decoding: $0, as: UTF8.self) } }
    self.position = position
    self.timestamp = timestamp
    self.size = size
    code = header(RecordHeader.errorCode) ?? "unknown"
    message = header(RecordHeader.errorMessage) ?? ""
    stage = header(RecordHeader.errorStage) ?? "unknown"
    if let topic = header(RecordHeader.originTopic),
      let partition = header(RecordHeader.originPartition).flatMap(Int32.init),
      let offset = header(RecordHeader.originOffset).flatMap(Int64.init)
    {
      origin = RecordPosition(topic: topic, partition: partition, offset: offset)
    }
    originTimestamp = header(RecordHeader.originTimestamp).flatMap(Int64.init)
    self.key = key.map { String(decoding: $0, as: UTF8.self) }
    isCut = [RecordHeader.truncatedKey, RecordHeader.truncatedHeaders, RecordHeader.truncatedValue].contains {
      value($0) != nil
    }
    replayId = header(RecordHeader.replayId)
  }
}
