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
  /// The endpoint's host without its port. People and records may see it; the rest of the URL is secret.
  public var host: String { Self.host(of: endpoint) ?? "" }

  /// The host of a URL; nil if it has none.
  public static func host(of url: String) -> String? {
    guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
    let authority = url[start...].prefix { !"/?#\\".contains($0) }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let host =
      place.hasPrefix("[") ? place.prefix { $0 != "]" }.dropFirst() : place.prefix { $0 != ":" }
    return host.isEmpty ? nil : host.lowercased()
  }
}

/// Keys of a device with a token. The texts of its pushes are encrypted for them (RFC 8291).
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

/// How a push service addresses a device: by exactly one of a token and a subscription.
public protocol PushAddressed {
  /// FCM's registration token; nil for a device with a subscription.
  var token: String? { get }
  /// The subscription; nil for a device with a token.
  var webPush: WebPushSubscription? { get }
  /// Keys of a device with a token; nil if its texts are sent unencrypted.
  var sealing: SealingKeys? { get }
}

extension PushAddressed {
  /// The token or the endpoint. Claims, records and logs have its hash instead.
  public var address: String { token ?? webPush?.endpoint ?? "" }

  /// Whether a push for `other` reaches the same device and can be decrypted there.
  public func hasAddress(of other: some PushAddressed) -> Bool {
    token == other.token && webPush == other.webPush && sealing == other.sealing
  }

  /// Whether there is exactly one of token and subscription, and no keys without a token.
  public var isAddressed: Bool { (token == nil) != (webPush == nil) && (sealing == nil || token != nil) }

  /// Throws unless there is exactly one of token and subscription, and no keys without a token.
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

  /// Throws unless the address follows the schema.
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

/// A record of `nudge.device-claims`. Its key is the token's hash, so one task owns the token and sees every
/// registration and sign-out with it (T2).
public typealias DeviceClaim = DerivedEvent<DeviceClaimBody>

/// A claim to a token, or its release.
public enum DeviceClaimBody: EventBody {
  /// A person's device registered the token.
  case registered(TokenClaimed)
  /// A person's device no longer uses the token.
  case unregistered(TokenReleased)
  /// A person was deleted. Each partition has this record, with the key userId, because any task of ingest may own
  /// conversations with the person.
  case userDeleted(UserDeleted)
  /// A deleted person registered again. Each partition has this record, with the key userId.
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

/// A registration that the row of the token's owner has not applied yet.
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

/// A sign-out, or a token that its device replaced, which the row of the token's owner has not applied yet.
public struct TokenReleased: Codable, Sendable, Equatable {
  /// The token's hash, the record's key.
  public var tokenHash: String
  /// The person.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// `signed_out` or `token_replaced`.
  public var cause: DeviceLost.Cause

  /// The event's fields.
  public init(tokenHash: String, userId: String, deviceId: String, cause: DeviceLost.Cause) {
    self.tokenHash = tokenHash
    self.userId = userId
    self.deviceId = deviceId
    self.cause = cause
  }
}
