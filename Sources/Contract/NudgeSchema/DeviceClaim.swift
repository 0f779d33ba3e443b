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
