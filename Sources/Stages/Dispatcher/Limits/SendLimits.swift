import NudgeSchema

/// Limits that all tasks of a stream thread share: those of devices and the quotas of projects.
struct SendLimits: Sendable {
  var devices: DeviceLimits
  var quotas: ProjectQuotas

  init(rules: DispatcherRules) {
    devices = DeviceLimits(perMinute: rules.deviceRequestsPerMinute, perHour: rules.deviceRequestsPerHour)
    quotas = ProjectQuotas(
      perMinute: rules.requestsPerMinute, rampUp: rules.rampUp, ownProject: rules.projects?.first)
  }
}

/// FCM's quota of each project (P5). A lane whose project has none left waits in its queue, where a cancellation finds it.
struct ProjectQuotas: Sendable {
  private let perMinute: Int
  private let rampUp: Milliseconds
  /// Devices that name no project use this one's quota.
  private let ownProject: String
  private var share = 1.0
  private var rates: [String: SendRate] = [:]

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
    for project in rates.keys { rates[project]?.setShare(share) }
  }

  /// How long until a request to a project may be sent; nil: it may be sent now.
  func wait(_ project: String?, at now: Milliseconds) -> Milliseconds? {
    perMinute == 0 ? nil : rates[project ?? ownProject]?.wait(at: now)
  }

  mutating func take(_ project: String?, at now: Milliseconds) {
    guard perMinute > 0 else { return }
    let project = project ?? ownProject
    if rates[project] == nil {
      var rate = SendRate(perMinute: perMinute, rampUp: rampUp, start: now)
      rate.setShare(share)
      rates[project] = rate
    }
    _ = rates[project]?.take(at: now)
  }

  /// FCM answered that the project has had too much.
  mutating func halve(_ project: String?, at now: Milliseconds) { rates[project ?? ownProject]?.halve(at: now) }
}
