/// A subscription of Web Push (RFC 8030), as a browser or a distributor of UnifiedPush gave it to the app.
public struct WebPushSubscription: Codable, Sendable, Hashable {
  /// The URL that pushes are posted to. Never logged (T4): whoever knows it can push.
  public var endpoint: String
  /// The device's public key, an uncompressed point of P-256 in base64url.
  public var p256dh: String
  /// The secret that device and sender share, 16 bytes in base64url.
  public var auth: String

  /// A subscription.
  public init(endpoint: String, p256dh: String, auth: String) {
    self.endpoint = endpoint
    self.p256dh = p256dh
    self.auth = auth
  }
}

extension WebPushSubscription {
  /// The endpoint's host, which people and records may see: all that is behind it is secret. Without its port.
  public var host: String { Self.host(of: endpoint) ?? "" }

  /// The host of a URL; nil: it has none.
  public static func host(of url: String) -> String? {
    guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
    let authority = url[start...].prefix { !"/?#\\".contains($0) }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let host =
      place.hasPrefix("[") ? place.prefix { $0 != "]" }.dropFirst() : place.prefix { $0 != ":" }
    return host.isEmpty ? nil : host.lowercased()
  }
}

/// Keys of a device that is reached by a token: what its app shows goes sealed for them (RFC 8291).
public struct SealingKeys: Codable, Sendable, Hashable {
  /// The device's public key, an uncompressed point of P-256 in base64url.
  public var p256dh: String
  /// The secret that device and sender share, 16 bytes in base64url.
  public var auth: String

  /// Keys.
  public init(p256dh: String, auth: String) {
    self.p256dh = p256dh
    self.auth = auth
  }
}

/// The name of a device at its push service: exactly one of a token and a subscription.
public protocol PushAddressed {
  /// FCM's registration token; nil: the device has a subscription.
  var token: String? { get }
  /// The subscription; nil: the device has a token.
  var webPush: WebPushSubscription? { get }
  /// Keys beside a token; nil: texts go as they are.
  var sealing: SealingKeys? { get }
}

extension PushAddressed {
  /// The token or the endpoint: its hash stands for the device in claims, records and logs.
  public var address: String { token ?? webPush?.endpoint ?? "" }

  /// Whether pushes for the other one reach the same device, and can be read there.
  public func hasAddress(of other: some PushAddressed) -> Bool {
    token == other.token && webPush == other.webPush && sealing == other.sealing
  }

  /// Whether there is exactly one of token and subscription, and keys beside a token alone.
  public var isAddressed: Bool { (token == nil) != (webPush == nil) && (sealing == nil || token != nil) }

  /// Throws unless there is exactly one of token and subscription, and keys beside a token alone.
  /// - Parameter path: The path before the fields, such as `targets[0].`.
  public func requireAddress(in path: @autoclosure () -> String = "") throws(SchemaViolation) {
    guard !isAddressed else { return }
    guard token != nil || webPush != nil else {
      throw SchemaViolation(field: path() + "token", rule: "is missing: a device has either token or webPush")
    }
    guard token == nil else {
      throw SchemaViolation(
        field: path() + "webPush", rule: "must be absent beside token: a device has one of the two")
    }
    throw SchemaViolation(field: path() + "sealing", rule: "must be absent beside webPush, which has keys of its own")
  }

  /// Throws unless the device is addressed as the schema says.
  /// - Parameter path: The path before the fields, such as `targets[0].`.
  public func validateAddress(in path: @autoclosure () -> String = "") throws(SchemaViolation) {
    try requireAddress(in: path())
    if let token { try FieldRule.token(token, path() + "token") }
    if let sealing { try FieldRule.keys(sealing.p256dh, sealing.auth, path() + "sealing") }
    if let webPush {
      try FieldRule.endpoint(webPush.endpoint, path() + "webPush.endpoint")
      try FieldRule.keys(webPush.p256dh, webPush.auth, path() + "webPush")
    }
  }
}
