import HTTPTransport
public import NudgeSchema
import ServiceKit
public import StreamRuntime
import Synchronization

/// One request to a push service: the dispatcher's effect.
public struct SendRequest: Sendable {
  /// The push and device of a request.
  public struct Subject: Sendable, Equatable {
    public var userId: String
    /// The person's device.
    public var deviceId: String
    public var pushId: String
    /// The number of requests for this push and device, from 1. After a crash it includes requests that were never made.
    public var attempt: Int
  }

  /// Identifies the reply. It is unique among the requests of one stage instance.
  public var id: UInt64
  /// Where the request goes.
  public var destination: Destination
  /// The push and device of the request.
  public var subject: Subject
  /// FCM's registration token, or the endpoint of a subscription. Never log it (T4).
  public var token: String
  /// The body of `messages:send`, or the unencrypted message for a subscription; UTF-8 JSON.
  public var body: [UInt8]
  /// The time on the steady clock by which the request must leave. Otherwise it is answered as `notSent`, and the stage checks again
  /// whether the push may be sent. Nil if it may leave at any time.
  public var leaveBy: Milliseconds?
  /// The request leaves only while this lease is valid; nil if it needs none.
  public var lease: SendLease?
  /// When the message was written, in milliseconds since the epoch; nil if the push has no message or comes from a replay.
  public var messageAt: Milliseconds?
  /// The push's priority, which labels its latency in metrics.
  public var priority: Priority = .high
  /// The trace context of the push; nil if it has none.
  public var traceparent: String?
  /// Identifies the push and device across assignments of the task. If nil, a reply after the task was lost is dropped.
  public var ticket: EffectTicket?
  /// The part for a Web Push service; nil for other destinations.
  var webPush: WebPushDelivery?
  /// The data that is encrypted into the body; nil if the body is complete.
  var sealed: SealedData?

  /// Whether the request may leave at a time on the steady clock.
  func mayLeave(at now: Milliseconds) -> Bool { lease?.isValid != false && now <= (leaveBy ?? .max) }

  /// A request that leaves only while this one may.
  func held(_ request: HTTPRequest, by clocks: Clocks) -> HTTPRequest {
    guard leaveBy != nil || lease != nil else { return request }
    var request = request
    request.mayStart = { mayLeave(at: clocks.steady()) }
    return request
  }
}

// A request contains a token and a message's text. Printing it by accident must reveal neither.
extension SendRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Id, attempt and size.
  public var description: String { "send \(id), attempt \(subject.attempt), \(body.count) bytes" }
  /// As `description`.
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["id": id, "attempt": subject.attempt]) }
}

/// The answer to a `SendRequest`, or the reason why there is none.
public struct SendReply: Sendable, Equatable {
  public var id: UInt64
  public var answer: PushAnswer
  /// The number of requests made: 0 if none left the process, 2 if the access token was refreshed in between.
  public var requests: Int
  /// When the first request was made, by the wall clock.
  public var startedAt: Milliseconds
  /// When the answer arrived, by the wall clock.
  public var finishedAt: Milliseconds

  public init(
    id: UInt64, answer: PushAnswer, requests: Int = 1, startedAt: Milliseconds, finishedAt: Milliseconds
  ) {
    self.id = id
    self.answer = answer
    self.requests = requests
    self.startedAt = startedAt
    self.finishedAt = finishedAt
  }
}

/// The right to send, from when a stream thread takes a task over until it gives the task up. It is checked right before a request leaves,
/// so that waiting requests of this process are not sent in addition to those of the task's next owner (P7).
public final class SendLease: Sendable {
  private let isRevoked = Atomic<Bool>(false)

  /// A valid lease.
  public init() {}

  var isValid: Bool { !isRevoked.load(ordering: .acquiring) }

  func revoke() { isRevoked.store(true, ordering: .releasing) }
}

extension WaitingPush {
  /// Identifies a push and its device. It stays the same after the task was lost and its rows or its record are read again, even in another
  /// process.
  struct EffectKey: Equatable {
    var userId: String
    var deviceId: String
    var pushId: String
    /// The push's own origin.
    var cause: Origin

    init(userId: String, deviceId: String, pushId: String, cause: Origin) {
      (self.userId, self.deviceId, self.pushId, self.cause) = (userId, deviceId, pushId, cause)
    }

    /// Nil if `rowKey` did not create the key.
    init?(_ key: RowKey) {
      let parts = key.parts
      guard parts.count == 8, let partition = Int32(parts[4]), let offset = Int64(parts[5]),
        let index = Int32(parts[6]), let generation = Int32(parts[7])
      else { return nil }
      self.init(
        userId: parts[0], deviceId: parts[1], pushId: parts[2],
        cause: Origin(
          topic: parts[3], partition: partition, offset: offset, index: index == 0 ? nil : index,
          generation: generation == 0 ? nil : generation))
    }

    var device: DeviceKey { DeviceKey(userId: userId, deviceId: deviceId) }

    var rowKey: RowKey {
      RowKey(
        userId, deviceId, pushId, cause.topic, String(cause.partition), String(cause.offset), String(cause.index ?? 0),
        String(cause.generation ?? 0))
    }
  }

  /// Identifies the effect of this push across assignments of its task.
  var effectKey: RowKey {
    EffectKey(userId: push.userId, deviceId: target.deviceId, pushId: push.pushId, cause: cause).rowKey
  }
}

/// Sends HTTP requests. Tests use a stand-in.
protocol HTTPSending: Sendable {
  /// Calls `completion` exactly once, on any thread.
  func send(_ request: HTTPRequest, completion: @escaping HTTPClient.Completion)

  /// Opens connections to the host of a URL before the first request.
  func warmUp(_ url: String)
}

extension HTTPClientGroup: HTTPSending {}

/// The clocks of a process.
struct Clocks: Sendable {
  /// Milliseconds since the epoch.
  var wall: @Sendable () -> Milliseconds = { SystemClock.milliseconds() }
  /// Milliseconds of a clock that never jumps and continues while the machine sleeps.
  var steady: @Sendable () -> Milliseconds = { SystemClock.steadyMilliseconds() }
}
