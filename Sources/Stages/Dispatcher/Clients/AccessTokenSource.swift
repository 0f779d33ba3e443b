import Foundation
import HTTPTransport
import NudgeSchema
import ServiceKit
import Synchronization

/// Why no access token is available.
struct AccessTokenError: Error, Sendable, Equatable, CustomStringConvertible {
  enum Kind: String, Sendable {
    /// The token server refuses the account: its key, its name or this machine's clock is wrong.
    case refused = "access_token_refused"
    /// The token server could not be reached, or failed.
    case unreachable = "access_token_unreachable"
    /// The token server's answer contains no token.
    case invalidAnswer = "access_token_invalid_answer"
    /// The assertion could not be signed.
    case signing = "access_token_signing"
  }
  var kind: Kind
  /// The failure and how to fix it, without secrets.
  var reason: String
  /// Milliseconds until the next fetch.
  var retryAfter: Milliseconds?

  var description: String { "no access token for FCM: \(reason)" }
}

/// Provides access tokens of a service account. They are cached, replaced before they expire, and fetched once for all who wait (P1). After
/// a failure it backs off; until the next fetch, callers get the error at once.
final class AccessTokenSource: Sendable {
  /// A caller that waits for the token that is being fetched.
  struct Waiter: Sendable {
    let receive: @Sendable (Result<String, AccessTokenError>) -> Void
  }

  private let account: ServiceAccount
  private let http: any HTTPSending
  private let clocks: Clocks
  private let jitter: @Sendable () -> Double
  private let log: Logger
  private let state = Mutex(AccessTokenState<Waiter>())

  init(
    account: ServiceAccount, http: any HTTPSending, log: Logger,
    clocks: Clocks = Clocks(),
    jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
  ) {
    self.account = account
    self.http = http
    self.log = log
    self.clocks = clocks
    self.jitter = jitter
  }

  /// Calls `body` with a token, on any thread. If a valid token is cached, it does so at once.
  func withToken(_ body: @escaping @Sendable (Result<String, AccessTokenError>) -> Void) {
    switch state.withLock({ $0.want(Waiter(receive: body), now: clocks.steady()) }) {
    case .use(let token): body(.success(token))
    case .useAndFetch(let token):
      body(.success(token))
      fetch()
    case .fetch: fetch()
    case .wait: break
    case .fail(let error): body(.failure(error))
    }
  }

  /// FCM refused this token, so the next caller gets another one.
  func invalidate(_ token: String) { state.withLock { $0.invalidate(token) } }

  private func fetch() {
    let form: [UInt8]
    do {
      form = try account.assertionForm(now: clocks.wall() / 1000)
    } catch {
      return fail(AccessTokenError(kind: .signing, reason: "the assertion cannot be signed: \(error)"))
    }
    let request = HTTPRequest(
      url: account.tokenURI, headers: [("content-type", "application/x-www-form-urlencoded")], body: form,
      timeout: .seconds(10))
    http.send(request) { result in
      switch result {
      case .success(let response): self.read(response)
      case .failure(let error):
        self.fail(AccessTokenError(kind: .unreachable, reason: "\(self.account.tokenServer): \(error.kind.rawValue)"))
      }
    }
  }

  private struct Answer: Decodable {
    var access_token: String?
    var expires_in: Double?
    var error: String?
  }

  private func read(_ response: HTTPResponse) {
    let answer =
      response.body.withUnsafeBytes(JSONNesting.fits)
      ? try? JSONDecoder().decode(Answer.self, from: Data(response.body)) : nil
    switch response.status {
    case 200:
      guard !response.incompleteBody, let token = answer?.access_token, !token.isEmpty,
        token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let seconds = answer?.expires_in, seconds >= 1, seconds < 1e9
      else {
        return fail(
          AccessTokenError(
            kind: .invalidAnswer, reason: "\(account.tokenServer) answered 200 without access_token and expires_in"))
      }
      let waiters = state.withLock {
        $0.fetched(AccessToken(value: token, lifetime: Milliseconds(seconds * 1000)))
      }
      log.debug("fetched an access token", ["seconds": .double(seconds), "waiters": .int(waiters.count)])
      for waiter in waiters { waiter.receive(.success(token)) }
    case 400..<500 where response.status != 429 && response.status != 408:
      // OAuth's own codes are plain words. Anything else is not repeated in an error.
      let code = answer?.error.flatMap { $0.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) } ? $0 : nil }
      fail(
        AccessTokenError(
          kind: .refused,
          reason:
            "\(account.tokenServer) answered \(response.status) \(code ?? ""); check that the key in --fcm-credentials "
            + "still exists, and this machine's clock"))
    default:
      fail(
        AccessTokenError(
          kind: .unreachable, reason: "\(account.tokenServer) answered \(response.status)",
          retryAfter: response.headers["retry-after"].flatMap { RetryAfter($0)?.wait(from: clocks.wall()) }))
    }
  }

  private func fail(_ error: AccessTokenError) {
    let (waiters, error) = state.withLock { $0.failed(error, now: clocks.steady(), jitter: jitter()) }
    log.limited("token", every: .seconds(10))?.error(
      "\(error)", ["kind": .string(error.kind.rawValue), "waiters": .int(waiters.count)])
    for waiter in waiters { waiter.receive(.failure(error)) }
  }
}

/// An access token for FCM.
struct AccessToken: Sendable, Equatable {
  /// The text after `Bearer`.
  var value: String
  /// How long it is valid after the request for it, in milliseconds.
  var lifetime: Milliseconds
}

/// The decisions of an `AccessTokenSource`: when to fetch, who waits, what to answer. It has no clock and does no I/O. Times are on the
/// steady clock.
struct AccessTokenState<Waiter> {
  enum Action {
    /// Use this token.
    case use(String)
    /// Use this token, and fetch the next one.
    case useAndFetch(String)
    /// Fetch a token. The waiter gets it.
    case fetch
    /// A fetch is in progress. The waiter gets its token.
    case wait
    /// The last fetch failed, and the next one must wait.
    case fail(AccessTokenError)
  }

  /// A token is provided until this long before its end, because a request takes time.
  static var margin: Milliseconds { 30_000 }
  /// A token is replaced this long before its end, or a quarter of its lifetime, whichever is less.
  static var refreshAhead: Milliseconds { 600_000 }

  /// The longest wait after a failure, even if the token server asks for more.
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

  /// A fetch succeeded. Returns the waiting callers.
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

  /// A fetch failed. Returns the waiting callers, and the error with the wait before the next fetch. `jitter` is in 0..<1.
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

  /// FCM refused this token. Of several calls about one token, only the first drops it.
  mutating func invalidate(_ token: String) {
    if current?.value == token { current = nil }
  }

  private mutating func endFetch() -> [Waiter] {
    isFetching = false
    defer { waiters = [] }
    return waiters
  }
}
