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
