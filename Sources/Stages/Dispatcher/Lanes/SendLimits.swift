import NudgeSchema

/// The knowledge that all tasks of a stream thread share: limits of devices, quotas of projects, and which of these fail or work again.
struct SendLimits: Sendable {
  var devices: DeviceLimits
  var quotas: ProjectQuotas
  var failing = FailingProjects()
  var recoveries = Recoveries()
  /// The tasks.
  var tasks = 0

  init(rules: DispatcherRules) {
    devices = DeviceLimits(perMinute: rules.deviceRequestsPerMinute, perHour: rules.deviceRequestsPerHour)
    quotas = ProjectQuotas(
      perMinute: rules.requestsPerMinute, rampUp: rules.rampUp, ownProject: rules.projects?.first)
  }
}

/// The quota of each destination, of FCM each project (P5). A lane whose destination has none left waits in its queue, where a cancellation finds it.
struct ProjectQuotas: Sendable {
  private let perMinute: Int
  private let rampUp: Milliseconds
  /// Devices that name no project use this one's quota.
  private let ownProject: String
  private var share = 1.0
  private var rates: [Destination: SendRate] = [:]

  /// `perMinute`: requests a minute to each project; 0: no limit.
  init(perMinute: Int, rampUp: Milliseconds, ownProject: String?) {
    self.perMinute = perMinute
    self.rampUp = rampUp
    self.ownProject = ownProject ?? ""
  }

  /// The stream thread owns this share of the partitions, and of each quota.
  mutating func setShare(_ share: Double) {
    guard share != self.share else { return }
    self.share = share
    for destination in rates.keys { rates[destination]?.setShare(share) }
  }

  /// How long until a request to a destination may be sent; nil: it may be sent now.
  func wait(_ destination: Destination, at now: Milliseconds) -> Milliseconds? {
    perMinute == 0 ? nil : rates[owner(of: destination)]?.wait(at: now)
  }

  mutating func take(_ destination: Destination, at now: Milliseconds) {
    guard perMinute > 0 else { return }
    let owner = owner(of: destination)
    if rates[owner] == nil {
      var rate = SendRate(perMinute: perMinute, rampUp: rampUp, start: now)
      rate.setShare(share)
      rates[owner] = rate
    }
    _ = rates[owner]?.take(at: now)
  }

  /// The destination answered that it has had too much.
  mutating func halve(_ destination: Destination, at now: Milliseconds) {
    rates[owner(of: destination)]?.halve(at: now)
  }

  private func owner(of destination: Destination) -> Destination {
    if case .fcm(nil) = destination { .fcm(project: ownProject) } else { destination }
  }
}

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

/// The destinations that work again: one task of a stream thread finds out, and all tasks send. Times are of the steady clock.
struct Recoveries: Sendable {
  /// A finding of a task.
  struct Recovery: Hashable, Sendable {
    enum Kind: Sendable {
      /// After failures that lasted there is a judgement again.
      case judges
      /// A breaker closed.
      case takes
    }
    var scope: DeliveryScope
    var kind: Kind
  }

  /// Pushes that are tried again after a recovery leave within this time.
  static let spread: Milliseconds = 5_000
  /// So often a task asks whether another one has found out.
  static let interval: Milliseconds = 2_000

  /// How many there were.
  private(set) var count = 0
  /// The number of the last one of each.
  private var last: [Recovery: Int] = [:]

  mutating func record(_ scope: DeliveryScope, _ kind: Recovery.Kind) {
    count += 1
    last[Recovery(scope: scope, kind: kind)] = count
  }

  /// Ends the waits of a task for what works again since there were `number`, spread by its next request.
  func apply(
    since number: Int, to schedule: inout LaneSchedule, _ breakers: inout CircuitBreakers, nextRequest: UInt64,
    now: Milliseconds
  ) {
    guard number < count else { return }
    for recovery in last.filter({ $0.value > number }).keys {
      switch recovery.kind {
      case .judges: schedule.hurry(recovery.scope.project, now: now, spread: Self.spread)
      case .takes:
        let share = Milliseconds(FNV1a.spread(nextRequest) % UInt64(Self.spread))
        breakers.hurry(recovery.scope, until: now + share)
      }
    }
  }
}

extension SendLimits {
  /// When a task should look whether a destination is to be tried, or works again; nil: none of its pushes waits for that.
  ///
  /// - Parameters:
  ///   - hasRetries: a push of it is to be tried again.
  ///   - hasBreakers: a breaker of it is open.
  func nextLook(hasRetries: Bool, hasBreakers: Bool, now: Milliseconds) -> Milliseconds? {
    let next = hasRetries ? failing.nextLook(now: now) : nil
    guard tasks > 1, next != nil || hasBreakers else { return next }
    return min(next ?? .max, now + Recoveries.interval)
  }
}
