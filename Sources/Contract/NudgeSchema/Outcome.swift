/// A record of `nudge.outcomes`: what became of one push on one device (P8).
public typealias Outcome = DerivedEvent<OutcomeBody>

/// How a push to a device ended.
public enum OutcomeResult: String, NamedValue {
  /// The push service took it.
  case sent
  /// Too old to be sent for the first time.
  case expired
  /// The push service does not know the token or subscription.
  case invalidToken = "invalid_token"
  /// The token belongs to another sender id; it is set aside.
  case quarantined
  /// The push service refused the request itself.
  case rejected
  /// The retries' time ran out.
  case gaveUp = "gave_up"
  /// Withdrawn while it waited.
  case cancelled
}

/// The service that a push went to.
public enum OutcomeDestination: String, Codable, Sendable, CaseIterable {
  /// Firebase Cloud Messaging.
  case fcm
  /// A Web Push service, of a browser or a UnifiedPush distributor.
  case webPush = "web_push"
  /// The webhook for escalations.
  case webhook
}

/// The fields of an outcome.
public struct OutcomeBody: EventBody, Codable {
  /// The push.
  public var pushId: String
  /// The person.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// The token's hash.
  public var tokenHash: String
  /// How it ended.
  public var result: OutcomeResult
  /// FCM's last HTTP status.
  public var httpStatus: Int?
  /// FCM's, or the transport's, last error code.
  public var errorCode: String?
  /// FCM's name of the message, where it was sent.
  public var fcmName: String?
  /// The service that it went to; absent: FCM.
  public var destination: OutcomeDestination?
  /// FCM's collapse key, where the device seemed to be off: the push replaced an earlier one that FCM stored (P12).
  public var collapseKey: String?
  /// The message is left to the person's catch-up, which tells of it unless another device has it (D18).
  public var catchUp: Bool?
  /// Requests made for it.
  public var attempts: Int
  /// When the first was made.
  public var firstAttemptAt: Milliseconds?
  /// When it ended.
  public var finishedAt: Milliseconds

  /// The fields of an outcome.
  public init(
    pushId: String, userId: String, deviceId: String, tokenHash: String, result: OutcomeResult, httpStatus: Int? = nil,
    errorCode: String? = nil, fcmName: String? = nil, destination: OutcomeDestination? = nil,
    collapseKey: String? = nil,
    catchUp: Bool? = nil, attempts: Int, firstAttemptAt: Milliseconds? = nil,
    finishedAt: Milliseconds
  ) {
    self.pushId = pushId
    self.userId = userId
    self.deviceId = deviceId
    self.tokenHash = tokenHash
    self.result = result
    self.httpStatus = httpStatus
    self.errorCode = errorCode
    self.fcmName = fcmName
    self.destination = destination
    self.collapseKey = collapseKey
    self.catchUp = catchUp
    self.attempts = attempts
    self.firstAttemptAt = firstAttemptAt
    self.finishedAt = finishedAt
  }

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [.outcome]

  /// The type's name on the wire.
  public var type: EventType { .outcome }
  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: EventType, from decoder: any Decoder) throws { try self.init(from: decoder) }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws { try encode(to: encoder) }
}
