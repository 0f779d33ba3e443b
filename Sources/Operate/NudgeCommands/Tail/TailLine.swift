import Kafka
import NudgeSchema

/// A line of `nudge tail`.
struct TailLine: Encodable {
  var position: RecordPosition
  /// Milliseconds since the epoch.
  var timestamp: Milliseconds
  var key: String?
  var traceparent: String?
  var replayId: String?
  /// The redacted value; nil: a tombstone, or not JSON.
  var record: JSONValue?
  /// A dead letter's headers; its value is not shown.
  var deadLetter: DeadLetterFacts?
  /// Bytes of the value.
  var size: Int

  /// nil: the filter does not match.
  init?(_ record: ConsumerRecord, of topic: Topic, filter: TailFilter, redaction: Redaction) {
    // A dead letter's value is a producer's record, with a token in any place.
    let letter = topic == .deadLetters ? DeadLetterFacts(record) : nil
    let value = letter == nil ? record.value.flatMap { try? JSONValue($0) } : nil
    let key = record.key.map { String(decoding: $0, as: UTF8.self) }
    guard filter.matches(key: key, value: value, deadLetterCode: letter?.code) else { return nil }
    position = RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)
    timestamp = record.timestamp
    self.key = key.map { $0.replacing("\u{0}", with: "/") }
    traceparent = record.header(RecordHeader.traceparent).map { String(decoding: $0, as: UTF8.self) }
    replayId = record.header(RecordHeader.replayId).map { String(decoding: $0, as: UTF8.self) }
    self.record = value.map { redaction.apply(to: $0, of: topic) }
    deadLetter = letter
    size = record.value?.count ?? 0
  }

  /// The most important fields, in the order shown.
  private static let told = [
    "userId", "deviceId", "conversationId", "messageId", "senderId", "outcome", "reason", "presentation", "priority",
    "kind", "pushId", "result", "errorCode", "attempts", "state", "cause", "code", "limit", "tokenHash", "replayId",
    "text", "title", "body", "preview",
  ]

  /// One line for a person.
  var text: String {
    var parts = ["\(RFC3339.text(timestamp))  \(position.topic)-\(position.partition)@\(position.offset)"]
    if let letter = deadLetter {
      let origin = letter.origin.map { "\($0.topic)-\($0.partition)@\($0.offset)" } ?? "?"
      parts.append("\(letter.code)  \(letter.stage)  from \(origin)  key=\(key ?? "none")  \(letter.message)")
    } else if let record {
      parts.append(record["type"]?.string ?? "key=\(key ?? "none")")
      var told = Self.told.compactMap { name in record[name].map { "\(name)=\($0.shown)" } }
      if let recipients = record["recipients"] { told.append("recipients=\(recipients.elements.count)") }
      if let targets = record["targets"] {
        told.append("devices=\(targets.elements.compactMap { $0["deviceId"]?.string }.joined(separator: ","))")
      }
      parts.append(told.joined(separator: " "))
    } else {
      parts.append("key=\(key ?? "none")  \(size == 0 ? "removed" : "\(size.counted("byte")), no JSON")")
    }
    return parts.joined(separator: "  ")
  }
}
