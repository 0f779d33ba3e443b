import NudgeSchema

/// The rate of requests to a project (P5): a token bucket whose rate grows linearly to its full height, as Google asks for.
/// The bucket holds the requests of a tenth of a second, so that none leave in bursts. Times are of a steady clock.
struct SendRate: Sendable {
  /// The share of the full rate at the start. A small deployment never notices the ramp.
  static let firstShare = 0.05
  /// After a 429 halved the rate, further ones are ignored for this long: they answer requests sent before.
  static let halvingInterval: Milliseconds = 5_000
  /// The rate recovers by a tenth of its full height in each of these steps.
  static let recoveryStep: Milliseconds = 10_000
  /// The smallest share of the full rate that 429s leave. The breaker stops requests altogether where that is needed.
  static let leastRestraint = 1.0 / 64
  /// The shortest wait that `wait` returns: waiting lanes are sent in groups, not each at its own wake-up.
  static let shortestWait: Milliseconds = 5

  /// Requests per millisecond of the whole project.
  private let project: Double
  /// The share of it that belongs to this stream thread.
  private var share = 1.0
  /// The share that 429s leave.
  private(set) var restraint = 1.0
  private var restrainedAt: Milliseconds?
  private let rampUp: Milliseconds
  private let start: Milliseconds
  private var allowance: Double
  private var updatedAt: Milliseconds

  /// A rate that reaches `perMinute` requests a minute `rampUp` milliseconds after `start`.
  init(perMinute: Int, rampUp: Milliseconds, start: Milliseconds) {
    project = Double(max(perMinute, 1)) / 60_000
    self.rampUp = max(rampUp, 1)
    self.start = start
    allowance = 0
    updatedAt = start
    allowance = bucket(at: start)
  }

  private func rate(at now: Milliseconds) -> Double {
    project * share * restraint * min(1, max(Self.firstShare, Double(now - start) / Double(rampUp)))
  }

  private func bucket(at now: Milliseconds) -> Double { max(1, rate(at: now) * 100) }

  private func allowance(at now: Milliseconds) -> Double {
    min(bucket(at: now), allowance + rate(at: now) * Double(max(0, now - updatedAt)))
  }

  /// The stream thread owns this share of the partitions, 0 to 1.
  mutating func setShare(_ share: Double) { self.share = min(max(share, 0.001), 1) }

  /// FCM answered that the project has had too much.
  mutating func halve(at now: Milliseconds) {
    recover(at: now)
    if let restrainedAt, restraint < 1, now - restrainedAt < Self.halvingInterval { return }
    restraint = max(restraint / 2, Self.leastRestraint)
    restrainedAt = now
    allowance = min(allowance, bucket(at: now))
  }

  /// Raises the rate by the whole steps since the last change.
  private mutating func recover(at now: Milliseconds) {
    guard restraint < 1, let since = restrainedAt else { return }
    let steps = (now - since) / Self.recoveryStep
    guard steps > 0 else { return }
    restraint = min(1, restraint + 0.1 * Double(steps))
    restrainedAt = since + steps * Self.recoveryStep
  }

  /// How long until the next request may be sent; nil: it may be sent now.
  func wait(at now: Milliseconds) -> Milliseconds? {
    let allowance = allowance(at: now)
    if allowance >= 1 { return nil }
    // The rate a little later: on the first millisecond of a short ramp it is far below what it will be.
    let rate = rate(at: now + Self.shortestWait)
    return max(Self.shortestWait, Milliseconds(((1 - allowance) / rate).rounded(.up)))
  }

  /// Counts a request. Returns false where none may be sent now.
  mutating func take(at now: Milliseconds) -> Bool {
    recover(at: now)
    allowance = allowance(at: now)
    updatedAt = max(updatedAt, now)
    guard allowance >= 1 else { return false }
    allowance -= 1
    return true
  }
}
