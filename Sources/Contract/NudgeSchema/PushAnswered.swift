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
