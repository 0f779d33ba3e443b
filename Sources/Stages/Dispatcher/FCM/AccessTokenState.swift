import NudgeSchema

/// An access token for FCM.
struct AccessToken: Sendable, Equatable {
  /// What goes behind `Bearer`.
  var value: String
  /// How long it is good for from when it was asked for, in milliseconds.
  var lifetime: Milliseconds
}

/// The decisions of an `AccessTokenSource`: when to fetch, who waits, what to answer. No clock and no I/O.
struct AccessTokenState<Waiter> {
  enum Action {
    /// Here it is.
    case use(String)
    /// Here it is, and it is time to fetch the next.
    case useAndFetch(String)
    /// Fetch; the waiter is noted.
    case fetch
    /// Somebody fetches; the waiter is noted.
    case wait
    /// The last try failed, and the next may be only after so many milliseconds.
    case fail(AccessTokenError)
  }

  /// A token is no longer given out so long before it ends, in milliseconds: a request takes time.
  static var margin: Milliseconds { 30_000 }
  /// A token is replaced so long before it ends, or a quarter of its life, whichever is less.
  static var refreshAhead: Milliseconds { 600_000 }

  private struct Held {
    var value: String
    var goodUntil: Milliseconds
    var refreshAt: Milliseconds
  }
  private var held: Held?
  private var isFetching = false
  private var fetchStartedAt: Milliseconds = 0
  private var waiters: [Waiter] = []
  private var failures = 0
  private var notBefore: Milliseconds = 0
  private var lastError: AccessTokenError?

  /// Somebody needs a token.
  mutating func want(_ waiter: Waiter, now: Milliseconds) -> Action {
    if let held, now < held.goodUntil {
      guard now >= held.refreshAt, !isFetching, now >= notBefore else { return .use(held.value) }
      isFetching = true
      fetchStartedAt = now
      return .useAndFetch(held.value)
    }
    if isFetching {
      waiters.append(waiter)
      return .wait
    }
    if now < notBefore, var error = lastError {
      error.retryAfter = notBefore - now
      return .fail(error)
    }
    isFetching = true
    fetchStartedAt = now
    waiters.append(waiter)
    return .fetch
  }

  /// A fetch succeeded; gives those who waited.
  mutating func fetched(_ token: AccessToken) -> [Waiter] {
    let margin = min(Self.margin, token.lifetime / 10)
    held = Held(
      value: token.value, goodUntil: fetchStartedAt + token.lifetime - margin,
      refreshAt: fetchStartedAt + token.lifetime - max(margin, min(Self.refreshAhead, token.lifetime / 4)))
    failures = 0
    notBefore = 0
    lastError = nil
    return endFetch()
  }

  /// A fetch failed; gives those who waited, and the error with the wait before the next try. `jitter` is in 0..<1.
  mutating func failed(
    _ error: AccessTokenError, now: Milliseconds, jitter: Double
  ) -> (waiters: [Waiter], error: AccessTokenError) {
    failures += 1
    let wait = Backoff(floor: 1_000, cap: 60_000).wait(after: failures, retryAfter: error.retryAfter, jitter: jitter)
    var error = error
    error.retryAfter = wait
    notBefore = now + wait
    lastError = error
    return (endFetch(), error)
  }

  /// FCM did not take this token. Of many who say so of one token, the first drops it.
  mutating func invalidate(_ token: String) {
    if held?.value == token { held = nil }
  }

  private mutating func endFetch() -> [Waiter] {
    isFetching = false
    defer { waiters = [] }
    return waiters
  }
}
