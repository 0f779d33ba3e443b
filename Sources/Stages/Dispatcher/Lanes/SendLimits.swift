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
