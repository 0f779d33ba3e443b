import JSONCodec

/// Writes the JSON of a `messages:send` and counts, as it goes, the payload FCM's limit is about: the bytes of keys and
/// values, without JSON's own punctuation and escapes.
struct FCMBodyWriter: ~Copyable {
  private var json = JSONWriter(capacity: 2048)
  /// Bytes of keys and values so far.
  private(set) var payloadBytes = 0

  /// What was written.
  var bytes: [UInt8] { json.bytes }

  /// An object without a key: the whole body.
  mutating func object(_ fields: (inout FCMBodyWriter) -> Void) {
    json.beginObject()
    fields(&self)
    json.endObject()
  }

  /// An object as a member.
  mutating func object(_ key: StaticString, _ fields: (inout FCMBodyWriter) -> Void) {
    self.key(key)
    object(fields)
  }

  /// A text; nil writes nothing.
  mutating func field(_ key: StaticString, _ value: String?) {
    guard let value else { return }
    self.key(key)
    json.value(value)
    payloadBytes += value.utf8.count
  }

  /// A number.
  mutating func field(_ key: StaticString, _ value: Int) {
    self.key(key)
    json.value(value)
    payloadBytes += String(value).utf8.count
  }

  /// `true` or `false`.
  mutating func field(_ key: StaticString, _ value: Bool) {
    self.key(key)
    json.value(value)
    payloadBytes += value ? 4 : 5
  }

  /// What `fields` writes is no payload: the address, settings of the request.
  mutating func uncounted(_ fields: (inout FCMBodyWriter) -> Void) {
    let counted = payloadBytes
    fields(&self)
    payloadBytes = counted
  }

  private mutating func key(_ key: StaticString) {
    json.key(key)
    payloadBytes += key.utf8CodeUnitCount
  }
}
