import JSONCodec
public import NudgeSchema
import ServiceKit
import WebPush
import Wording

/// The body of `messages:send` for a push and one of its devices (P2), with only the fields of that device's platform.
public struct FCMMessage: Sendable {
  /// FCM's limit on keys and values of the payload in bytes. Everything but the token counts here, including headers. FCM reportedly does
  /// not count headers, but it adds its own keys to what it sends to APNs, which has the same limit.
  public static let maxPayloadBytes = 4096
  /// APNs' limit on a collapse id, in bytes.
  public static let maxCollapseIdBytes = 64
  /// The longest time for which FCM stores a push, in seconds: four weeks.
  public static let maxTTLSeconds = 2_419_200
  /// The Android channel of alerts.
  public static let alertChannel = "messages"
  /// The Android channel of silent notifications, of low importance.
  public static let silentChannel = "messages_silent"

  private let content: DeviceMessage
  private var push: Push { content.push }
  private var target: PushTarget { content.target }

  /// The message for a push and a target. The push's own targets are ignored.
  ///
  /// - Parameters:
  ///   - occurredAt: When the message was written, in milliseconds since the epoch.
  ///   - hash: Computes a short printable hash of a text.
  ///   - webLink: Where a click on the web leads.
  public init(
    push: Push, target: PushTarget, occurredAt: Milliseconds, hash: @escaping @Sendable (String) -> String,
    webLink: WebLink? = nil
  ) {
    content = DeviceMessage(push: push, target: target, occurredAt: occurredAt, hash: hash, webLink: webLink)
  }

  /// The message for a waiting push, in the form for a device that may be off.
  init(_ item: WaitingPush, rules: DispatcherRules) { content = DeviceMessage(item, rules: rules) }

  /// The JSON with at most `maxPayloadBytes` of payload; nil if the ids alone are too large.
  public func encoded() -> [UInt8]? { content.fitted(toBytes: Self.maxPayloadBytes, write)?.bytes }

  private func write(_ text: DeviceMessage.Text) -> (bytes: [UInt8], size: Int) {
    var writer = PayloadWriter()
    writer.object { root in
      root.uncounted { $0.field("validate_only", false) }
      root.object("message") { message in
        message.uncounted { $0.field("token", target.address) }
        if content.isVisible, content.isSealed {
          // iOS runs the extension that decrypts the data only for a notification.
          if target.platform == .ios {
            let words = Wording(locale: push.language)
            message.object("notification") { $0.field("title", words.messages(1)) }
          }
        } else if content.isVisible, !content.isDrawnByApp {
          message.object("notification") {
            $0.field("title", text.title)
            $0.field("body", content.shownBody(text.body))
            $0.field("image", text.imageUrl)
          }
        }
        message.object("data") {
          if content.isSealed { $0.field("sealed", "") } else { content.writeData(text, to: &$0) }
        }
        message.object("fcm_options") { $0.field("analytics_label", content.analyticsLabel) }
        switch target.platform {
        case .ios: writeAPNs(text, to: &message)
        case .android: writeAndroid(to: &message)
        case .web, .desktop: writeWebPush(text, to: &message)
        }
      }
    }
    return (writer.bytes, writer.payloadBytes)
  }

  private func writeAPNs(_ text: DeviceMessage.Text, to message: inout PayloadWriter) {
    message.object("apns") { apns in
      apns.object("headers") {
        // `background` would be wrong even if only the badge changes: such a push may not carry a badge, and Apple throttles it.
        $0.field("apns-push-type", "alert")
        $0.field("apns-priority", content.isAlert ? "10" : "5")
        // Relative to the decision, so that a repeat has the same expiration.
        $0.field(
          "apns-expiration", content.ttlSeconds == 0 ? "0" : String(push.decidedAt / 1000 + Int64(content.ttlSeconds)))
        $0.field("apns-collapse-id", content.collapseId)
      }
      apns.object("payload") {
        $0.object("aps") { aps in
          aps.field("badge", max(push.badge, 0))
          aps.field("content-available", 1)
          guard content.isVisible else { return }
          aps.field("mutable-content", 1)
          if !content.isSealed {
            aps.field("category", content.category)
            aps.field("thread-id", push.conversationId)
          }
          aps.field(
            "interruption-level", content.isTimeSensitive ? "time-sensitive" : content.isAlert ? "active" : "passive")
          if content.isAlert { aps.field("sound", "default") }
        }
      }
      // iOS shows one picture: the message's, or else the sender's.
      if content.isVisible, !content.isSealed, let image = text.imageUrl ?? text.avatarUrl {
        apns.object("fcm_options") { $0.field("image", image) }
      }
    }
  }

  private func writeAndroid(to message: inout PayloadWriter) {
    message.object("android") { android in
      // FCM deprioritises apps whose high-priority pushes show nothing.
      android.field("priority", content.isAlert ? "HIGH" : "NORMAL")
      android.field("ttl", "\(content.ttlSeconds)s")
      if content.isVisible, content.isDrawnByApp {
        android.field("collapse_key", content.collapse?.key)
      } else if content.isVisible {
        // Absent while the device is on: FCM allows four collapse keys per token, and a fifth conversation would lose its messages.
        android.field("collapse_key", content.collapse?.key)
        android.object("notification") {
          $0.field("channel_id", content.isAlert ? Self.alertChannel : Self.silentChannel)
          $0.field("tag", content.collapseId)
          $0.field("notification_count", max(push.badge, 0))
          $0.field("notification_priority", content.isAlert ? "PRIORITY_HIGH" : "PRIORITY_LOW")
          if content.isAlert { $0.field("sound", "default") }
        }
      } else if push.kind == .badge || push.kind == .message {
        android.field("collapse_key", content.collapseId)
      } else {
        android.field("collapse_key", content.collapse?.key)
      }
    }
  }

  private func writeWebPush(_ text: DeviceMessage.Text, to message: inout PayloadWriter) {
    message.object("webpush") { web in
      web.object("headers") {
        $0.field("TTL", String(content.ttlSeconds))
        $0.field("Urgency", content.isAlert ? "high" : content.isVisible ? "normal" : "low")
      }
      if content.isVisible, !content.isSealed {
        web.object("notification") {
          $0.field("tag", content.collapseId)
          $0.field("icon", text.avatarUrl)
          $0.field("image", text.imageUrl)
          $0.field("silent", !content.isAlert)
        }
        if let link = content.link { web.object("fcm_options") { $0.field("link", link) } }
      }
    }
  }
}

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
