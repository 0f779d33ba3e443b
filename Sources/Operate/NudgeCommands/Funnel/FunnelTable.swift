import NudgeSchema

/// How far messages and their pushes got. The first two count a person and message, the others a push and device.
struct FunnelCounts: Encodable, Equatable {
  /// Final decisions.
  var decided = 0
  /// Decisions to notify, also by the badge alone.
  var notify = 0
  /// Pushes of messages, one for each device.
  var pushed = 0
  /// A push service took it, or a device reported it.
  var taken = 0
  /// A device had it.
  var arrived = 0
  /// The person tapped it.
  var opened = 0
  /// Where each push and device stands; the sum is `pushed`.
  var ends: [String: Int] = [:]

  func ended(_ state: PushEndState) -> Int { ends[state.rawValue] ?? 0 }

  static func += (a: inout FunnelCounts, b: FunnelCounts) {
    a.decided += b.decided
    a.notify += b.notify
    a.pushed += b.pushed
    a.taken += b.taken
    a.arrived += b.arrived
    a.opened += b.opened
    a.ends.merge(b.ends, uniquingKeysWith: +)
  }
}

/// The funnel of a span of time, and its parts.
struct FunnelTable: Encodable, Equatable {
  /// Decisions from this time on, in milliseconds since the epoch.
  var since: Milliseconds
  /// And before this one.
  var until: Milliseconds
  var all = FunnelCounts()
  /// By the decision's reason.
  var byReason: [String: FunnelCounts] = [:]
  /// By the decision's priority; `none`: an earlier check decided.
  var byPriority: [String: FunnelCounts] = [:]
  /// By the device's platform; `unknown`: neither the push nor a receipt is kept. Decisions have none.
  var byPlatform: [String: FunnelCounts] = [:]
  /// By the decision's hour in UTC, as RFC 3339.
  var byHour: [String: FunnelCounts] = [:]

  mutating func add(_ counts: FunnelCounts, _ facts: FunnelFacts, platform: String? = nil) {
    all += counts
    byReason[facts.reason.rawValue, default: FunnelCounts()] += counts
    byPriority[facts.priority?.rawValue ?? "none", default: FunnelCounts()] += counts
    byHour[RFC3339.text(facts.hour * 3_600_000), default: FunnelCounts()] += counts
    if let platform { byPlatform[platform, default: FunnelCounts()] += counts }
  }
}

/// The parts of a decision that its pushes are counted by.
struct FunnelFacts: Hashable, Sendable {
  var reason: DecisionReason
  var priority: Priority?
  /// Hours since the epoch.
  var hour: Int64
}
