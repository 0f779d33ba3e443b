import NudgeSchema

/// How many requests a project may get (P5): a rate that grows evenly to its full height within a minute of the start, as
/// Google asks for, and a bucket that holds a tenth of a second's worth, so that nothing goes out in gusts.
struct SendRate: Sendable {
  /// Part of the full rate at the start; what a small deployment sends is never held back.
  static let firstPart = 0.05

  /// Requests a millisecond of the whole project, in the end.
  private let project: Double
  /// The part of it that this instance may use.
  private var share = 1.0
  /// The part that is left after FCM said that the project has had too much: halved each time, raised slowly.
  private(set) var restraint = 1.0
  private var restrainedAt: Milliseconds = .min
  private var full: Double { project * share * restraint }
  private let rampUp: Milliseconds
  private let start: Milliseconds
  private var allowance: Double
  private var updatedAt: Milliseconds

  /// A rate of so many requests a minute, reached `rampUp` milliseconds after `start`.
  init(perMinute: Int, rampUp: Milliseconds, start: Milliseconds) {
    project = Double(max(perMinute, 1)) / 60_000
    self.rampUp = max(rampUp, 1)
    self.start = start
    allowance = 0
    updatedAt = start
    allowance = bucket(at: start)
  }

  private func rate(at now: Milliseconds) -> Double {
    full * min(1, max(Self.firstPart, Double(now - start) / Double(rampUp)))
  }

  private func bucket(at now: Milliseconds) -> Double { max(1, rate(at: now) * 100) }

  /// After a halving others are ignored for so long: they were said to requests of before.
  static let halvingInterval: Milliseconds = 5_000
  /// In so long the rate rises by a tenth of its full height again.
  static let recoveryStep: Milliseconds = 10_000
  /// The rate never falls below this part of its full height: the quota is for a minute, and a pause keeps it too.
  static let leastRestraint = 1.0 / 64

  /// The instance has this part of the partitions, 0 to 1: it may use this part of the quota.
  mutating func setShare(_ share: Double) { self.share = min(max(share, 0.001), 1) }

  /// FCM said that the project has had too much.
  mutating func halve(at now: Milliseconds) {
    recover(at: now)
    if restrainedAt != .min, restraint < 1, now - restrainedAt < Self.halvingInterval { return }
    restraint = max(restraint / 2, Self.leastRestraint)
    restrainedAt = now
    allowance = min(allowance, bucket(at: now))
  }

  /// Raises the rate by what is due since the last change, in whole steps.
  private mutating func recover(at now: Milliseconds) {
    guard restraint < 1 else { return }
    let steps = (now - restrainedAt) / Self.recoveryStep
    guard steps > 0 else { return }
    restraint = min(1, restraint + 0.1 * Double(steps))
    restrainedAt += steps * Self.recoveryStep
  }

  /// Takes the right to one request; false: not now.
  mutating func take(at now: Milliseconds) -> Bool {
    recover(at: now)
    if now > updatedAt {
      allowance = min(bucket(at: now), allowance + rate(at: now) * Double(now - updatedAt))
      updatedAt = now
    }
    guard allowance >= 1 else { return false }
    allowance -= 1
    return true
  }
}
