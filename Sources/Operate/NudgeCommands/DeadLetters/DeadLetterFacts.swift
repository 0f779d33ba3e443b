import Kafka
import NudgeSchema

/// The headers of a dead letter, with its position. The value is left out: it may hold tokens and texts.
struct DeadLetterFacts: Sendable, Encodable, Equatable {
  /// On `nudge.dead-letters`.
  var position: RecordPosition
  /// Milliseconds since the epoch.
  var timestamp: Milliseconds
  /// A `DeadLetterCode`, as text: newer services may write others.
  var code: String
  var message: String
  /// The stage that rejected the record.
  var stage: String
  /// The rejected record's position; nil if the headers have none.
  var origin: RecordPosition?
  /// The rejected record's timestamp.
  var originTimestamp: Milliseconds?
  /// The rejected record's key.
  var key: String?
  /// The record was too large for the topic: a part of key, headers or value is missing.
  var isCut: Bool
  /// Bytes of the value.
  var size: Int
  /// The replay that caused the record.
  var replayId: String?
  /// The name of the API key that the event came with; nil: it did not come over HTTP.
  var producer: String?

  init(_ record: ConsumerRecord) {
    self.init(
      position: RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset),
      timestamp: record.timestamp, key: record.keyBytes(), size: record.value?.count ?? 0
    ) { record.header($0) }
  }

  /// Decodes the headers; `value` returns a header's value by name, nil if it is missing.
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
    producer = header(RecordHeader.producer)
  }
}
