extension Duration {
  /// Whole milliseconds, rounded up so that a short wait does not become 0; from 0 to the maximum of librdkafka's `int`.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds > 2_000_000 { return 2_000_000_000 }
    return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

/// Deadlines are moments of this clock, which also runs while the machine sleeps.
extension ContinuousClock.Instant {
  /// The time left; zero once it is past.
  var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: self)) }
  var isPast: Bool { remaining == .zero }
}
