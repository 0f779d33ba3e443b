public import NudgeSchema

/// The state of a task's lanes.
public struct LaneStatistics: Sendable, Equatable {
  /// Pushes in flight or waiting, counted for each device.
  public var waiting = 0
  /// Approximate bytes of these pushes.
  public var bytes = 0
  /// Devices of these pushes.
  public var lanes = 0
  /// Requests in flight.
  public var inFlight = 0
  /// When the first push of the oldest lane was decided; nil: there are no lanes. Updated every few seconds.
  public var oldestSince: Milliseconds?
  /// Open breakers of projects and platforms, by reason.
  public var openBreakers: [String: Int] = [:]
  /// Open breakers of the webhook: it refuses, and probes go out now and then.
  public var webhookPauses = 0
  /// Open breakers of Web Push services.
  public var webPushPauses = 0
  /// Breakers that are open because of invalid tokens, whatever their reason is by now.
  public var tokenTrials = 0
  /// Whether the lanes of a thread are full, so that it reads no more pushes.
  public var isFull = false
  /// How often the rows of a lane were looked at since the task began.
  public var looks = 0

  public init() {}

  /// The sum; of times the earlier one.
  public static func + (a: LaneStatistics, b: LaneStatistics) -> LaneStatistics {
    var sum = a
    sum.waiting += b.waiting
    sum.bytes += b.bytes
    sum.lanes += b.lanes
    sum.inFlight += b.inFlight
    sum.oldestSince = [a.oldestSince, b.oldestSince].compactMap { $0 }.min()
    sum.openBreakers.merge(b.openBreakers, uniquingKeysWith: +)
    sum.tokenTrials += b.tokenTrials
    sum.webhookPauses += b.webhookPauses
    sum.webPushPauses += b.webPushPauses
    sum.looks += b.looks
    sum.isFull = a.isFull || b.isFull
    return sum
  }
}
