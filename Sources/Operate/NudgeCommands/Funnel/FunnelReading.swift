import Kafka
import NudgeSchema

/// Reads a funnel from the topics.
struct FunnelReading {
  /// Pushes that a pass follows at most; some 100 bytes each.
  static let pushesOfPass: Int64 = 500_000
  /// How long after a decision its push is written at most, and how far hosts' clocks differ.
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
    // A decision has a push at most, and an outcome a device: pushes may be gone that outcomes are kept of.
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

  /// Passes on the records of ranges. One that cannot be decoded is of a later release, and is left out.
  private func read<Glance: Decodable>(
    _ ranges: [PartitionRange], _ topic: Topic, _ part: String, _ glance: Glance.Type, _ body: (Glance) -> Void
  ) throws {
    try browser.read(ranges, "reading \(browser.names(topic))\(part)") { record in
      if let value = record.value, let it = try? browser.coder.decode(glance, from: value) { body(it) }
      return true
    }
  }
}
