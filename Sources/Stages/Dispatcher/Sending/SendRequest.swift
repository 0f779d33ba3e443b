public import NudgeSchema
public import StreamRuntime

/// One request to FCM: the dispatcher's effect.
public struct SendRequest: Sendable {
  /// The push and device of a request.
  public struct Subject: Sendable, Equatable {
    public var userId: String
    /// The person's device.
    public var deviceId: String
    public var pushId: String
    /// Counts the requests for this push and device, from 1. After a crash it counts requests that were never made, too.
    public var attempt: Int

    public init(userId: String, deviceId: String, pushId: String, attempt: Int) {
      self.userId = userId
      self.deviceId = deviceId
      self.pushId = pushId
      self.attempt = attempt
    }
  }

  /// Carried back by the reply; unique among the requests of one stage instance.
  public var id: UInt64
  /// Where it goes.
  public var destination: Destination
  /// Its push and device.
  public var subject: Subject
  /// FCM's registration token, or the endpoint of a subscription. Never logged (T4).
  public var token: String
  /// The body of `messages:send`, or the message for a subscription before it is sealed; UTF-8 JSON.
  public var body: [UInt8]
  /// By the steady clock: where the request has not left by then, it is answered as `notSent`, and the stage looks again
  /// whether the push may be sent; nil: it may leave at any time.
  public var leaveBy: Milliseconds?
  /// The request leaves only while this is valid; nil: always.
  public var lease: SendLease?
  /// When the message was written, in milliseconds since the epoch; nil: the push is of no message, or a replay asked for
  /// it.
  public var messageAt: Milliseconds?
  /// How much the push matters: the label of its latency.
  public var priority: Priority
  /// The trace context of the push; nil: it has none.
  public var traceparent: String?
  /// Identifies the push and device over assignments of the task; nil: a reply after the task was lost is dropped.
  public var ticket: EffectTicket?
  /// The part that is for a Web Push service; nil: the request goes elsewhere.
  var webPush: WebPushDelivery?
  /// The data that goes into the body sealed; nil: the body is whole.
  var sealed: SealedData?

  public init(
    id: UInt64, destination: Destination, subject: Subject, token: String, body: [UInt8], leaveBy: Milliseconds? = nil,
    lease: SendLease? = nil, messageAt: Milliseconds? = nil, priority: Priority = .high,
    traceparent: String? = nil,
    ticket: EffectTicket? = nil
  ) {
    self.id = id
    self.destination = destination
    self.subject = subject
    self.token = token
    self.body = body
    self.leaveBy = leaveBy
    self.lease = lease
    self.messageAt = messageAt
    self.priority = priority
    self.traceparent = traceparent
    self.ticket = ticket
  }

  init(
    id: UInt64, destination: Destination, subject: Subject, token: String, body: [UInt8], leaveBy: Milliseconds? = nil,
    lease: SendLease? = nil, messageAt: Milliseconds? = nil, priority: Priority = .high, traceparent: String? = nil,
    ticket: EffectTicket? = nil, webPush: WebPushDelivery?, sealed: SealedData? = nil
  ) {
    self.init(
      id: id, destination: destination, subject: subject, token: token, body: body, leaveBy: leaveBy, lease: lease,
      messageAt: messageAt, priority: priority, traceparent: traceparent, ticket: ticket)
    (self.webPush, self.sealed) = (webPush, sealed)
  }

  /// Whether it may leave at a time of the steady clock.
  func mayLeave(at now: Milliseconds) -> Bool { lease?.isValid ?? true && leaveBy.map { now <= $0 } ?? true }
}

// A request holds a token and a message's text; printing one by accident must show neither.
extension SendRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Id, attempt and size.
  public var description: String { "send \(id), attempt \(subject.attempt), \(body.count) bytes" }
  /// As `description`.
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["id": id, "attempt": subject.attempt]) }
}
