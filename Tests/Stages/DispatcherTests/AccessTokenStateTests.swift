import Testing

@testable import Dispatcher

@Suite("P1: when access tokens are fetched")
struct AccessTokenStateTests {
  private typealias State = AccessTokenState<Int>
  private let down = AccessTokenError(kind: .unreachable, reason: "down")

  private func name(_ action: State.Action) -> String {
    switch action {
    case .use(let token): "use \(token)"
    case .useAndFetch(let token): "use \(token) and fetch"
    case .fetch: "fetch"
    case .wait: "wait"
    case .fail(let error): "fail \(error.retryAfter ?? -1)"
    }
  }

  @Test("P1: all waiters share one fetch and get its token")
  func oneFlight() {
    var state = State()
    #expect(name(state.want(1, now: 0)) == "fetch")
    #expect(name(state.want(2, now: 5)) == "wait")
    #expect(name(state.want(3, now: 9)) == "wait")
    #expect(state.fetched(AccessToken(value: "t1", lifetime: 3_600_000)) == [1, 2, 3])
    #expect(name(state.want(4, now: 10)) == "use t1")
  }

  @Test("P1: a token is refreshed 10 minutes before it expires, used meanwhile, and never used in its last 30 s")
  func refresh() {
    var state = State()
    _ = state.want(1, now: 0)
    _ = state.fetched(AccessToken(value: "t1", lifetime: 3_600_000))
    #expect(name(state.want(2, now: 2_999_999)) == "use t1")
    #expect(name(state.want(3, now: 3_000_000)) == "use t1 and fetch")
    #expect(name(state.want(4, now: 3_000_001)) == "use t1")
    #expect(name(state.want(5, now: 3_570_000)) == "wait")
    #expect(state.fetched(AccessToken(value: "t2", lifetime: 3_600_000)) == [5])
    // Its life counts from when it was asked for.
    #expect(name(state.want(6, now: 3_000_000 + 2_999_999)) == "use t2")
    #expect(name(state.want(7, now: 3_000_000 + 3_000_000)) == "use t2 and fetch")
  }

  @Test("P1: a token with a lifetime of seconds is used for nine tenths of it")
  func shortLife() {
    var state = State()
    _ = state.want(1, now: 0)
    _ = state.fetched(AccessToken(value: "t1", lifetime: 2_000))
    #expect(name(state.want(2, now: 1_499)) == "use t1")
    #expect(name(state.want(3, now: 1_799)) == "use t1 and fetch")
    #expect(name(state.want(4, now: 1_800)) == "wait")
  }

  @Test(
    "P1: after a failure the next fetch waits a second, then two and so on; meanwhile callers get the error at once")
  func backoff() {
    var state = State()
    _ = state.want(1, now: 0)
    _ = state.want(2, now: 0)
    let (waiters, error) = state.failed(down, now: 100, jitter: 0.5)
    #expect(waiters == [1, 2])
    #expect(error.retryAfter == 1_500)
    #expect(name(state.want(3, now: 600)) == "fail 1000")
    #expect(name(state.want(4, now: 1_600)) == "fetch")
    #expect(state.failed(down, now: 1_700, jitter: 0.5).error.retryAfter == 2_500)
    #expect(name(state.want(5, now: 4_200)) == "fetch")
    #expect(state.fetched(AccessToken(value: "t1", lifetime: 3_600_000)) == [5])
    #expect(name(state.want(6, now: 4_300)) == "use t1")
  }

  @Test("P1: a failed early refresh has no effect while the old token is valid")
  func refreshFails() {
    var state = State()
    _ = state.want(1, now: 0)
    _ = state.fetched(AccessToken(value: "t1", lifetime: 3_600_000))
    #expect(name(state.want(2, now: 3_100_000)) == "use t1 and fetch")
    #expect(state.failed(down, now: 3_100_100, jitter: 0).waiters == [])
    #expect(name(state.want(3, now: 3_100_200)) == "use t1")
    #expect(name(state.want(4, now: 3_101_100)) == "use t1 and fetch")
  }

  @Test("P1: only the first report that FCM refuses a token drops it; a newer token stays")
  func invalidate() {
    var state = State()
    _ = state.want(1, now: 0)
    _ = state.fetched(AccessToken(value: "t1", lifetime: 3_600_000))
    state.invalidate("t1")
    #expect(name(state.want(2, now: 10)) == "fetch")
    state.invalidate("t1")
    #expect(name(state.want(3, now: 10)) == "wait")
    _ = state.fetched(AccessToken(value: "t2", lifetime: 3_600_000))
    state.invalidate("t1")
    #expect(name(state.want(4, now: 20)) == "use t2")
  }
}
