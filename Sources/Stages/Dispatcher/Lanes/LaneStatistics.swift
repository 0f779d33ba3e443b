public import NudgeSchema

/// How the lanes of a task stand.
public struct LaneStatistics: Sendable, Equatable {
  /// Pushes that wait or are in the air, each with its device.
  public var waiting = 0
  /// About the bytes they take.
  public var bytes = 0
  /// Devices they are for.
  public var lanes = 0
  /// Requests in the air.
  public var inFlight = 0
  /// Since when the lane that has had something for longest has had it: when its first push was decided; nil: no lane has
  /// anything. Looked at every few seconds.
  public var oldestSince: Milliseconds?
  /// Paused projects and platforms, by why.
  public var pauses: [String: Int] = [:]
  /// Open breakers over invalid tokens.
  public var openBreakers = 0

  /// Nothing waits.
  public init() {}

  /// All of these together.
  public static func + (a: LaneStatistics, b: LaneStatistics) -> LaneStatistics {
    var sum = a
    sum.waiting += b.waiting
    sum.bytes += b.bytes
    sum.lanes += b.lanes
    sum.inFlight += b.inFlight
    sum.oldestSince = [a.oldestSince, b.oldestSince].compactMap { $0 }.min()
    sum.pauses.merge(b.pauses, uniquingKeysWith: +)
    sum.openBreakers += b.openBreakers
    return sum
  }
}
