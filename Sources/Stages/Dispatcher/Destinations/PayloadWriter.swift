import JSONCodec
import NudgeSchema
import ServiceKit
import WebPush

/// Writes the JSON of `messages:send` and counts the payload that FCM limits: the bytes of keys and values, without JSON's punctuation and
/// escapes.
struct PayloadWriter: ~Copyable {
  private var json = JSONWriter(capacity: 2048)
  /// The bytes of keys and values so far.
  private(set) var payloadBytes = 0

  /// The JSON so far.
  var bytes: [UInt8] { json.bytes }

  /// Writes an object without a key, which is the whole body.
  mutating func object(_ fields: (inout PayloadWriter) -> Void) {
    json.beginObject()
    fields(&self)
    json.endObject()
  }

  mutating func object(_ key: StaticString, _ fields: (inout PayloadWriter) -> Void) {
    self.key(key)
    object(fields)
  }

  /// Writes a field, or nothing for nil.
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

  /// Writes fields that do not count as payload: the address and the request's settings.
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

/// The data of a push for a device with FCM and encryption keys (RFC 8291). Texts, names and ids are in no other part of the request. The
/// stage chooses the data, and the client encrypts it when the request leaves.
final class SealedData: Sendable {
  /// The most data before encryption. In Base64 it fits FCM's limit together with the rest of a request.
  static let longest = 2_560

  let keys: SealingKeys
  /// The data as JSON.
  let data: [UInt8]
  /// The position of the encrypted data in the request's body.
  let place: Int

  /// The empty field in a body.
  private static let field = Array(#""sealed":""#.utf8)

  /// Nil if the push is not encrypted, or if the ids alone are too long.
  init?(_ item: WaitingPush, _ rules: DispatcherRules, in body: [UInt8]) {
    guard let keys = item.target.sealing, let start = body.firstRange(of: Self.field)?.upperBound,
      let data = WebPushMessage(item, rules: rules).encoded(toBytes: Self.longest)
    else { return nil }
    (self.keys, self.data, place) = (keys, data, start)
  }

  /// The body of a request with newly encrypted data; nil if the device's keys cannot be used.
  func sealed(into body: [UInt8]) -> [UInt8]? {
    guard let keys = try? WebPushKeys(p256dh: keys.p256dh, auth: keys.auth),
      let sealed = try? WebPushSealing.seal(data, for: keys)
    else { return nil }
    return body[..<place] + Array(Base64URL.encode(sealed).utf8) + body[place...]
  }
}
