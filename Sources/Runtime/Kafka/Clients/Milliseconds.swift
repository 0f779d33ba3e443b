extension Duration {
  /// Whole milliseconds, rounded up so that a short wait does not become 0; from 0 to the maximum of librdkafka's `int`.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds > 2_000_000 { return 2_000_000_000 }
    return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

/// A moment by which something must be done.
struct Deadline {
  private let end: ContinuousClock.Instant

  init(after timeout: Duration) { end = .now + timeout }

  /// The time left; zero once it is past.
  var remaining: Duration { max(.zero, ContinuousClock.Instant.now.duration(to: end)) }
  var isPast: Bool { remaining == .zero }
}
