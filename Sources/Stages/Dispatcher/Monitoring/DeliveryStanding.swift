public import NudgeSchema

/// How the pushes that have no outcome yet stand: the one rule by which the dispatcher's log, `/readyz`, `nudge doctor`, `nudge lag` and the
/// console say that pushes do not leave. Times in milliseconds.
public struct DeliveryStanding: Sendable, Equatable {
  /// Pushes without an outcome, counted for each device.
  public var waiting: Int
  /// The age of the oldest of them, since it was decided; nil: none waits.
  public var oldestAge: Milliseconds?
  /// Since the destination last judged a push: took it, or refused it for good; nil: not in the time that was looked at.
  public var sinceJudged: Milliseconds?

  /// So long a push may wait while none is judged: FCM's slow answers, and the first tries again, end earlier.
  public static let patience: Milliseconds = 10_000
  /// So long a push may wait while others are judged: behind others of its device, or for a quota.
  public static let longestWait: Milliseconds = 60_000

  /// - Parameters:
  ///   - waiting: Pushes without an outcome.
  ///   - oldestAge: Of the oldest of them.
  ///   - sinceJudged: Since the destination last judged one.
  public init(waiting: Int, oldestAge: Milliseconds?, sinceJudged: Milliseconds?) {
    self.waiting = waiting
    self.oldestAge = oldestAge
    self.sinceJudged = sinceJudged
  }

  /// Pushes do not leave: some have waited for longer than is usual.
  public var isStanding: Bool {
    guard waiting > 0, let oldestAge else { return false }
    if oldestAge >= Self.longestWait { return true }
    return oldestAge >= Self.patience && (sinceJudged ?? .max) >= Self.patience
  }
}

/// Tells when pushes begin to stand, that they still do, and when they leave again. A value: it is told how they stand.
struct DeliveryWatch {
  enum Change: Equatable {
    case began
    /// Another minute has passed.
    case goesOn
    /// `lasted`: in milliseconds.
    case ended(lasted: Milliseconds)
  }

  private static let interval: Milliseconds = 60_000

  /// nil: pushes leave.
  private(set) var since: Milliseconds?
  private var reportedAt: Milliseconds = 0

  /// - Parameter now: The steady clock.
  mutating func look(_ standing: DeliveryStanding, now: Milliseconds) -> Change? {
    guard standing.isStanding else {
      guard let since else { return nil }
      self.since = nil
      return .ended(lasted: now - since)
    }
    guard since != nil else {
      since = now
      reportedAt = now
      return .began
    }
    guard now - reportedAt >= Self.interval else { return nil }
    reportedAt = now
    return .goesOn
  }
}
