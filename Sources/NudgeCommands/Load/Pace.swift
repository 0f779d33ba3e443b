/// When the messages of a load are due: on a schedule fixed at its start, so that a late one makes none of the others late.
struct Pace: Sendable {
  /// Messages a second.
  let rate: Double
  private let start: ContinuousClock.Instant

  /// A schedule whose first message is due at `start`.
  init(rate: Double, start: ContinuousClock.Instant) {
    self.rate = rate
    self.start = start
  }

  /// When a message is due, counted from 0.
  func due(_ message: Int) -> ContinuousClock.Instant { start + .seconds(Double(message) / rate) }
}
