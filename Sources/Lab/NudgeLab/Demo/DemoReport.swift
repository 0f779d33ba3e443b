import ServiceKit

/// A demo's summary as text.
struct DemoReport {
  private let summary: DemoSummary

  init(_ summary: DemoSummary) { self.summary = summary }

  /// The summary for a person: one line for each fact, then one for each check.
  func text(_ paint: Paint) -> String {
    var rows: [(name: String, text: String)] = [
      ("broker", summary.broker),
      ("chat log", summary.chatLog),
      (
        "messages",
        "\(grouped(summary.messages)) in \(summary.durationSeconds) s, \(summary.rateAchieved)/s of \(summary.rateAsked)/s asked"
      ),
      ("events", grouped(summary.events)),
      ("candidates", "\(grouped(summary.candidates)), \(summary.candidatesPerSecond)/s"),
      ("decisions", counts(summary.decisions)),
      ("", counts(summary.decisionsByReason)),
      (
        "pushes",
        "\(grouped(summary.pushes)) to \(grouped(summary.targets)) devices, \(summary.pushesPerSecond)/s"
      ),
      ("outcomes", counts(summary.outcomes)),
      ("requests", counts(summary.requestsByStatus)),
      ("banners", grouped(summary.banners)),
      ("latency", latency),
    ]
    if !summary.deadLetters.isEmpty { rows.append(("dead letters", counts(summary.deadLetters))) }
    if summary.repeats > 0 { rows.append(("repeats", grouped(summary.repeats))) }
    for kill in summary.kills {
      let ready = kill.readyAfterMs.map { "ready again after \($0) ms" } ?? "not ready again"
      rows.append(("killed", "\(kill.program.shortName) at \(kill.after.seconds) s, \(ready)"))
    }
    if summary.resentAfterKill > 0 {
      rows.append(("resent", "\(summary.resentAfterKill) that were in flight at a kill"))
    }
    return SummaryText.page(rows, summary.account, paint)
  }

  private var latency: String {
    summary.latencyMs.text + (summary.latencyMs.p50 == nil ? "" : ", from event to request")
  }

  private func counts(_ counts: [String: Int]) -> String { SummaryText.counts(counts) }

  private func grouped(_ number: Int) -> String { PipelineView.grouped(number) }
}
