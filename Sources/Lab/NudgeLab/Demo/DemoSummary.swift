import NudgeSchema
import ServiceKit

/// The result of a demo, which `--json` prints.
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

  let broker: String
  let chatLog: String
  /// Seconds during which messages were published.
  let durationSeconds: Double
  /// Seconds from the last message until everything was accounted for.
  let settledAfterSeconds: Double
  /// Messages a second.
  let rateAsked: Double
  /// Messages a second.
  let rateAchieved: Double
  /// Acknowledged events of all kinds.
  let events: Int
  /// Acknowledged messages.
  let messages: Int
  /// Recipients of candidates.
  let candidates: Int
  let candidatesPerSecond: Double
  /// Decisions by `notify` and `suppress`.
  let decisions: [String: Int]
  let decisionsByReason: [String: Int]
  let pushes: Int
  /// Devices of all pushes.
  let targets: Int
  let pushesPerSecond: Double
  /// Outcomes by result.
  let outcomes: [String: Int]
  /// Requests for messages at the emulator.
  let requests: Int
  /// Those requests by HTTP status.
  let requestsByStatus: [String: Int]
  /// Requests taken without an outcome: they were in flight when the dispatcher was killed, and were sent again.
  let resentAfterKill: Int
  let deadLetters: [String: Int]
  let banners: Int
  /// Records seen again with the same origin. Only the embedded broker shows aborted transactions.
  let repeats: Int
  let latencyMs: LatencySummary
  let kills: [Kill]
  /// Services that were fenced and restarted.
  let fencedRestarts: Int
  /// Whether Ctrl-C ended the load early.
  let interrupted: Bool
  let account: LedgerVerdict

  init(
    options: DemoOptions, broker: String, played: Duration, settledAfter: Duration, load: EventPublisher.Progress,
    ledger: DeliveryLedger, kills: [Kill], fencedRestarts: Int, verdict: LedgerVerdict, wasInterrupted: Bool
  ) {
    let seconds = max(played.seconds, 0.001)
    func rate(_ count: Int) -> Double { (Double(count) / seconds * 10).rounded() / 10 }
    self.broker = broker
    chatLog = options.source.name
    durationSeconds = (played.seconds * 1_000).rounded() / 1_000
    settledAfterSeconds = (settledAfter.seconds * 1_000).rounded() / 1_000
    rateAsked = options.rate
    rateAchieved = rate(load.messages)
    events = load.acknowledged
    messages = load.messages
    candidates = ledger.candidates
    candidatesPerSecond = rate(ledger.candidates)
    let notified = ledger.decisionsByReason.filter { $0.key.notifies }.values.reduce(0, +)
    decisions = [
      "notify": notified, "suppress": ledger.decisions - notified, "deferred": ledger.deferred,
    ]
    decisionsByReason = Dictionary(uniqueKeysWithValues: ledger.decisionsByReason.map { ($0.key.rawValue, $0.value) })
    pushes = ledger.pushes
    targets = ledger.targets
    pushesPerSecond = rate(ledger.pushes)
    outcomes = Dictionary(uniqueKeysWithValues: ledger.outcomesByResult.map { ($0.key.rawValue, $0.value) })
    requests = ledger.requestsByStatus.values.reduce(0, +)
    requestsByStatus = Dictionary(uniqueKeysWithValues: ledger.requestsByStatus.map { (String($0.key), $0.value) })
    resentAfterKill = ledger.unrecorded
    deadLetters = ledger.deadLetters
    banners = ledger.banners
    repeats = ledger.repeats
    latencyMs = LatencySummary(ledger.latency)
    self.kills = kills
    self.fencedRestarts = fencedRestarts
    interrupted = wasInterrupted
    self.account = verdict
  }
}

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
