import JSONCodec
import NudgeCodec
import NudgeSchema
public import ServiceKit
import StreamRuntime

/// Reads an event from a record's bytes, or throws why the record is refused (M5). Reasons name fields and limits, never values, which may
/// be tokens or message texts (T4).
enum RecordReading {
  static func key(of record: InputRecord) throws(Rejection) -> String {
    guard let bytes = record.key, !bytes.isEmpty else {
      throw Rejection(
        .missingKey, "the record has no key; \(record.topic.rawValue) is keyed by \(keyField(record.topic))")
    }
    guard let key = String(validating: bytes, as: UTF8.self) else {
      throw Rejection(.invalidUTF8, "the record's key is not UTF-8")
    }
    return key
  }

  /// Throws unless the key is the id that the event names, because otherwise the task would change the wrong state.
  static func require(key: String, toBe id: String, of topic: Topic) throws(Rejection) {
    guard sameId(key, id) else {
      throw Rejection(.keyMismatch, "the record's key is not the event's \(keyField(topic))")
    }
  }

  /// Reads the record's value directly if possible. Otherwise `coder` reads or refuses it.
  static func decode<Value: Decodable>(
    from record: InputRecord, maxBytes: Int, frame: SchemaRegistryFrame = .refuse, coder: RecordCoder,
    codec: RecordCodec, directly read: ([UInt8]) -> Value?
  ) throws -> Value {
    guard var bytes = record.value else { throw Rejection(.schemaViolation, "the record has no value (a tombstone)") }
    guard bytes.count <= maxBytes else {
      throw Rejection(.tooLarge, "the record has \(bytes.count) bytes; at most \(maxBytes) are allowed")
    }
    if let id = SchemaRegistryFrame.schemaID(in: bytes) {
      guard frame == .skip else {
        throw Rejection(
          .invalidJSON,
          "the record's value begins with the frame of Confluent's schema registry (0x00 and schema id \(id)): publish JSON "
            + "without that serializer, or start nudge-ingest with --schema-registry-frame skip")
      }
      bytes.removeFirst(SchemaRegistryFrame.length)
    }
    // The direct reader accepts only valid UTF-8 and JSON, which contains no NUL.
    if let value = read(bytes) { return value }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw Rejection(.invalidUTF8, "the record's value is not UTF-8")
    }
    let fault = codec.fault(in: bytes)
    // For an invalid number the decoder tries too, because it can name the field.
    if let fault, fault != .invalidNumber { throw notJSON(fault) }
    let value: Value
    do {
      value = try Rejection.reading { try coder.decode(Value.self, from: bytes) }
    } catch let rejection as Rejection where fault == nil && rejection.code == .invalidJSON {
      // Foundation's decoder calls JSON invalid if an integer has a fraction or more than 64 bits, and names no field.
      let places = codec.numbersBeyondIntegers(in: bytes)
      guard !places.isEmpty else { throw rejection }
      throw Rejection(.schemaViolation, "\(places.joined(separator: " or ")) is not an integer")
    }
    if let fault { throw notJSON(fault) }
    return value
  }

  private static func notJSON(_ fault: JSONParseError) -> Rejection {
    Rejection(.invalidJSON, "the record's value is not JSON: \(fault)")
  }

  /// Converts a broken rule of the schema into a rejection.
  static func hold(_ rules: () throws(SchemaViolation) -> Void) throws(Rejection) {
    do {
      try rules()
    } catch {
      throw Rejection(.schemaViolation, error.description)
    }
  }

  /// Throws for an event that is older, or further in the future, than the limits.
  static func requireTime(_ envelope: Envelope, now: Milliseconds, rules: IngestRules) throws(Rejection) {
    let age = now - envelope.occurredAt
    if age > rules.maxEventAge {
      let meant =
        TimeUnit.seconds.fits(envelope.occurredAt) ? ". It looks like seconds: did you mean milliseconds?" : ""
      throw Rejection(.tooOld, "occurredAt is \(age) ms ago; at most \(rules.maxEventAge) ms are accepted\(meant)")
    }
    guard -age > rules.futureTolerance else { return }
    throw Rejection(
      .fromTheFuture, "occurredAt is \(-age) ms in the future; at most \(rules.futureTolerance) ms are accepted")
  }

  private static func keyField(_ topic: Topic) -> String {
    switch topic {
    case .chatEvents: "conversationId"
    case .deviceClaims: "tokenHash"
    default: "userId"
    }
  }
}

extension InputRecord {
  /// Whether it came over HTTP with a user's own token.
  var isByUser: Bool { header(RecordHeader.caller) != nil }
}

/// How to handle a value from a serializer of Confluent's schema registry, which prepends a zero byte and the schema's id in four bytes.
public enum SchemaRegistryFrame: String, CaseIterable, SettingValue, Sendable {
  /// The record is refused, and the error names the frame.
  case refuse
  /// The frame is skipped, and the rest is read.
  case skip

  /// Its length in bytes.
  static let length = 5

  /// The schema's id if the value begins with a frame; nil otherwise. JSON contains no zero byte.
  static func schemaID(in value: [UInt8]) -> UInt32? {
    guard value.count >= length, value[0] == 0 else { return nil }
    return value[1..<length].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
