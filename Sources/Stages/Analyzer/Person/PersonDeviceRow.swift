public import NudgeSchema

/// How a device of a person is reached. It stays, without token and subscription, when the device is lost, until a token's lifetime after it was
/// heard of last: so that an older registration that comes late does not bring it back.
public struct PersonDeviceRow: Codable, Sendable, Equatable, PushAddressed {
  /// Bytes of token, subscription, keys, app version, locale and project together: keeps the row within its bound, however they are escaped.
  static let maxBytes = 6_500

  /// FCM's registration token; nil: the device has a subscription, or is lost.
  public internal(set) var token: String?
  /// The subscription in place of a token; nil as well: the device is lost.
  public internal(set) var webPush: WebPushSubscription?
  /// Keys beside a token: texts go sealed.
  public internal(set) var sealing: SealingKeys?
  /// Stands for token or endpoint in records and logs (T4).
  var tokenHash: String
  /// The claim's version: of one token, the greater is the later.
  var version: Int64
  var platform: Platform
  var projectId: String?
  var appVersion: String?
  var locale: String?
  /// When this token was registered by this version (T5).
  var registeredAt: Milliseconds
  /// When the device was last heard of, to the day (T5).
  var lastSeenAt: Milliseconds
  /// When the timer of this device is due that asks whether it was heard of since (T5); nil: none is set.
  var timerAt: Milliseconds?
  /// When the device was last heard of, to some seconds; nil: its app never reports what arrives.
  var aliveAt: Milliseconds?
  /// true: the app draws notifications itself, from data alone.
  var renders: Bool?
  /// The last registration or sign-out: of different tokens, the later wins (D12).
  var stamp: EventStamp

  /// Whether a push can go to it.
  var isReachable: Bool { token != nil || webPush != nil }

  /// The latest time of anything known of it.
  var lastEventAt: Milliseconds { max(lastSeenAt, stamp.occurredAt) }
}
