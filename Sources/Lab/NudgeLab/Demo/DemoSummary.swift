import NudgeCommands
import NudgeSchema
import ServiceKit

/// The result of a demo, which `--json` prints as one object.
struct DemoSummary: Encodable {
  /// A service that was killed on purpose.
  struct Kill: Encodable {
    let program: DemoProgram
    let after: Duration
    let killedAt: ContinuousClock.Instant
    /// Milliseconds from the kill to the next ready line. Absent if the service did not become ready again.
    var readyAfterMs: Int?

    private enum CodingKeys: String, CodingKey { case service, atSeconds, readyAfterMs }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(program.shortName, forKey: .service)
      try fields.encode(after.seconds, forKey: .atSeconds)
      try fields.encode(readyAfterMs, forKey: .readyAfterMs)
    }
  }

  let figures: LoadFigures
  let own: Own

  /// The fields that a load does not have.
  struct Own: Encodable {
    let broker: String
    let candidatesPerSecond: Double
    /// Decisions by `notify` and `suppress`.
    let decisions: [String: Int]
    let decisionsByReason: [String: Int]
    let pushesPerSecond: Double
    /// Requests for messages at the emulator.
    let requests: Int
    /// Those requests by HTTP status.
    let requestsByStatus: [String: Int]
    /// Requests taken without an outcome: they were in flight when the dispatcher was killed, and were sent again.
    let resentAfterKill: Int
    let banners: Int
    /// Records seen again with the same origin. Only the embedded broker shows aborted transactions.
    let repeats: Int
    let kills: [Kill]
    /// Services that were fenced and restarted.
    let fencedRestarts: Int
    let account: LedgerVerdict
  }

  init(
    options: DemoOptions, broker: String, played: Duration, settledAfter: Duration, load: EventPublisher.Progress,
    ledger: DeliveryLedger, kills: [Kill], fencedRestarts: Int, verdict: LedgerVerdict, wasInterrupted: Bool
  ) {
    figures = LoadFigures(
      chatLog: options.source.name, played: played, settledAfter: settledAfter, asked: options.rate, load: load,
      ledger: ledger, wasInterrupted: wasInterrupted)
    let notified = ledger.decisionsByReason.filter { $0.key.notifies }.values.reduce(0, +)
    own = Own(
      broker: broker, candidatesPerSecond: LoadFigures.rate(ledger.candidates, in: played),
      decisions: ["notify": notified, "suppress": ledger.decisions - notified, "deferred": ledger.deferred],
      decisionsByReason: ledger.decisionsByReason.byName,
      pushesPerSecond: LoadFigures.rate(ledger.pushes, in: played),
      requests: ledger.requestsByStatus.values.reduce(0, +),
      requestsByStatus: Dictionary(uniqueKeysWithValues: ledger.requestsByStatus.map { (String($0.key), $0.value) }),
      resentAfterKill: ledger.unrecorded, banners: ledger.banners, repeats: ledger.repeats, kills: kills,
      fencedRestarts: fencedRestarts, account: verdict)
  }

  func encode(to encoder: any Encoder) throws {
    try figures.encode(to: encoder)
    try own.encode(to: encoder)
  }

  /// The summary for a person: one line for each fact, then one for each check.
  func text(_ paint: Paint) -> String {
    func grouped(_ number: Int) -> String { PipelineView.grouped(number) }
    var rows: [(name: String, text: String)] = [
      ("broker", own.broker),
      ("chat log", figures.chatLog),
      (
        "messages",
        "\(grouped(figures.messages)) in \(figures.durationSeconds) s, \(figures.rateAchieved)/s of \(figures.rateAsked)/s asked"
      ),
      ("events", grouped(figures.events)),
      ("candidates", "\(grouped(figures.candidates)), \(own.candidatesPerSecond)/s"),
      ("decisions", SummaryText.counts(own.decisions)),
      ("", SummaryText.counts(own.decisionsByReason)),
      (
        "pushes",
        "\(grouped(figures.pushes)) to \(grouped(figures.targets)) devices, \(own.pushesPerSecond)/s"
      ),
      ("outcomes", SummaryText.counts(figures.outcomes)),
      ("requests", SummaryText.counts(own.requestsByStatus)),
      ("banners", grouped(own.banners)),
      ("latency", latency),
    ]
    if !figures.deadLetters.isEmpty { rows.append(("dead letters", SummaryText.counts(figures.deadLetters))) }
    if own.repeats > 0 { rows.append(("repeats", grouped(own.repeats))) }
    for kill in own.kills {
      let ready = kill.readyAfterMs.map { "ready again after \($0) ms" } ?? "not ready again"
      rows.append(("killed", "\(kill.program.shortName) at \(kill.after.seconds) s, \(ready)"))
    }
    if own.resentAfterKill > 0 {
      rows.append(("resent", "\(own.resentAfterKill) that were in flight at a kill"))
    }
    return SummaryText.page(rows, own.account, paint)
  }

  private var latency: String {
    figures.latencyMs.text + (figures.latencyMs.p50 == nil ? "" : ", from event to request")
  }
}
