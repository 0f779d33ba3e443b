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

/// A record of `nudge.device-claims`. The key is the token's hash, so that one task owns the token and sees all registrations and
/// sign-outs with it (T2).
public typealias DeviceClaim = DerivedEvent<DeviceClaimBody>

/// A claim to a token, or its release.
public enum DeviceClaimBody: EventBody {
  /// A person's device registered the token.
  case registered(TokenClaimed)
  /// A person's device gave the token up.
  case unregistered(TokenReleased)
  /// A person was deleted. Every partition has this record, with the key userId, since every task of ingest may have conversations with
  /// the person.
  case userDeleted(UserDeleted)
  /// A deleted person registered again. Every partition has this record, with the key userId.
  case userRestored(UserDeleted)

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [.deviceRegistered, .deviceUnregistered, .userDeleted, .userRestored]

  /// The type's name on the wire.
  public var type: EventType {
    switch self {
    case .registered: .deviceRegistered
    case .unregistered: .deviceUnregistered
    case .userDeleted: .userDeleted
    case .userRestored: .userRestored
    }
  }

  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: EventType, from decoder: any Decoder) throws {
    switch type {
    case .deviceRegistered:
      let claimed = try TokenClaimed(from: decoder)
      try claimed.device.requireAddress(in: "device.")
      self = .registered(claimed)
    case .deviceUnregistered: self = .unregistered(try TokenReleased(from: decoder))
    case .userDeleted: self = .userDeleted(try UserDeleted(from: decoder))
    case .userRestored: self = .userRestored(try UserDeleted(from: decoder))
    default: throw EventFormatError.unknownType(type.rawValue, of: Self.types)
    }
  }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws {
    switch self {
    case .registered(let fields): try fields.encode(to: encoder)
    case .unregistered(let fields): try fields.encode(to: encoder)
    case .userDeleted(let fields), .userRestored(let fields): try fields.encode(to: encoder)
    }
  }
}

/// A registration that the token's owner row has yet to apply.
public struct TokenClaimed: Codable, Sendable, Equatable {
  /// The token's hash, the record's key.
  public var tokenHash: String
  /// The registration as it came.
  public var device: DeviceRegistered

  /// The event's fields.
  public init(tokenHash: String, device: DeviceRegistered) {
    self.tokenHash = tokenHash
    self.device = device
  }
}

/// A sign-out, or a token that the same device has replaced, which the token's owner row has yet to apply.
public struct TokenReleased: Codable, Sendable, Equatable {
  /// The token's hash, the record's key.
  public var tokenHash: String
  /// The person.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// Why: `signed_out` or `token_replaced`.
  public var cause: DeviceLost.Cause

  /// The event's fields.
  public init(tokenHash: String, userId: String, deviceId: String, cause: DeviceLost.Cause) {
    self.tokenHash = tokenHash
    self.userId = userId
    self.deviceId = deviceId
    self.cause = cause
  }
}
