import NudgeSchema

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

  /// Each step's share of the one before.
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
    var line = name + String(repeating: " ", count: max(0, width - name.count))
    for (cell, head) in zip(cells, heads) {
      line += String(repeating: " ", count: max(2, max(9, head.count + 2) - cell.count)) + cell
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
