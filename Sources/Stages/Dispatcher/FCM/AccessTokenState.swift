import NudgeSchema

/// An access token for FCM.
struct AccessToken: Sendable, Equatable {
  /// The text after `Bearer`.
  var value: String
  /// How long it is valid from the request for it, in milliseconds.
  var lifetime: Milliseconds
}

/// The decisions of an `AccessTokenSource`: when to fetch, who waits, what to answer. No clock and no I/O; times are of the
/// steady clock.
struct AccessTokenState<Waiter> {
  enum Action {
    /// Use this token.
    case use(String)
    /// Use this token, and fetch the next one.
    case useAndFetch(String)
    /// Fetch a token; the waiter gets it.
    case fetch
    /// A fetch is in progress; the waiter gets its token.
    case wait
    /// The last fetch failed, and it is too early for the next.
    case fail(AccessTokenError)
  }

  /// A token is given out until this long before its end, because a request takes time.
  static var margin: Milliseconds { 30_000 }
  /// A token is replaced this long before its end, or a quarter of its lifetime, whichever is less.
  static var refreshAhead: Milliseconds { 600_000 }

  /// The longest wait after a failure, whatever the token server asks for.
  static var longestWait: Milliseconds { 300_000 }

  private struct Current {
    var value: String
    var goodUntil: Milliseconds
    var refreshAt: Milliseconds
  }
  private var current: Current?
  private var isFetching = false
  private var fetchStartedAt: Milliseconds = 0
  private var waiters: [Waiter] = []
  private var failures = 0
  private var notBefore: Milliseconds = 0
  private var lastError: AccessTokenError?

  /// A request needs a token.
  mutating func want(_ waiter: Waiter, now: Milliseconds) -> Action {
    if let current, now < current.goodUntil {
      guard now >= current.refreshAt, !isFetching, now >= notBefore else { return .use(current.value) }
      isFetching = true
      fetchStartedAt = now
      return .useAndFetch(current.value)
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

  /// A fetch succeeded. Returns those who waited.
  mutating func fetched(_ token: AccessToken) -> [Waiter] {
    let margin = min(Self.margin, token.lifetime / 10)
    current = Current(
      value: token.value, goodUntil: fetchStartedAt + token.lifetime - margin,
      refreshAt: fetchStartedAt + token.lifetime - max(margin, min(Self.refreshAhead, token.lifetime / 4)))
    failures = 0
    notBefore = 0
    lastError = nil
    return endFetch()
  }

  /// A fetch failed. Returns those who waited, and the error with the wait before the next fetch. `jitter` is in 0..<1.
  mutating func failed(
    _ error: AccessTokenError, now: Milliseconds, jitter: Double
  ) -> (waiters: [Waiter], error: AccessTokenError) {
    failures += 1
    let wait = min(
      Backoff(floor: 1_000, cap: 60_000).wait(after: failures, retryAfter: error.retryAfter, jitter: jitter),
      Self.longestWait)
    var error = error
    error.retryAfter = wait
    notBefore = now + wait
    lastError = error
    return (endFetch(), error)
  }

  /// FCM refused this token. Only the first of several calls about one token drops it.
  mutating func invalidate(_ token: String) {
    if current?.value == token { current = nil }
  }

  private mutating func endFetch() -> [Waiter] {
    isFetching = false
    defer { waiters = [] }
    return waiters
  }
}
