import JSONCodec
import NudgeSchema
import ServiceKit
import WebPush

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

/// The data of a push that a device reached by FCM gets sealed (RFC 8291): texts, names and ids are in no other part of the request. The
/// stage says what is sealed, and the client seals it when the request leaves.
final class SealedData: Sendable {
  /// The longest data before it is sealed: with this much, Base64 of it and the rest of a request fit FCM's limit.
  static let longest = 2_560

  let keys: SealingKeys
  /// The data as JSON.
  let data: [UInt8]
  /// Where in the request's body the sealed data goes.
  let place: Int

  /// The empty field of a body.
  private static let field = Array(#""sealed":""#.utf8)

  /// nil: the push goes unsealed, or the ids alone are too long.
  init?(_ item: WaitingPush, _ rules: DispatcherRules, in body: [UInt8]) {
    guard let keys = item.target.sealing, let start = body.firstRange(of: Self.field)?.upperBound,
      let data = WebPushMessage(item, rules: rules).encoded(toBytes: Self.longest)
    else { return nil }
    (self.keys, self.data, place) = (keys, data, start)
  }

  /// The body of a request with the data sealed afresh; nil: the device's keys cannot be used.
  func sealed(into body: [UInt8]) -> [UInt8]? {
    guard let keys = try? WebPushKeys(p256dh: keys.p256dh, auth: keys.auth),
      let sealed = try? WebPushSealing.seal(data, for: keys)
    else { return nil }
    return body[..<place] + Array(Base64URL.encode(sealed).utf8) + body[place...]
  }
}
