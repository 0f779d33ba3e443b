public import NudgeSchema

/// FCM's answer, or the reason for not having one, classified by its consequence (P4).
public struct FCMAnswer: Sendable, Equatable {
  /// The kinds of answers, each with its consequence.
  public enum Verdict: Sendable, Equatable {
    /// FCM took the push. `name` is FCM's name of it; nil where the body was lost on the way.
    case sent(name: String?)
    /// The token is not, or no longer, valid: remove it unless it was registered again since (T3).
    case invalidToken
    /// The token belongs to another sender: send nothing to the device until it registers again.
    case senderMismatch
    /// The push service refuses our key for this subscription, and takes pushes for others: again later.
    case subscriptionRefused
    /// FCM refuses this request; sending it again changes nothing.
    case rejected
    /// Credentials, project or address are wrong: nothing of the project can be sent until an operator mends it.
    case projectRefused
    /// FCM's credentials for one platform (APNs or Web Push key) are wrong: nothing can be sent to that platform.
    case platformRefused
    /// The quota of the device or of the project is used up.
    case quotaExceeded(QuotaScope)
    /// FCM failed: 5xx and similar.
    case serverFailed
    /// No answer: the connection failed or was reset, or the time ran out.
    case unreachable
    /// The request did not leave in time, or the task was given up before: nothing was sent.
    case notSent
  }

  /// The owner of the quota that is used up.
  public enum QuotaScope: Sendable, Equatable {
    /// The device's; also where FCM does not say whose, so that one device's trouble never blocks others.
    case device
    /// The project's.
    case project
  }

  public var verdict: Verdict
  /// The HTTP status; nil where there was no answer.
  public var httpStatus: Int?
  /// FCM's error code, else Google's status, else the transport's error; nil where the push was sent.
  public var errorCode: String?
  /// The wait that FCM asks for, in milliseconds from the answer.
  public var retryAfter: Milliseconds?
  /// FCM's documentation does not have this answer: it is treated by its HTTP class.
  public var isUnknown: Bool

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

  /// FCM's name of the push it took.
  var fcmName: String? { if case .sent(let name) = verdict { name } else { nil } }

  /// It refuses the device's token.
  var isAboutToken: Bool { verdict == .invalidToken || verdict == .senderMismatch }

  /// Whether it says if the token is valid, which the breaker over invalid tokens counts (T3).
  var judgesToken: Bool {
    switch verdict {
    case .sent, .invalidToken, .senderMismatch: true
    default: false
    }
  }
}
