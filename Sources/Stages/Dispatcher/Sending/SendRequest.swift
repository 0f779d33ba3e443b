public import NudgeSchema
public import StreamRuntime

/// One request to FCM: an effect of the dispatcher's.
public struct SendRequest: Sendable, Equatable {
  /// Carried back by the reply; unique among the requests of one stage instance.
  public var id: UInt64
  /// The FCM project the token belongs to; nil: the dispatcher's own.
  public var projectId: String?
  /// The device.
  public var deviceId: String
  /// FCM's registration token. Never logged (T4).
  public var token: String
  /// Which request for this push and device it is, from 1. More than were made where a process died before it sent one.
  public var attempt: Int
  /// The body of `messages:send`, UTF-8 JSON.
  public var body: [UInt8]
  /// When the message was written that it tells of, in milliseconds since the epoch; nil: it tells of none, or a replay
  /// asked for it.
  public var messageAt: Milliseconds?
  /// The trace of its push; nil: it has none.
  public var traceparent: String?
  /// Identifies the push and device over assignments of the task; nil: a reply after the task was lost is dropped.
  public var ticket: EffectTicket?

  /// A request.
  public init(
    id: UInt64, projectId: String?, deviceId: String, token: String, attempt: Int, body: [UInt8],
    messageAt: Milliseconds? = nil, traceparent: String? = nil, ticket: EffectTicket? = nil
  ) {
    self.id = id
    self.projectId = projectId
    self.deviceId = deviceId
    self.token = token
    self.attempt = attempt
    self.body = body
    self.messageAt = messageAt
    self.traceparent = traceparent
    self.ticket = ticket
  }
}

// A request holds a token and a message's text: printing one, by accident or in an error, must show neither.
extension SendRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Id, attempt and size.
  public var description: String { "send \(id), attempt \(attempt), \(body.count) bytes" }
  /// As `description`.
  public var debugDescription: String { description }
  /// Id and attempt.
  public var customMirror: Mirror { Mirror(self, children: ["id": id, "attempt": attempt]) }
}
