import Foundation

/// A moment by which something must be done, on a clock that also runs while the machine sleeps.
struct Deadline: Comparable {
  private let end: ContinuousClock.Instant

  init(after timeout: Duration) { end = .now + timeout }

  /// The time left; zero once it is past.
  var remaining: Duration { max(.zero, ContinuousClock.Instant.now.duration(to: end)) }
  var isPast: Bool { remaining == .zero }

  /// The time left in whole milliseconds, rounded up so that a wait of that length ends after the deadline.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = remaining.components
    return Int32(clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }

  /// Sleeps until the deadline, or until the other one if that is earlier.
  func wait(atMost limit: Deadline) {
    let (seconds, attoseconds) = min(self, limit).remaining.components
    guard seconds > 0 || attoseconds > 0 else { return }
    Thread.sleep(forTimeInterval: Double(seconds) + Double(attoseconds) * 1e-18)
  }

  static func < (a: Deadline, b: Deadline) -> Bool { a.end < b.end }
}
