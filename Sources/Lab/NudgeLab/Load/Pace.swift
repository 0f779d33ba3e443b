/// The times at which messages are due: fixed at the start, so that a late message delays no other.
struct Pace: Sendable {
  /// The rate over time.
  let shape: LoadShape
  private let start: ContinuousClock.Instant

  /// The first message is due at `start`.
  init(_ shape: LoadShape, start: ContinuousClock.Instant) {
    self.shape = shape
    self.start = start
  }

  /// When a message, counted from 0, is due.
  func due(_ message: Int) -> ContinuousClock.Instant { start + .seconds(shape.due(message)) }
}
