import Kafka
import NudgeSchema
import ServiceKit

enum FunnelCommand {
  private static let since = TimeSpan.since("Decisions", default: .seconds(3_600))
  private static let until = TimeSpan.until("Decisions")
  private static let json = CommandOutput.json

  static let command = Command(
    "funnel",
    abstract: "Counts how far messages got, from the decision to the tap.",
    discussion:
      "By reason, priority, platform and hour. Decisions count a person and message, all else a push and device. Reads "
      + "nudge.decisions, nudge.pushes and nudge.outcomes, in several passes if there is much.",
    settings: ClusterSettings.all + [since, until, Watching.every, json],
    examples: [
      "nudge funnel --since 1h --bootstrap-servers kafka:9092",
      "nudge funnel --since 2026-11-22T08:00:00Z --until 2026-11-22T09:00:00Z --json --bootstrap-servers kafka:9092",
    ]
  ) { input in
    func span() throws(SettingsError) -> (from: Milliseconds, to: Milliseconds) {
      let now = SystemClock.milliseconds()
      let span = try TimeSpan.of(since: input[since], until: input[until], now: now)
      return (span.from ?? 0, span.to ?? now)
    }
    _ = try span()
    let browser = try TopicBrowser(ClusterSettings(input))
    return try Watching.run(input, asJSON: input[json]) {
      let (from, to) = try span()
      let table = try FunnelReading(browser: browser, since: from, until: to).table()
      try CommandOutput.print(table, asJSON: input[json], text: FunnelReport(table).text)
      return ExitCode.success
    }
  }
}

/// Reads a funnel from the topics.
struct FunnelReading {
  /// The most pushes tracked in one pass, at about 100 bytes each.
  static let pushesOfPass: Int64 = 500_000
  /// The longest time from a decision to its push, plus the tolerance for clock differences.
  private static let slack: Milliseconds = 60_000
  /// How long after a push its outcome and receipts come.
  private static let afterwards: Milliseconds = 25 * 3_600_000

  let browser: TopicBrowser
  let since: Milliseconds
  let until: Milliseconds

  func table() throws -> FunnelTable {
    try browser.find([.decisions, .pushes, .outcomes])
    let decisions = try browser.ranges(of: .decisions, from: since - Self.slack, until: until + Self.slack)
    let pushes = try browser.ranges(of: .pushes, from: since - Self.slack, until: until + Self.slack)
    let outcomes = try browser.ranges(of: .outcomes, from: since - Self.slack, until: until + Self.afterwards)
    // A decision has at most one push, and a push an outcome per device. Outcomes may be kept longer than their pushes.
    let count = min(
      decisions.reduce(0) { $0 + $1.count },
      max(pushes.reduce(0) { $0 + $1.count }, outcomes.reduce(0) { $0 + $1.count }))
    let passes = max(1, Int((count + Self.pushesOfPass - 1) / Self.pushesOfPass))
    var table = FunnelTable(since: since, until: until)
    for pass in 0..<passes {
      var funnel = Funnel(table, pass: pass, of: passes)
      let part = passes == 1 ? "" : ", \(pass + 1) of \(passes)"
      try read(decisions, .decisions, part, FunnelDecision.self) { funnel.add($0) }
      try read(pushes, .pushes, part, FunnelPush.self) { funnel.add($0) }
      try read(outcomes, .outcomes, part, OutcomesGlance.self) { funnel.add($0) }
      table = funnel.conclude()
    }
    return table
  }

  /// Passes on the records of ranges. A record that cannot be decoded comes from a later release and is left out.
  private func read<Glance: Decodable>(
    _ ranges: [PartitionRange], _ topic: Topic, _ part: String, _ glance: Glance.Type, _ body: (Glance) -> Void
  ) throws {
    try browser.read(ranges, "reading \(browser.names(topic))\(part)") { record in
      if let value = record.value, let it = try? browser.coder.decode(glance, from: value) { body(it) }
      return true
    }
  }
}

/// The fields that are read from a record on `nudge.decisions`.
struct FunnelDecision: Decodable {
  let outcome: String
  let reason: DecisionReason
  let priority: Priority?
  let presentation: Presentation?
  let pushId: String?
  let decidedAt: Milliseconds
}

/// The fields that are read from a record on `nudge.pushes`. A record without targets is a cancellation.
struct FunnelPush: Decodable {
  struct Target: Decodable {
    let deviceId: String
    let platform: Platform
  }
  let pushId: String?
  let targets: [Target]?
}

/// Follows pushes from their decisions to what the person did, with bounded memory.
///
/// Decisions are read first, then pushes, then outcomes and receipts. If there are too many pushes, the records are read in several passes:
/// each pass tracks the pushes whose ids hash to its number, and the first pass also counts the decisions.
struct Funnel {
  /// A push on a device, in eight bytes.
  private struct Delivery {
    var facts: UInt32
    var platform: UInt8 = .max
    var glance = DeliveryGlance()
  }

  private let pass: Int
  private let passes: Int
  private(set) var table: FunnelTable
  /// Facts that many pushes share, by index.
  private var facts: [FunnelFacts] = []
  private var places: [FunnelFacts: UInt32] = [:]
  /// The index of each push's facts, by the hash of its id.
  private var pushes: [UInt64: UInt32] = [:]
  /// By the hash of push and device.
  private var deliveries: [UInt64: Delivery] = [:]

  /// - Parameters:
  ///   - table: The counts of earlier passes.
  ///   - pass: The number of the pass, from 0 and below `passes`.
  init(_ table: FunnelTable, pass: Int = 0, of passes: Int = 1) {
    self.table = table
    self.pass = pass
    self.passes = max(1, passes)
  }

  /// The number of stored pushes and devices.
  var remembered: Int { pushes.count + deliveries.count }

  mutating func add(_ decision: FunnelDecision) {
    // A final decision follows a deferred one.
    guard decision.outcome == "notify" || decision.outcome == "suppress",
      (table.since..<table.until).contains(decision.decidedAt)
    else { return }
    let its = FunnelFacts(
      reason: decision.reason, priority: decision.priority, hour: decision.decidedAt / 3_600_000)
    if pass == 0 {
      table.add(FunnelCounts(decided: 1, notify: decision.outcome == "notify" ? 1 : 0), its)
    }
    // A push that only changes the badge has no receipts.
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

  /// Counts the pushes of the pass. Returns the table.
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

  /// The hash of a push of this pass; nil if it belongs to another pass.
  private func key(_ pushId: String) -> UInt64? {
    let hash = FNV1a.hash(pushId)
    return hash % UInt64(passes) == UInt64(pass) ? hash : nil
  }

  private static func place<Choice: Equatable>(of choice: Choice, in choices: [Choice]) -> UInt8 {
    UInt8(choices.firstIndex(of: choice) ?? 0)
  }
}

/// How far messages and their pushes got. The first two fields count per person and message, the others per push and device.
struct FunnelCounts: Encodable, Equatable {
  /// Final decisions.
  var decided = 0
  /// Decisions to notify, including those that only change the badge.
  var notify = 0
  /// Pushes of messages, one per device.
  var pushed = 0
  /// A push service accepted it, or a device reported it.
  var taken = 0
  /// A device received it.
  var arrived = 0
  /// The person tapped it.
  var opened = 0
  /// The end state of each push and device. The sum is `pushed`.
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

/// The funnel of a time span and its parts.
struct FunnelTable: Encodable, Equatable {
  /// Decisions since this time, in milliseconds since the epoch.
  var since: Milliseconds
  /// Decisions before this time.
  var until: Milliseconds
  var all = FunnelCounts()
  /// By the decision's reason.
  var byReason: [String: FunnelCounts] = [:]
  /// By the decision's priority; `none` if an earlier check decided.
  var byPriority: [String: FunnelCounts] = [:]
  /// By the device's platform; `unknown` if neither the push nor a receipt is kept. Decisions have no platform.
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

/// The parts of a decision by which its pushes are counted.
struct FunnelFacts: Hashable, Sendable {
  var reason: DecisionReason
  var priority: Priority?
  /// Hours since the epoch.
  var hour: Int64
}

/// A funnel as text.
struct FunnelReport {
  let table: FunnelTable

  init(_ table: FunnelTable) { self.table = table }

  private static let heads = [
    "decided", "notify", "pushed", "taken", "arrived", "opened", "dismissed", "withdrawn", "failed", "waiting",
  ]

  var text: String {
    guard table.all.decided > 0 else {
      return "No decision from \(RFC3339.text(table.since)) to \(RFC3339.text(table.until))."
    }
    var lines = ["Decisions from \(RFC3339.text(table.since)) to \(RFC3339.text(table.until))", ""]
    let sections: [(String, [String: FunnelCounts])] = [
      ("reason", table.byReason), ("priority", table.byPriority), ("platform", table.byPlatform),
      ("hour", table.byHour),
    ]
    let width = max(8, sections.flatMap { $0.1.keys }.map(\.count).max() ?? 0) + 2
    lines.append(Self.row("", Self.heads, width))
    lines.append(Self.row("all", Self.cells(table.all), width))
    lines.append(Self.row("", shares, width))
    for (name, parts) in sections where !parts.isEmpty {
      lines += ["", "by \(name)"]
      for (key, counts) in parts.sorted(by: { name == "hour" ? $0.key < $1.key : Self.order($0, $1) }) {
        lines.append(Self.row("  " + key, Self.cells(counts, hasDecisions: name != "platform"), width))
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The share of each step in the previous one.
  private var shares: [String] {
    let all = table.all
    func share(_ part: Int, of whole: Int) -> String {
      whole == 0 ? "" : "\((Double(part) / Double(whole) * 1_000).rounded() / 10) %"
    }
    return [
      "", share(all.notify, of: all.decided), "", share(all.taken, of: all.pushed), share(all.arrived, of: all.taken),
      share(all.opened, of: all.arrived),
    ]
  }

  private static func cells(_ counts: FunnelCounts, hasDecisions: Bool = true) -> [String] {
    let ends = [PushEndState.dismissed, .withdrawn, .failed, .waiting].map { String(counts.ended($0)) }
    let decisions = hasDecisions ? [String(counts.decided), String(counts.notify)] : ["", ""]
    return decisions + [counts.pushed, counts.taken, counts.arrived, counts.opened].map { String($0) } + ends
  }

  private static func order(
    _ a: Dictionary<String, FunnelCounts>.Element, _ b: Dictionary<String, FunnelCounts>.Element
  ) -> Bool {
    (b.value.decided, b.value.pushed, a.key) < (a.value.decided, a.value.pushed, b.key)
  }

  private static func row(_ name: String, _ cells: [String], _ width: Int) -> String {
    var line = name.padded(to: width)
    for (cell, head) in zip(cells, heads) {
      line += String(repeating: " ", count: max(2, max(9, head.count + 2) - cell.count)) + cell
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
