/// A moment by which something must be done, by a clock that runs while the machine sleeps.
struct Deadline: Comparable {
  private let end: ContinuousClock.Instant

  init(after timeout: Duration) { end = .now + timeout }

  /// What is left; zero when it is past.
  var remaining: Duration { max(.zero, ContinuousClock.Instant.now.duration(to: end)) }
  var isPast: Bool { remaining == .zero }

  /// What is left in whole milliseconds, rounded up, so that a wait for it is not over before.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = remaining.components
    return Int32(clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }

  static func < (a: Deadline, b: Deadline) -> Bool { a.end < b.end }
}
