import NudgeSchema

/// Decides whether a push ends after FCM's answer or is sent again: a function of the push, the answer and the time.
enum RetryPolicy {
  enum Decision: Equatable {
    /// It ends with this result.
    case end(OutcomeResult)
    /// It ends as cancelled: it was withdrawn while its request was in flight, and that request failed.
    case endWithdrawn
    /// It is sent again, `after` milliseconds from now at the earliest. Its time budget runs from `failingSince`.
    case sendAgain(after: Milliseconds, failingSince: Milliseconds?)
  }

  /// - Parameters:
  ///   - item: with the answer counted in its attempts.
  ///   - isDoubted: the answer calls the token invalid and is not believed.
  static func decide(
    _ item: WaitingPush, after reply: SendReply, isDoubted: Bool, now: Milliseconds, rules: DispatcherRules
  ) -> Decision {
    // It waits for the breaker.
    if isDoubted { return sendAgain(item, after: 0, failingSince: item.failingSince, now) }
    switch reply.answer.verdict {
    case .sent: return .end(.sent)
    case .invalidToken: return .end(.invalidToken)
    case .senderMismatch: return .end(.quarantined)
    case .rejected: return .end(.rejected)
    case .projectRefused, .platformRefused, .quotaExceeded(.project):
      // The breaker says when; the push is not at fault, and its time budget starts over.
      return sendAgain(item, after: 0, failingSince: nil, now)
    case .notSent:
      // Nothing was learned of FCM: it is looked at again, and sent if it still may be.
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
    // A stored time that is ahead comes from a wall clock that was ahead.
    let since = min(item.failingSince ?? reply.startedAt, now)
    // An escalation is tried for as long as it is fresh.
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
