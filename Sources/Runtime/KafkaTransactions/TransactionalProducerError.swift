import Foundation

/// An error of the transactional producer: the operation and the reason. Never contains secrets.
public struct TransactionalProducerError: Error, Equatable, CustomStringConvertible {
  /// Whether a retry can succeed.
  public enum Kind: Sendable, Equatable {
    /// The same call may succeed later: a broker is unavailable or slow.
    case passing
    /// The call fails until a setting, a permission or the broker is changed.
    case refused
  }

  /// Whether a retry can succeed.
  public let kind: Kind
  public let operation: String
  /// The reason and, if known, the remedy.
  public let reason: String
  /// Whether a permission is missing.
  public let isAuthorization: Bool

  init(_ kind: Kind, _ operation: String, _ reason: String, isAuthorization: Bool = false) {
    self.kind = kind
    self.operation = operation
    self.reason = reason
    self.isAuthorization = isAuthorization
  }

  /// Operation and reason, in one line.
  public var description: String { "\(operation): \(reason)" }
}

/// A moment by which something must be done, on a clock that also runs while the machine sleeps.
struct Deadline: Comparable {
  private let end: ContinuousClock.Instant

  init(after timeout: Duration) { end = .now + timeout }

  /// The time left. Zero once the deadline is past.
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
