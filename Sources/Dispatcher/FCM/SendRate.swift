import NudgeSchema

/// How many requests a project may get (P5): a rate that grows evenly to its full height within a minute of the start, as
/// Google asks for, and a bucket that holds a tenth of a second's worth, so that nothing goes out in gusts.
struct SendRate: Sendable {
  /// Part of the full rate at the start; what a small deployment sends is never held back.
  static let firstPart = 0.05

  /// Requests a millisecond, in the end.
  private let full: Double
  private let rampUp: Milliseconds
  private let start: Milliseconds
  private var allowance: Double
  private var updatedAt: Milliseconds

  /// A rate of so many requests a minute, reached `rampUp` milliseconds after `start`.
  init(perMinute: Int, rampUp: Milliseconds, start: Milliseconds) {
    full = Double(max(perMinute, 1)) / 60_000
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

  /// Takes the right to one request; false: not now.
  mutating func take(at now: Milliseconds) -> Bool {
    if now > updatedAt {
      allowance = min(bucket(at: now), allowance + rate(at: now) * Double(now - updatedAt))
      updatedAt = now
    }
    guard allowance >= 1 else { return false }
    allowance -= 1
    return true
  }
}
