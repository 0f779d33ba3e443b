public import NudgeSchema

/// How long a push waits before it is sent again (P3): exponential backoff with full jitter above a floor.
public struct Backoff: Sendable, Equatable {
  /// No wait is shorter, in milliseconds.
  public var floor: Milliseconds
  /// The jitter reaches up to here, in milliseconds. Only what the server asked for is longer.
  public var cap: Milliseconds
  /// `retryAfter` counts also where it is shorter than the floor.
  public var believesShorterWaits = false

  /// 5xx: Google asks for 10 s at least.
  public static let server = Backoff(floor: 10_000, cap: 300_000)
  /// No answer at all: 1 s is allowed.
  public static let connection = Backoff(floor: 1_000, cap: 300_000)
  /// 429: what FCM asks for, a second at least. Without `Retry-After` a minute, which is what quotas are counted by.
  public static let quota = Backoff(floor: 60_000, cap: 300_000, believesShorterWaits: true)

  /// A backoff; times in milliseconds.
  public init(floor: Milliseconds, cap: Milliseconds, believesShorterWaits: Bool = false) {
    self.floor = floor
    self.cap = cap
    self.believesShorterWaits = believesShorterWaits
  }

  /// The wait before the request after `attempt` (from 1), in milliseconds. `retryAfter` raises the floor; `jitter` is
  /// in 0..<1. What the server named as a time is spread too: thousands of lanes were told the same.
  public func wait(after attempt: Int, retryAfter: Milliseconds? = nil, jitter: Double) -> Milliseconds {
    let base = believesShorterWaits ? max(retryAfter ?? floor, 1_000) : floor
    let least = max(base, retryAfter ?? 0)
    let doublings = min(max(attempt, 1), 20)
    let ceiling = min(cap, base << Int64(doublings))
    let spread = max(ceiling - least, least / 10)
    return least + Milliseconds(Double(spread) * jitter)
  }
}

/// Jitter that is a function of what waits, so that the same state decides the same wait.
enum Jitter {
  /// A number in 0..<1 for a push, a device and an attempt.
  static func value(pushId: String, deviceId: String, attempt: Int) -> Double {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
    func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    for byte in pushId.utf8 { add(byte) }
    add(0)
    for byte in deviceId.utf8 { add(byte) }
    hash = hash &+ UInt64(truncatingIfNeeded: attempt) &* 0x9e37_79b9_7f4a_7c15
    // FNV's upper bits change little with the last bytes; splitmix64's finish spreads them.
    hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
    hash ^= hash >> 31
    return Double(hash >> 11) / Double(1 << 53)
  }
}
