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
  /// Bytes of the value.
  var size: Int
  /// The replay it came from.
  var replayId: String?

  /// Reads the headers.
  init(_ record: ConsumerRecord) {
    func header(_ name: String) -> String? { record.header(name).map { String(decoding: $0, as: UTF8.self) } }
    position = RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)
    timestamp = record.timestamp
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
    key = record.keyBytes().map { String(decoding: $0, as: UTF8.self) }
    size = record.value?.count ?? 0
    replayId = header(RecordHeader.replayId)
  }
}
