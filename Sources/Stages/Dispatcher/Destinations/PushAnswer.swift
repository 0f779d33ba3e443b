public import NudgeSchema

/// A push service's answer, or the reason for not having one, classified by its consequence (P4).
public struct PushAnswer: Sendable, Equatable {
  /// The kinds of answers, each with its consequence.
  public enum Verdict: Sendable, Equatable {
    /// The service took the push. `name` is FCM's name of it; nil where the body was lost on the way, and of other services.
    case sent(name: String?)
    /// The token or subscription is not, or no longer, valid: remove it unless it was registered again since (T3).
    case invalidToken
    /// The token belongs to another sender: send nothing to the device until it registers again.
    case senderMismatch
    /// The push service refuses our key for this subscription, and takes pushes for others: again later.
    case subscriptionRefused
    /// The service refuses this request; sending it again changes nothing.
    case rejected
    /// Credentials, project, key or address are wrong: nothing can be sent there until an operator mends it.
    case projectRefused
    /// FCM's credentials for one platform (APNs or Web Push key) are wrong: nothing can be sent to that platform.
    case platformRefused
    /// The quota of the device or of the project is used up.
    case quotaExceeded(QuotaScope)
    /// The service failed: 5xx and similar.
    case serverFailed
    /// No answer: the connection failed or was reset, or the time ran out.
    case unreachable
    /// The request did not leave in time, or the task was given up before: nothing was sent.
    case notSent
  }

  /// The owner of the quota that is used up.
  public enum QuotaScope: Sendable, Equatable {
    /// The device's; also where the service does not say whose, so that one device's trouble never blocks others.
    case device
    /// The project's.
    case project
  }

  public var verdict: Verdict
  /// The HTTP status; nil where there was no answer.
  public var httpStatus: Int?
  /// The service's error code, else its status, else the transport's error; nil where the push was sent.
  public var errorCode: String?
  /// The wait that the service asks for, in milliseconds from the answer.
  public var retryAfter: Milliseconds?
  /// The service's documentation does not have this answer: it is treated by its HTTP class.
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

extension PushAnswer {
  /// The service took the push.
  var isSent: Bool { if case .sent = verdict { true } else { false } }

  /// FCM's name of the push that it took.
  var name: String? { if case .sent(let name) = verdict { name } else { nil } }

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

extension PushAnswer {
  /// Every value of `verdictName`.
  static let verdictNames = [
    "sent", "invalid_token", "sender_mismatch", "subscription_refused", "rejected", "project_refused",
    "platform_refused", "quota_device",
    "quota_project", "server_failed", "unreachable", "not_sent",
  ]

  /// The verdict as a label of metrics.
  var verdictName: String {
    switch verdict {
    case .sent: "sent"
    case .invalidToken: "invalid_token"
    case .senderMismatch: "sender_mismatch"
    case .subscriptionRefused: "subscription_refused"
    case .rejected: "rejected"
    case .projectRefused: "project_refused"
    case .platformRefused: "platform_refused"
    case .quotaExceeded(.device): "quota_device"
    case .quotaExceeded(.project): "quota_project"
    case .serverFailed: "server_failed"
    case .unreachable: "unreachable"
    case .notSent: "not_sent"
    }
  }
}
