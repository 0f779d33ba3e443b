public import NudgeSchema

/// The wait before a push is sent again (P3): exponential backoff with full jitter above a floor.
public struct Backoff: Sendable, Equatable {
  /// The shortest wait, in milliseconds.
  public var floor: Milliseconds
  /// The upper end of the jitter, in milliseconds, and the most that a server may ask for.
  public var cap: Milliseconds
  /// A `retryAfter` shorter than the floor counts.
  public var believesShorterWaits = false

  private static let longestCap: Milliseconds = 300_000
  /// The longest wait that any of them gives.
  static let longestWait = longestCap + longestCap / 10

  /// 5xx: Google asks for 10 s at least.
  public static let server = Backoff(floor: 10_000, cap: longestCap)
  /// No answer: 1 s is allowed.
  public static let connection = Backoff(floor: 1_000, cap: longestCap)
  /// 429: as long as FCM asks for, and a second at least. Without `Retry-After` a minute, because quotas are per minute.
  public static let quota = Backoff(floor: 60_000, cap: longestCap, believesShorterWaits: true)

  /// A backoff; times in milliseconds.
  public init(floor: Milliseconds, cap: Milliseconds, believesShorterWaits: Bool = false) {
    self.floor = floor
    self.cap = cap
    self.believesShorterWaits = believesShorterWaits
  }

  /// The wait in milliseconds before the request that follows `attempt` (from 1). `retryAfter` raises the floor; `jitter` is
  /// in 0..<1. Jitter applies to `retryAfter` too, because thousands of lanes got the same value.
  public func wait(after attempt: Int, retryAfter: Milliseconds? = nil, jitter: Double) -> Milliseconds {
    // One that asks for more is asked again all the same: it may have meant one request, or a date in another century.
    let retryAfter = retryAfter.map { min($0, cap) }
    let base = believesShorterWaits ? max(retryAfter ?? floor, 1_000) : floor
    let least = max(base, retryAfter ?? 0)
    let doublings = min(max(attempt, 1), 20)
    let ceiling = min(cap, base << Int64(doublings))
    let spread = max(ceiling - least, least / 10)
    return least + Milliseconds(Double(spread) * jitter)
  }
}

/// Jitter as a function of push, device and attempt: the same state leads to the same wait.
enum Jitter {
  /// A number in 0..<1 for a push, a device and an attempt.
  static func value(pushId: String, deviceId: String, attempt: Int) -> Double {
    var hash = FNV1a()
    hash.combine(pushId.utf8)
    hash.combine(0 as UInt8)
    hash.combine(deviceId.utf8)
    let bits = FNV1a.spread(hash.value &+ UInt64(truncatingIfNeeded: attempt) &* 0x9e37_79b9_7f4a_7c15)
    return Double(bits >> 11) / Double(1 << 53)
  }
}
