import Kafka
import NudgeSchema

/// A record with its position, without secrets.
struct PlacedRecord: Sendable, Encodable, Equatable {
  var position: RecordPosition
  /// Milliseconds since the epoch.
  var timestamp: Milliseconds
  var traceparent: String?
  var replayId: String?
  var record: JSONValue

  /// Such as `nudge.decisions-3@17`.
  var place: String { "\(position.topic)-\(position.partition)@\(position.offset)" }
}

extension PlacedRecord {
  /// Redacts a record; nil: its value is not JSON.
  init?(_ record: ConsumerRecord, of topic: Topic, redaction: Redaction) {
    guard let value = record.value, let json = try? JSONValue(value) else { return nil }
    self.init(
      position: RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset),
      timestamp: record.timestamp, traceparent: record.header(RecordHeader.traceparent).map(Self.text),
      replayId: record.header(RecordHeader.replayId).map(Self.text), record: redaction.apply(to: json, of: topic))
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
