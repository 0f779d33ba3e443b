public import NudgeSchema

/// Decides whether a push ends after an answer or is sent again. It depends only on the push, the answer and the time.
enum RetryPolicy {
  enum Decision: Equatable {
    /// The push ends with this result.
    case end(OutcomeResult)
    /// The push ends as cancelled: it was withdrawn while its request was in flight, and the request failed.
    case endWithdrawn
    /// The push is sent again, at the earliest `after` milliseconds from now. Its time budget runs from `failingSince`.
    case sendAgain(after: Milliseconds, failingSince: Milliseconds?)
  }

  /// - Parameters:
  ///   - item: The push, with the answer counted in its attempts.
  ///   - isDoubted: Whether the answer calls the token invalid and is not believed.
  static func decide(
    _ item: WaitingPush, after reply: SendReply, isDoubted: Bool, now: Milliseconds, rules: DispatcherRules
  ) -> Decision {
    // The breaker determines the wait.
    if isDoubted { return sendAgain(item, after: 0, failingSince: item.failingSince, now) }
    switch reply.answer.verdict {
    case .sent: return .end(.sent)
    case .invalidToken: return .end(.invalidToken)
    case .senderMismatch: return .end(.quarantined)
    case .rejected: return .end(.rejected)
    case .projectRefused, .platformRefused, .quotaExceeded(.project):
      // The breaker determines the wait. The push is not at fault, so its time budget restarts.
      return sendAgain(item, after: 0, failingSince: nil, now)
    case .notSent:
      // Nothing is known about FCM's answer: the push is checked again, and sent if it still may be.
      return sendAgain(item, after: 0, failingSince: item.failingSince, now)
    case .quotaExceeded(.device), .subscriptionRefused: return backOff(item, .quota, reply, now, rules)
    case .serverFailed: return backOff(item, .server, reply, now, rules)
    case .unreachable: return backOff(item, .connection, reply, now, rules)
    }
  }

  private static func backOff(
    _ item: WaitingPush, _ backoff: Backoff, _ reply: SendReply, _ now: Milliseconds, _ rules: DispatcherRules
  ) -> Decision {
    let jitter = Jitter.value(pushId: item.push.pushId, deviceId: item.target.deviceId, attempt: item.attempts)
    let wait = backoff.wait(after: item.attempts, retryAfter: reply.answer.retryAfter, jitter: jitter)
    // A stored time in the future comes from a wall clock that was ahead.
    let since = min(item.failingSince ?? reply.startedAt, now)
    // An escalation is retried for as long as it is fresh.
    if item.withdrawn == nil, !item.isEscalation, now + wait > since + rules.timeBudget { return .end(.gaveUp) }
    return sendAgain(item, after: wait, failingSince: since, now)
  }

  private static func sendAgain(
    _ item: WaitingPush, after wait: Milliseconds, failingSince: Milliseconds?, _ now: Milliseconds
  ) -> Decision {
    if item.withdrawn != nil { return .endWithdrawn }
    if now + wait > item.push.expiresAt { return .end(item.attempts == 0 ? .expired : .gaveUp) }
    return .sendAgain(after: wait, failingSince: failingSince)
  }
}

/// The wait before a push is sent again (P3): exponential backoff with full jitter above a floor.
public struct Backoff: Sendable, Equatable {
  /// The shortest wait, in milliseconds.
  public var floor: Milliseconds
  /// The upper end of the jitter, in milliseconds, and the most that a server may ask for.
  public var cap: Milliseconds
  /// Whether a `retryAfter` below the floor is accepted.
  public var believesShorterWaits = false

  private static let longestCap: Milliseconds = 300_000
  /// The longest wait of all backoffs.
  static let longestWait = longestCap + longestCap / 10

  /// For 5xx, Google asks for at least 10 s.
  public static let server = Backoff(floor: 10_000, cap: longestCap)
  /// Without an answer, 1 s is allowed.
  public static let connection = Backoff(floor: 1_000, cap: longestCap)
  /// For 429: as long as FCM asks for, but at least a second. Without `Retry-After` it is a minute, because quotas are per minute.
  public static let quota = Backoff(floor: 60_000, cap: longestCap, believesShorterWaits: true)

  /// The wait in milliseconds before the request that follows `attempt` (from 1). `retryAfter` raises the floor; `jitter` is in 0..<1.
  /// Jitter also applies to `retryAfter`, because thousands of lanes received the same value.
  public func wait(after attempt: Int, retryAfter: Milliseconds? = nil, jitter: Double) -> Milliseconds {
    // The lane retries after the cap even if the service asked for more, which may have been meant for one request, or be a date in another
    // century.
    let retryAfter = retryAfter.map { min($0, cap) }
    let base = believesShorterWaits ? max(retryAfter ?? floor, 1_000) : floor
    let least = max(base, retryAfter ?? 0)
    let doublings = min(max(attempt, 1), 20)
    let ceiling = min(cap, base << Int64(doublings))
    let spread = max(ceiling - least, least / 10)
    return least + Milliseconds(Double(spread) * jitter)
  }
}

/// Jitter as a function of push, device and attempt, so that the same state leads to the same wait.
enum Jitter {
  /// A number in 0..<1 for a push, a device and an attempt.
  static func value(pushId: String, deviceId: String, attempt: Int) -> Double {
    var hash = FNV1a()
    hash.combine(pushId.utf8)
    hash.combine(0 as UInt8)
    hash.combine(deviceId.utf8)
    let bits = FNV1a.spread(hash.value &+ UInt64(truncatingIfNeeded: attempt) &* 0x9e37_79b9_7f4a_7c15)
    return Double(bits >> 11) / Double(1 << 53)
  }
}
