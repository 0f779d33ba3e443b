import Foundation
import JSONCodec
package import Kafka
package import NudgeSchema

/// A refused event that came over HTTP, in the form in which its producer sees it: ids and reasons, never texts or tokens.
package struct ProducerRejection: Sendable, Equatable, Encodable {
  /// The name of the API key.
  package let producer: String
  /// When it was refused, in milliseconds since the epoch.
  package let refusedAt: Milliseconds
  /// A `DeadLetterCode` as text.
  package let code: String
  /// The reason for people.
  package let message: String
  /// The topic of the event.
  package let topic: String?
  /// The event's key: a conversation or a person.
  package let key: String?
  /// The event's type; nil if its value has none.
  package let type: String?
  /// The event's id; nil if its value has none.
  package let eventId: String?
  /// The replay that published it again.
  package let replayId: String?

  /// A rejection.
  init(
    producer: String, refusedAt: Milliseconds, code: String, message: String = "", topic: String? = nil,
    key: String? = nil, type: String? = nil, eventId: String? = nil, replayId: String? = nil
  ) {
    self.producer = producer
    self.refusedAt = refusedAt
    self.code = code
    self.message = message
    self.topic = topic
    self.key = key
    self.type = type
    self.eventId = eventId
    self.replayId = replayId
  }

  /// The rejection in a record of `nudge.dead-letters`; nil if the event came another way. `wanted` restricts it to one producer.
  package init?(_ record: ConsumerRecord, producer wanted: [UInt8]? = nil) {
    guard let producer = record.header(RecordHeader.producer) else { return nil }
    if let wanted, producer != wanted { return nil }
    func header(_ name: String) -> String? { record.header(name).map { String(decoding: $0, as: UTF8.self) } }
    self.producer = String(decoding: producer, as: UTF8.self)
    refusedAt = record.timestamp
    code = header(RecordHeader.errorCode) ?? "unknown"
    message = header(RecordHeader.errorMessage) ?? ""
    topic = header(RecordHeader.originTopic)
    key = record.keyBytes().map { String(decoding: $0, as: UTF8.self) }
    replayId = header(RecordHeader.replayId)
    (type, eventId) = record.value.map { Self.names(in: $0) } ?? (nil, nil)
  }

  /// The type and id of an event; nil unless it is JSON and they are short texts.
  private static func names(in value: UnsafeRawBufferPointer) -> (type: String?, eventId: String?) {
    let parser = JSONParser(maximumDepth: 1_024)
    guard let node = try? parser.parse(value) else { return (nil, nil) }
    defer { withExtendedLifetime(parser) {} }
    func text(_ name: StaticString) -> String? {
      node[name]?.string.flatMap { $0.utf8.count <= 256 ? $0 : nil }
    }
    return (text("type"), text("eventId"))
  }

  /// One line of JSON for the producer.
  var line: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // It has only texts and numbers, so encoding cannot fail.
    return ((try? encoder.encode(self)).map { [UInt8]($0) } ?? []) + [UInt8(ascii: "\n")]
  }

  /// One line of text.
  package var text: String {
    let what = [type, eventId.map { "event \($0)" }, key.map { "key \($0)" }].compactMap { $0 }.joined(separator: ", ")
    return "\(RFC3339.text(refusedAt))  \(code)  \(what.isEmpty ? "an unreadable event" : what): \(message)"
  }
}
