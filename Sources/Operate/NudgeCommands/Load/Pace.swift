/// When the messages of a load are due: on a schedule fixed at its start, so that a late one makes none of the others late.
struct Pace: Sendable {
  /// Messages a second, as time goes by.
  let shape: LoadShape
  private let start: ContinuousClock.Instant

  /// A schedule whose first message is due at `start`.
  init(_ shape: LoadShape, start: ContinuousClock.Instant) {
    self.shape = shape
    self.start = start
  }

  /// When a message is due, counted from 0.
  func due(_ message: Int) -> ContinuousClock.Instant { start + .seconds(shape.due(message)) }
}
