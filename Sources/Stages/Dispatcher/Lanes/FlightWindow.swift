import NudgeSchema

/// How many requests a task has in flight: fewer where requests wait in the process for longer than they may, one more with each
/// round of answers, as a congestion window of TCP without a slow start (RFC 5681, section 3.1). It shrinks to seven tenths
/// (RFC 9438, section 4.6), so that the connections stay busy meanwhile.
struct FlightWindow {
  /// Requests that wait too long do so in groups; a group counts once.
  private static let shrinkInterval: Milliseconds = 1_000
  /// The smallest window: a task sends also where FCM takes seconds.
  static let least = 8

  private let limit: Int
  private(set) var size: Int
  /// Answers since the window last grew.
  private var answers = 0
  private var shrunkAt: Milliseconds?

  init(limit: Int) {
    self.limit = limit
    size = limit
  }

  /// A request waited in the process for longer than it may.
  mutating func shrink(inFlight: Int, now: Milliseconds) {
    if let shrunkAt, now - shrunkAt < Self.shrinkInterval { return }
    shrunkAt = now
    answers = 0
    size = min(size, max(inFlight * 7 / 10, Self.least))
  }

  /// A request was answered. A window of answers makes room for one more request: with one more for each answer, the window
  /// would double with each round, and half of all requests would wait in vain.
  mutating func grow() {
    guard size < limit else { return }
    answers += 1
    if answers >= size {
      answers = 0
      size += 1
    }
  }
}
