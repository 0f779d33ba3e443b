import NudgeSchema

/// How many requests a task has in flight: fewer where requests wait in the process for longer than they may, one more with
/// each answer.
struct FlightWindow {
  private static let least = 64
  /// Requests that wait too long do so in groups; a group counts once.
  private static let shrinkInterval: Milliseconds = 1_000
  private let limit: Int
  private(set) var size: Int
  private var shrunkAt: Milliseconds?

  init(limit: Int) {
    self.limit = limit
    size = limit
  }

  /// A request waited in the process for longer than it may.
  mutating func shrink(inFlight: Int, now: Milliseconds) {
    if let shrunkAt, now - shrunkAt < Self.shrinkInterval { return }
    shrunkAt = now
    size = min(size, max(inFlight / 2, Self.least))
  }

  /// A request was answered.
  mutating func grow() { size = min(size + 1, limit) }
}
