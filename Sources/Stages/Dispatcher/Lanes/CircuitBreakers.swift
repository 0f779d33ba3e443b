import NudgeSchema

/// A destination, or one platform of it, which can be refused as a whole.
struct DeliveryScope: Hashable, Sendable {
  var destination: Destination
  /// The platform; nil for all platforms of the destination.
  var platform: Platform?

  init(_ destination: Destination, platform: Platform? = nil) {
    self.destination = destination
    self.platform = platform
  }

  /// The narrowest scope of a push.
  init(of item: WaitingPush, _ rules: DispatcherRules) {
    self.init(Destination(of: item, rules), platform: item.target.platform)
  }

  /// The whole destination; for FCM a project.
  var project: DeliveryScope { DeliveryScope(destination) }
}

/// Stops sending to a scope (P6), except for one request at a time: the probe, which finds out whether the scope works again. The probe is
/// the next push in the queue, so that nothing is sent only as a test.
struct CircuitBreaker: Sendable {
  enum Reason: Sendable, Equatable, CaseIterable {
    /// Credentials, project or address are wrong.
    case refused
    /// The project's quota is used up.
    case quota
    /// FCM calls an implausible share of tokens invalid (T3).
    case invalidTokens

    /// The label in metrics.
    var label: String {
      switch self {
      case .refused: "refused"
      case .quota: "quota"
      case .invalidTokens: "invalid_tokens"
      }
    }
  }
  var reason: Reason
  /// When the next probe is due.
  var probeAt: Milliseconds
  /// The time from a failed probe to the next.
  var interval: Milliseconds
  /// The probe in flight.
  var probe: UInt64?
  /// Only answers to this request and later ones count. Earlier requests were sent before the breaker opened and describe the state before
  /// it.
  var firstDecisive: UInt64
  /// The breaker is open because of invalid tokens: answers that a token is invalid are not believed, and one good answer does not close
  /// the breaker. Separate from `reason`, which a quota or a refusal may replace.
  var trial: HalfOpenTrial?
}

/// Counts the results of the probes of a breaker over invalid tokens. Probes follow each other without a wait as long as they may still
/// close it.
struct HalfOpenTrial: Sendable, Equatable {
  var good = 0
  var invalid = 0

  enum Result: Equatable {
    case undecided
    /// Answers about tokens are believed again.
    case passed
    /// Too many tokens were invalid: wait, then start a new trial.
    case failed
  }

  /// Allows half of the share that opens the breaker. If both limits were the same, a share near it would open and close the breaker
  /// repeatedly, and each time a window of tokens would be removed.
  func result(length: Int, ratio: Double) -> Result {
    let allowed = Int(Double(length) * ratio / 2)
    if invalid > allowed { return .failed }
    return good + invalid >= length ? .passed : .undecided
  }
}

/// Whether the last answers of a project called the token invalid.
struct InvalidTokenWindow: Sendable {
  private var ring: [Bool] = []
  private var next = 0
  private(set) var invalid = 0
  let size: Int

  init(size: Int) { self.size = max(size, 1) }

  /// Whether the window is full and at least this share of it is invalid.
  func exceeds(_ ratio: Double) -> Bool { ring.count == size && Double(invalid) >= ratio * Double(size) }

  mutating func record(isInvalid: Bool) {
    if ring.count < size {
      ring.append(isInvalid)
    } else {
      if ring[next] { invalid -= 1 }
      ring[next] = isInvalid
      next = (next + 1) % size
    }
    if isInvalid { invalid += 1 }
  }
}

/// The open circuit breakers of a task. They are kept only in memory, because the first answers after a restart open them again. Times are
/// on the steady clock.
struct CircuitBreakers {
  /// Whether a request to a scope may be sent.
  enum Gate: Equatable {
    case open
    /// Not before this time, at which a probe is due.
    case closed(until: Milliseconds)
    /// Not before the probe in flight is answered.
    case probing
  }

  /// The end of a scope's last open breaker.
  private struct Closing {
    /// The request whose answer closed it. A refusal of an earlier request is outdated.
    var request: UInt64
    var at: Milliseconds
  }

  private let rules: DispatcherRules
  private var breakers: [DeliveryScope: CircuitBreaker] = [:]
  private var closings: [DeliveryScope: Closing] = [:]
  private var windows: [DeliveryScope: InvalidTokenWindow] = [:]

  /// Scopes whose breakers closed since the last call of `takeClosed`.
  private var closed: [DeliveryScope] = []

  init(rules: DispatcherRules) { self.rules = rules }

  var areOpen: Bool { !breakers.isEmpty }

  /// The scopes whose breakers closed since the last call.
  mutating func takeClosed() -> [DeliveryScope] {
    defer { closed = [] }
    return closed
  }

  /// Another task found that a scope works again: its probe is due at `time` or earlier. A quota has its own time.
  mutating func hurry(_ scope: DeliveryScope, until time: Milliseconds) {
    guard let breaker = breakers[scope], breaker.reason != .quota, breaker.trial == nil else { return }
    breakers[scope]?.probeAt = min(breaker.probeAt, time)
    breakers[scope]?.interval = 2 * rules.firstProbeAfter
  }

  func count(in statistics: inout LaneStatistics) {
    for (scope, breaker) in breakers {
      switch scope.destination {
      case .webhook: statistics.webhookPauses += 1
      case .webPush: statistics.webPushPauses += 1
      case .fcm:
        statistics.openBreakers[breaker.reason.label, default: 0] += 1
        if breaker.trial != nil { statistics.tokenTrials += 1 }
      }
    }
  }

  func gate(_ scope: DeliveryScope, now: Milliseconds) -> Gate {
    if breakers.isEmpty { return .open }
    var gate = Gate.open
    for scope in [scope.project, scope] {
      guard let breaker = breakers[scope] else { continue }
      if breaker.probe != nil { return .probing }
      guard breaker.probeAt > now else { continue }
      if case .closed(let until) = gate, until >= breaker.probeAt { continue }
      gate = .closed(until: breaker.probeAt)
    }
    return gate
  }

  /// Whether a breaker of the scope was open at some time since `start`.
  func wereOpen(_ scope: DeliveryScope, since start: Milliseconds) -> Bool {
    [scope.project, scope].contains { breakers[$0] != nil || closings[$0].map { $0.at >= start } ?? false }
  }

  /// A request was sent. Returns the scopes that it probes.
  mutating func sent(_ id: UInt64, to scope: DeliveryScope) -> [DeliveryScope] {
    if breakers.isEmpty { return [] }
    let probed = [scope.project, scope].filter { breakers[$0] != nil }
    for scope in probed { breakers[scope]?.probe = id }
    return probed
  }

  /// A request was not made, so its probes have no result.
  mutating func cancelled(_ id: UInt64, probing scopes: [DeliveryScope]) {
    for scope in scopes where breakers[scope]?.probe == id { breakers[scope]?.probe = nil }
  }

  /// Opens, keeps open or closes breakers after an answer.
  ///
  /// - Parameters:
  ///   - scopes: The breakers that the request probed.
  ///   - nextRequest: The id of the next request. Answers to earlier ones do not close breakers that open now.
  ///   - hasQueued: Whether other lanes of a scope wait for a probe.
  /// - Returns: Whether the answer is not believed, because it calls a token invalid while the breaker over invalid tokens is open.
  mutating func record(
    _ reply: SendReply, to scope: DeliveryScope, probing scopes: [DeliveryScope], nextRequest: UInt64,
    now: Milliseconds, hasQueued: (DeliveryScope) -> Bool
  ) -> Bool {
    let isDoubted = judgeToken(reply, scope.project, nextRequest, now)
    switch reply.answer.verdict {
    case .projectRefused: open(scope.project, .refused, reply, nextRequest, now)
    case .platformRefused:
      // FCM accepted the project's credentials.
      close(scope.project, by: reply, now)
      open(scope, .refused, reply, nextRequest, now)
    case .quotaExceeded(.project): open(scope.project, .quota, reply, nextRequest, now)
    case .sent, .invalidToken, .senderMismatch:
      close(scope.project, by: reply, now)
      close(scope, by: reply, now)
    case .rejected, .subscriptionRefused, .quotaExceeded(.device):
      // FCM processed the request, but that says nothing about the platform's key.
      close(scope.project, by: reply, now)
    case .serverFailed, .unreachable, .notSent: break
    }
    endProbes(of: reply, scopes, now, hasQueued)
    return isDoubted
  }

  /// A breaker that is still open after its probe probes again later. After a good answer a trial continues at once if another device
  /// waits; the same device would only repeat its answer.
  private mutating func endProbes(
    of reply: SendReply, _ scopes: [DeliveryScope], _ now: Milliseconds, _ hasQueued: (DeliveryScope) -> Bool
  ) {
    for scope in scopes where breakers[scope]?.probe == reply.id {
      guard var breaker = breakers[scope] else { continue }
      breaker.probe = nil
      if breaker.probeAt <= now {
        if breaker.trial != nil, reply.answer.isSent, hasQueued(scope) {
          breaker.interval = 2 * rules.firstProbeAfter
        } else {
          breaker.probeAt = now + breaker.interval
          breaker.interval = min(breaker.interval * 2, rules.longestProbeInterval)
        }
      }
      breakers[scope] = breaker
    }
  }

  private mutating func open(
    _ scope: DeliveryScope, _ reason: CircuitBreaker.Reason, _ reply: SendReply, _ nextRequest: UInt64,
    _ now: Milliseconds
  ) {
    let answer = reply.answer
    // A server that asks for a longer wait is still probed, because it may have meant one request, or be fixed earlier.
    let asked = answer.retryAfter.map { min($0, rules.longestProbeInterval) }
    let wait =
      reason == .quota
      ? Backoff.quota.wait(after: 1, retryAfter: asked, jitter: 0) : max(rules.firstProbeAfter, asked ?? 0)
    guard var breaker = breakers[scope] else {
      // A refusal of a request sent before the one that closed the last breaker is outdated. A quota is not, because it says how long to
      // wait from now on.
      if reason != .quota, let last = closings[scope], reply.id < last.request { return }
      breakers[scope] = CircuitBreaker(
        reason: reason, probeAt: now + wait, interval: min(2 * wait, rules.longestProbeInterval),
        firstDecisive: nextRequest)
      return
    }
    if reason == .quota {
      breaker.reason = reason
      breaker.probeAt = max(breaker.probeAt, now + wait)
      breaker.firstDecisive = nextRequest
    } else if reply.id >= breaker.firstDecisive {
      breaker.reason = reason
      breaker.probeAt = max(breaker.probeAt, now + max(breaker.interval, asked ?? 0))
      breaker.interval = min(breaker.interval * 2, rules.longestProbeInterval)
      breaker.firstDecisive = nextRequest
    }
    breakers[scope] = breaker
  }

  /// The scope works, as the answer to a request sent after its breaker opened shows. A breaker over invalid tokens stays open until its
  /// trial has passed.
  private mutating func close(_ scope: DeliveryScope, by reply: SendReply, _ now: Milliseconds) {
    guard let breaker = breakers[scope], reply.id >= breaker.firstDecisive else { return }
    if let trial = breaker.trial {
      guard trial.result(length: rules.tokenTrialLength, ratio: rules.invalidTokenRatio) == .passed else {
        breakers[scope]?.reason = .invalidTokens
        return
      }
    }
    breakers[scope] = nil
    closed.append(scope)
    closings[scope] = Closing(request: reply.id, at: now)
    windows[scope] = nil
  }

  /// Runs the breaker over invalid tokens. Returns whether the answer is not believed.
  private mutating func judgeToken(
    _ reply: SendReply, _ project: DeliveryScope, _ nextRequest: UInt64, _ now: Milliseconds
  ) -> Bool {
    guard reply.answer.judgesToken else { return false }
    let isInvalid = !reply.answer.isSent
    if var breaker = breakers[project], var trial = breaker.trial {
      // Requests in flight when the breaker opened decide nothing, and are not believed either.
      guard reply.id >= breaker.firstDecisive else { return isInvalid }
      if isInvalid { trial.invalid += 1 } else { trial.good += 1 }
      breaker.trial = trial
      if trial.result(length: rules.tokenTrialLength, ratio: rules.invalidTokenRatio) == .failed {
        breaker.trial = HalfOpenTrial()
        breaker.probeAt = max(breaker.probeAt, now + breaker.interval)
        breaker.interval = min(breaker.interval * 2, rules.longestProbeInterval)
      }
      breakers[project] = breaker
      return isInvalid
    }
    windows[project, default: InvalidTokenWindow(size: rules.invalidTokenWindow)].record(isInvalid: isInvalid)
    guard isInvalid, windows[project]?.exceeds(rules.invalidTokenRatio) ?? false else { return false }
    var breaker =
      breakers[project]
      ?? CircuitBreaker(
        reason: .invalidTokens, probeAt: now + rules.firstProbeAfter, interval: 2 * rules.firstProbeAfter,
        firstDecisive: nextRequest)
    breaker.trial = HalfOpenTrial()
    breaker.firstDecisive = nextRequest
    breakers[project] = breaker
    return true
  }
}
