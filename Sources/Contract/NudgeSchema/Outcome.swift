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

/// A record of `nudge.outcomes`: what a device reported about a push, or what a read elsewhere did to it.
public typealias Receipt = DerivedEvent<ReceiptBody>

/// A state that a push reaches on a device after the push service took it. Each is recorded at most once a push and device, in any order.
public enum ReceiptState: String, NamedValue {
  /// The device has it.
  case arrived
  /// The person tapped it.
  case opened
  /// The person swiped it away.
  case dismissed
  /// The message was read on another device, and the notification removed here.
  case withdrawn
}

/// The fields of a receipt. Only pushes of the kind `message` have receipts.
///
/// `occurredAt` of the envelope is when the device reached the state, capped at the time ingest took the report.
public struct ReceiptBody: EventBody, Codable {
  /// The push.
  public var pushId: String
  /// The person.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// The state that the push reached on the device.
  public var state: ReceiptState
  /// The system the device runs.
  public var platform: Platform
  /// The app's version on the device, as last registered.
  public var appVersion: String?
  /// When the message was written, or a later push of it was made; in milliseconds since the epoch.
  public var sentAt: Milliseconds

  /// The fields of a receipt.
  public init(
    pushId: String, userId: String, deviceId: String, state: ReceiptState, platform: Platform,
    appVersion: String? = nil, sentAt: Milliseconds
  ) {
    self.pushId = pushId
    self.userId = userId
    self.deviceId = deviceId
    self.state = state
    self.platform = platform
    self.appVersion = appVersion
    self.sentAt = sentAt
  }

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [.receipt]

  /// The type's name on the wire.
  public var type: EventType { .receipt }
  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: EventType, from decoder: any Decoder) throws { try self.init(from: decoder) }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws { try encode(to: encoder) }
}

/// How a push to a device ended, as far as is known: its outcome and its receipts together.
public enum PushEndState: String, NamedValue {
  /// It has no outcome and no receipt yet: it waits, or the records are no longer kept.
  case waiting
  /// The push service took it, and nothing was heard of it since.
  case taken
  /// The device has it.
  case arrived
  /// The person tapped it.
  case opened
  /// The person swiped it away.
  case dismissed
  /// The message was read elsewhere: the notification was removed, or the push taken back before it was sent.
  case withdrawn
  /// It was never sent: expired, refused, given up, or its token is not valid.
  case failed

  /// The end state of a push and device.
  ///
  /// Receipts come in any order and outrank the outcome, because a device that reports a push has it. Among them the person's
  /// own act counts before what happened elsewhere.
  ///
  /// - Parameters:
  ///   - result: The outcome's result; nil: there is no outcome.
  ///   - errorCode: The outcome's error code.
  ///   - receipts: The states of its receipts.
  public init(_ result: OutcomeResult?, errorCode: String? = nil, receipts: Set<ReceiptState>) {
    if receipts.contains(.opened) {
      self = .opened
    } else if receipts.contains(.dismissed) {
      self = .dismissed
    } else if receipts.contains(.withdrawn) {
      self = .withdrawn
    } else if receipts.contains(.arrived) {
      self = .arrived
    } else {
      switch result {
      case nil: self = .waiting
      case .sent: self = .taken
      case .cancelled: self = errorCode.map(Self.failures.contains) ?? false ? .failed : .withdrawn
      case .expired, .invalidToken, .quarantined, .rejected, .gaveUp: self = .failed
      }
    }
  }

  /// Error codes of cancelled pushes that nobody took back: the device's lane was full, or the push's replay was stopped.
  public static let failures: Set<String> = ["lane_full", "replay_stopped"]

  /// Whether the device has had the push.
  public var hasArrived: Bool {
    switch self {
    case .arrived, .opened, .dismissed: true
    case .waiting, .taken, .withdrawn, .failed: false
    }
  }
}

/// `push.answered`: what a dispatcher knows of a request for a push whose task it has lost. The task's present owner takes it for the answer to
/// its own request, and does not send the push again (P7). The event's origin is that of the push.
public struct PushAnswered: Codable, Sendable, Equatable {
  /// The state of the request.
  public enum Result: String, Codable, Sendable, CaseIterable {
    /// It is in flight: another record with its answer follows.
    case pending
    /// The push service has the push.
    case sent
    /// The token is not, or no longer, valid.
    case invalidToken = "invalid_token"
    /// The token belongs to another sender.
    case senderMismatch = "sender_mismatch"
    /// The request is refused; the same one would be refused again.
    case rejected
    /// No answer came, or one that decides nothing: the push may be sent again.
    case undecided
  }

  /// The person, the record's key.
  public var userId: String
  /// The person's device.
  public var deviceId: String
  /// The push.
  public var pushId: String
  /// The number of the request, as the lane counts.
  public var attempt: Int
  /// The state of the request.
  public var result: Result
  /// The answer's HTTP status; nil: there was no answer.
  public var httpStatus: Int?
  /// FCM's error code.
  public var errorCode: String?
  /// FCM's name of the push.
  public var fcmName: String?
  /// How many requests were made; nil: it is not known yet.
  public var requests: Int?
  /// When the first request was made; nil: it is not known yet.
  public var startedAt: Milliseconds?
  /// When the answer came; nil: it has not.
  public var finishedAt: Milliseconds?

  /// The event's fields.
  public init(
    userId: String, deviceId: String, pushId: String, attempt: Int, result: Result, httpStatus: Int? = nil,
    errorCode: String? = nil, fcmName: String? = nil, requests: Int? = nil, startedAt: Milliseconds? = nil,
    finishedAt: Milliseconds? = nil
  ) {
    self.userId = userId
    self.deviceId = deviceId
    self.pushId = pushId
    self.attempt = attempt
    self.result = result
    self.httpStatus = httpStatus
    self.errorCode = errorCode
    self.fcmName = fcmName
    self.requests = requests
    self.startedAt = startedAt
    self.finishedAt = finishedAt
  }
}
