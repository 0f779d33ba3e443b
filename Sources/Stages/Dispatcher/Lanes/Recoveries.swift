import NudgeSchema

/// The destinations that work again: one task of a stream thread finds out, and all tasks send. Times are of the steady clock.
struct Recoveries: Sendable {
  /// A finding of a task.
  struct Recovery: Hashable, Sendable {
    enum Kind: Sendable {
      /// After failures that lasted there is a judgement again.
      case judges
      /// A breaker closed.
      case takes
    }
    var scope: DeliveryScope
    var kind: Kind
  }

  /// Pushes that are tried again after a recovery leave within this time.
  static let spread: Milliseconds = 5_000
  /// So often a task asks whether another one has found out.
  static let interval: Milliseconds = 2_000

  /// How many there were.
  private(set) var count = 0
  /// The number of the last one of each.
  private var last: [Recovery: Int] = [:]

  mutating func record(_ scope: DeliveryScope, _ kind: Recovery.Kind) {
    count += 1
    last[Recovery(scope: scope, kind: kind)] = count
  }

  /// Ends the waits of a task for what works again since there were `number`, spread by its next request.
  func apply(
    since number: Int, to schedule: inout LaneSchedule, _ breakers: inout CircuitBreakers, nextRequest: UInt64,
    now: Milliseconds
  ) {
    guard number < count else { return }
    for recovery in last.filter({ $0.value > number }).keys {
      switch recovery.kind {
      case .judges: schedule.hurry(recovery.scope.project, now: now, spread: Self.spread)
      case .takes:
        let share = Milliseconds(FNV1a.spread(nextRequest) % UInt64(Self.spread))
        breakers.hurry(recovery.scope, until: now + share)
      }
    }
  }
}

extension SendLimits {
  /// When a task should look whether a destination is to be tried, or works again; nil: none of its pushes waits for that.
  ///
  /// - Parameters:
  ///   - hasRetries: a push of it is to be tried again.
  ///   - hasBreakers: a breaker of it is open.
  func nextLook(hasRetries: Bool, hasBreakers: Bool, now: Milliseconds) -> Milliseconds? {
    let next = hasRetries ? failing.nextLook(now: now) : nil
    guard tasks > 1, next != nil || hasBreakers else { return next }
    return min(next ?? .max, now + Recoveries.interval)
  }
}
