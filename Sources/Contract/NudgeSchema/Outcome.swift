/// A record of `nudge.outcomes`: what became of one push on one device (P8).
public typealias Outcome = DerivedEvent<OutcomeBody>

/// How a push to a device ended.
public enum OutcomeResult: String, NamedValue {
  /// The push service accepted it.
  case sent
  /// Its freshness ended before the first attempt.
  case expired
  /// The push service does not know the token or subscription.
  case invalidToken = "invalid_token"
  /// The token belongs to another sender id. Nothing is sent to it until it registers again.
  case quarantined
  /// The push service refused the request.
  case rejected
  /// The time for retries ended.
  case gaveUp = "gave_up"
  /// Cancelled while it waited.
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
  /// How the push ended.
  public var result: OutcomeResult
  /// The last HTTP status of the push service.
  public var httpStatus: Int?
  /// The last error code, of the push service or of the transport.
  public var errorCode: String?
  /// FCM's name of the message; absent unless FCM accepted it.
  public var fcmName: String?
  /// The service that the push went to; absent for FCM.
  public var destination: OutcomeDestination?
  /// FCM's collapse key, where the device seemed to be off: the push replaced an earlier one that FCM stored (P12).
  public var collapseKey: String?
  /// true if the message is left to the person's catch-up, which includes it unless another device has it (D18).
  public var catchUp: Bool?
  /// Requests made for the push.
  public var attempts: Int
  /// When the first request was made; absent if none was.
  public var firstAttemptAt: Milliseconds?
  /// When the push ended.
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
}

/// A record of `nudge.outcomes`: what a device reported about a push, or the effect of a read on another device.
public typealias Receipt = DerivedEvent<ReceiptBody>

/// A state that a push reaches on a device after the push service accepted it. Each state is recorded at most once per
/// push and device, in any order.
public enum ReceiptState: String, NamedValue {
  /// The push reached the device.
  case arrived
  /// The person tapped the notification.
  case opened
  /// The person swiped the notification away.
  case dismissed
  /// The message was read on another device, and the notification was removed here.
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
  /// When the message was written or pushed again, in milliseconds since the epoch.
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
}

/// How a push to a device ended, as far as known from its outcome and its receipts.
public enum PushEndState: String, NamedValue {
  /// There is no outcome and no receipt: the push waits, or its records are no longer kept.
  case waiting
  /// The push service accepted it, and no receipt followed.
  case taken
  /// The push reached the device.
  case arrived
  /// The person tapped the notification.
  case opened
  /// The person swiped the notification away.
  case dismissed
  /// The message was read elsewhere: the notification was removed, or the push was cancelled before it was sent.
  case withdrawn
  /// It was never sent: it expired, was refused or given up, or its token is not valid.
  case failed

  /// The end state of a push and device.
  ///
  /// Receipts come in any order and outrank the outcome, because a device that reports a push has received it. Among
  /// receipts, the person's own act outranks what happened elsewhere.
  ///
  /// - Parameters:
  ///   - result: The outcome's result; nil if there is no outcome.
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

  /// Error codes of pushes that were cancelled without being withdrawn: the device's lane was full, or the push's
  /// replay was stopped.
  public static let failures: Set<String> = ["lane_full", "replay_stopped"]

  /// Whether the push reached the device.
  public var hasArrived: Bool {
    switch self {
    case .arrived, .opened, .dismissed: true
    case .waiting, .taken, .withdrawn, .failed: false
    }
  }
}

/// `push.answered`: the answer to a push's request, handed over by a dispatcher that has lost the push's task. The
/// task's present owner treats it as the answer to its own request and does not send the push again (P7). The event has
/// the push's origin.
public struct PushAnswered: Codable, Sendable, Equatable {
  /// The state of the request.
  public enum Result: String, Codable, Sendable, CaseIterable {
    /// The request is in flight. Another record with its answer follows.
    case pending
    /// The push service accepted the push.
    case sent
    /// The token is not valid, or no longer valid.
    case invalidToken = "invalid_token"
    /// The token belongs to another sender.
    case senderMismatch = "sender_mismatch"
    /// The request was refused, and would be refused again.
    case rejected
    /// No answer came, or an inconclusive one. The push may be sent again.
    case undecided
  }

  /// The person, the record's key.
  public var userId: String
  /// The person's device.
  public var deviceId: String
  /// The push.
  public var pushId: String
  /// The number of the request in the lane.
  public var attempt: Int
  /// The state of the request.
  public var result: Result
  /// The answer's HTTP status; absent if no answer came.
  public var httpStatus: Int?
  /// FCM's error code.
  public var errorCode: String?
  /// FCM's name of the push.
  public var fcmName: String?
  /// How many requests were made; absent until that is known.
  public var requests: Int?
  /// When the first request was made; absent until that is known.
  public var startedAt: Milliseconds?
  /// When the answer came; absent until then.
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
