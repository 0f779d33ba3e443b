import NudgeSchema

/// A destination, or one platform of it: what is refused as a whole.
struct DeliveryScope: Hashable, Sendable {
  var destination: Destination
  /// nil: all platforms of the destination.
  var platform: Platform?

  init(_ destination: Destination, platform: Platform? = nil) {
    self.destination = destination
    self.platform = platform
  }

  /// The narrowest scope of a push.
  init(of item: WaitingPush, _ rules: DispatcherRules) {
    self.init(Destination(of: item, rules), platform: item.target.platform)
  }

  /// The whole destination: of FCM a project.
  var project: DeliveryScope { DeliveryScope(destination) }
}

/// Stops sending to a scope (P6) except for one request at a time, the probe, which finds out whether the scope works
/// again. The probe is the next push in line, so that nothing is sent only to test.
struct CircuitBreaker: Sendable {
  enum Reason: Sendable, Equatable, CaseIterable {
    /// Credentials, project or address are wrong.
    case refused
    /// The project's quota is used up.
    case quota
    /// The share of tokens that FCM calls invalid is too high to be believed (T3).
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
  /// The next probe is due.
  var probeAt: Milliseconds
  /// From a probe that failed to the next.
  var interval: Milliseconds
  /// The request in flight that probes.
  var probe: UInt64?
  /// Only answers to this request and later ones count: earlier ones were sent before the breaker opened and describe
  /// the state before it.
  var firstDecisive: UInt64
  /// Open because of invalid tokens: FCM's word that a token is invalid is not believed, and one good answer does not
  /// close the breaker. Separate from `reason`, which a quota or a refusal may replace.
  var trial: HalfOpenTrial?
}

/// Counts what the probes of a breaker over invalid tokens found. Probes follow each other without a wait while they may
/// still close it.
struct HalfOpenTrial: Sendable, Equatable {
  var good = 0
  var invalid = 0

  enum Result: Equatable {
    case undecided
    /// Tokens are believed again.
    case passed
    /// Too many were invalid: wait, then start a new trial.
    case failed
  }

  /// Allows half of the share that opens the breaker. With the same limit for both, a share near it would open and close
  /// the breaker again and again, and each time a window of tokens would be pruned.
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
