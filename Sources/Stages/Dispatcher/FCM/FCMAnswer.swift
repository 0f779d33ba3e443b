public import NudgeSchema

/// What FCM answered, or why it did not, by what is to be done about it (P4).
public struct FCMAnswer: Sendable, Equatable {
  /// What is to be done.
  public enum Verdict: Sendable, Equatable {
    /// FCM took the push. `name` is FCM's name of it; nil where the body was lost on the way.
    case sent(name: String?)
    /// The token is gone or was never one: remove it, if it was not registered again since (T3).
    case invalidToken
    /// The token belongs to another sender: set the device aside until it registers again.
    case senderMismatch
    /// FCM refuses this very request: sending it again changes nothing.
    case rejected
    /// Credentials, project or address are wrong: nothing of the project can be sent until somebody mends it.
    case projectRefused
    /// FCM's credentials for one platform (APNs or Web Push key) are wrong: nothing to that platform can be sent.
    case platformRefused
    /// Too much, for this device or for the project.
    case quotaExceeded(QuotaScope)
    /// The server's trouble: 5xx and kin.
    case serverFailed
    /// There was no answer: the connection failed, was reset, or time ran out.
    case unreachable
  }

  /// Whose quota is used up.
  public enum QuotaScope: Sendable, Equatable {
    /// The device's; also where FCM does not say whose, so that one device's trouble never blocks others.
    case device
    /// The project's.
    case project
  }

  /// What is to be done.
  public var verdict: Verdict
  /// The HTTP status; nil where there was no answer.
  public var httpStatus: Int?
  /// FCM's error code, else Google's status, else the transport's word; nil where it was sent.
  public var errorCode: String?
  /// What FCM asked to wait, in milliseconds, counted from the answer.
  public var retryAfter: Milliseconds?
  /// The answer is none the table of `FCMAnswer` knows: treated by its HTTP class.
  public var isUnknown: Bool

  /// An answer.
  public init(
    _ verdict: Verdict, httpStatus: Int? = nil, errorCode: String? = nil, retryAfter: Milliseconds? = nil,
    isUnknown: Bool = false
  ) {
    self.verdict = verdict
    self.httpStatus = httpStatus
    self.errorCode = errorCode
    self.retryAfter = retryAfter
    self.isUnknown = isUnknown
  }
}

extension FCMAnswer {
  /// FCM took the push.
  var isSent: Bool { if case .sent = verdict { true } else { false } }

  /// Whether it says if the token was good: what the breaker over invalid tokens looks at (T3).
  var saysOfToken: Bool {
    switch verdict {
    case .sent, .invalidToken, .senderMismatch: true
    default: false
    }
  }
}
