import NudgeSchema

/// Fields of a record on `nudge.decisions`.
struct FunnelDecision: Decodable {
  let outcome: String
  let reason: DecisionReason
  let priority: Priority?
  let presentation: Presentation?
  let pushId: String?
  let decidedAt: Milliseconds
}

/// Fields of a record on `nudge.pushes`; one without targets is a cancellation.
struct FunnelPush: Decodable {
  struct Target: Decodable {
    let deviceId: String
    let platform: Platform
  }
  let pushId: String?
  let targets: [Target]?
}

/// Follows pushes from their decisions to what the person did, with a bound on memory.
///
/// Decisions come first, then pushes, then outcomes and receipts. Where there are more pushes than fit, the records are read in several
/// passes: a pass follows the pushes whose ids hash to its number, and the first one counts the decisions.
struct Funnel {
  /// A push and device: eight bytes.
  private struct Delivery {
    var facts: UInt32
    var platform: UInt8 = .max
    var glance = DeliveryGlance()
  }

  private let pass: Int
  private let passes: Int
  private(set) var table: FunnelTable
  /// Facts that many pushes share, by their places.
  private var facts: [FunnelFacts] = []
  private var places: [FunnelFacts: UInt32] = [:]
  /// The place of each push's facts, by the hash of its id.
  private var pushes: [UInt64: UInt32] = [:]
  /// By the hash of push and device.
  private var deliveries: [UInt64: Delivery] = [:]

  /// - Parameters:
  ///   - table: The counts of earlier passes.
  ///   - pass: The pass's number, from 0 on and below `passes`.
  init(_ table: FunnelTable, pass: Int = 0, of passes: Int = 1) {
    self.table = table
    self.pass = pass
    self.passes = max(1, passes)
  }

  /// Pushes and devices that are remembered.
  var remembered: Int { pushes.count + deliveries.count }

  mutating func add(_ decision: FunnelDecision) {
    // A deferred decision is followed by a final one.
    guard decision.outcome == "notify" || decision.outcome == "suppress",
      (table.since..<table.until).contains(decision.decidedAt)
    else { return }
    let its = FunnelFacts(
      reason: decision.reason, priority: decision.priority, hour: decision.decidedAt / 3_600_000)
    if pass == 0 {
      table.add(FunnelCounts(decided: 1, notify: decision.outcome == "notify" ? 1 : 0), its)
    }
    // A push that changes the badge alone has no receipts.
    guard let pushId = decision.pushId, decision.presentation != .badge, let key = key(pushId) else { return }
    let place = places[its] ?? UInt32(facts.count)
    if place == facts.count {
      places[its] = place
      facts.append(its)
    }
    pushes[key] = place
  }

  mutating func add(_ push: FunnelPush) {
    guard let pushId = push.pushId, let targets = push.targets, let key = key(pushId), pushes[key] != nil else {
      return
    }
    for target in targets {
      change(key, target.deviceId) { $0.platform = Self.place(of: target.platform, in: Platform.allCases) }
    }
  }

  mutating func add(_ record: OutcomesGlance) {
    switch record {
    case .outcome(let outcome):
      guard let key = key(outcome.pushId), pushes[key] != nil else { return }
      change(key, outcome.deviceId) { $0.glance.end(outcome.result, errorCode: outcome.errorCode) }
    case .receipt(let receipt):
      guard let key = key(receipt.pushId), pushes[key] != nil else { return }
      change(key, receipt.deviceId) {
        $0.glance.reach(receipt.state)
        $0.platform = Self.place(of: receipt.platform, in: Platform.allCases)
      }
    }
  }

  /// Counts the pass's pushes. Returns the table.
  mutating func conclude() -> FunnelTable {
    for delivery in deliveries.values {
      let glance = delivery.glance
      var counts = FunnelCounts(pushed: 1, ends: [glance.state.rawValue: 1])
      counts.taken = glance.isTaken ? 1 : 0
      counts.arrived = glance.hasArrived ? 1 : 0
      counts.opened = glance.has(.opened) ? 1 : 0
      table.add(
        counts, facts[Int(delivery.facts)],
        platform: delivery.platform == .max ? "unknown" : Platform.allCases[Int(delivery.platform)].rawValue)
    }
    pushes = [:]
    deliveries = [:]
    return table
  }

  private mutating func change(_ key: UInt64, _ deviceId: String, _ change: (inout Delivery) -> Void) {
    guard let facts = pushes[key] else { return }
    change(&deliveries[DeliveryGlance.key(push: key, deviceId: deviceId), default: Delivery(facts: facts)])
  }

  /// The hash of a push of this pass; nil: it is another pass's.
  private func key(_ pushId: String) -> UInt64? {
    let hash = FNV1a.hash(pushId)
    return hash % UInt64(passes) == UInt64(pass) ? hash : nil
  }

  private static func place<Choice: Equatable>(of choice: Choice, in choices: [Choice]) -> UInt8 {
    UInt8(choices.firstIndex(of: choice) ?? 0)
  }
}
