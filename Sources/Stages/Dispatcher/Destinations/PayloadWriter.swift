import JSONCodec

/// Writes the JSON of a `messages:send` and counts the payload that FCM limits: the bytes of keys and values, without JSON's
/// punctuation and escapes.
struct PayloadWriter: ~Copyable {
  private var json = JSONWriter(capacity: 2048)
  /// Bytes of keys and values so far.
  private(set) var payloadBytes = 0

  /// The JSON written so far.
  var bytes: [UInt8] { json.bytes }

  /// Writes an object without a key: the whole body.
  mutating func object(_ fields: (inout PayloadWriter) -> Void) {
    json.beginObject()
    fields(&self)
    json.endObject()
  }

  mutating func object(_ key: StaticString, _ fields: (inout PayloadWriter) -> Void) {
    self.key(key)
    object(fields)
  }

  /// nil writes nothing.
  mutating func field(_ key: StaticString, _ value: String?) {
    guard let value else { return }
    self.key(key)
    json.value(value)
    payloadBytes += value.utf8.count
  }

  mutating func field(_ key: StaticString, _ value: Int) {
    self.key(key)
    json.value(value)
    payloadBytes += String(value).utf8.count
  }

  mutating func field(_ key: StaticString, _ value: Bool) {
    self.key(key)
    json.value(value)
    payloadBytes += value ? 4 : 5
  }

  /// Writes fields that are not payload: the address, settings of the request.
  mutating func uncounted(_ fields: (inout PayloadWriter) -> Void) {
    let counted = payloadBytes
    fields(&self)
    payloadBytes = counted
  }

  private mutating func key(_ key: StaticString) {
    json.key(key)
    payloadBytes += key.utf8CodeUnitCount
  }
}
