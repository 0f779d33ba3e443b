import NudgeSchema
import ServiceKit

/// The result of a load; `--json` prints it.
struct LoadSummary: Encodable {
  /// Part of the run's ids.
  let run: String
  let chatLog: String
  /// Seconds during which messages were published.
  let durationSeconds: Double
  /// Seconds from the last message until everything was accounted for.
  let settledAfterSeconds: Double
  /// Messages a second, after the ramp and between bursts.
  let rateAsked: Double
  /// Messages a second, on average.
  let rateAchieved: Double
  /// Acknowledged events of all kinds.
  let events: Int
  /// Acknowledged messages.
  let messages: Int
  /// Recipients of candidates.
  let candidates: Int
  let decisions: [String: Int]
  let pushes: Int
  /// Devices of all pushes.
  let targets: Int
  let outcomes: [String: Int]
  let deadLetters: [String: Int]
  /// Milliseconds from an event's own time to the end of its push on a device, for pushes that were sent; by the clocks of
  /// the dispatcher and of this machine.
  let latencyMs: LatencySummary
  /// Whether Ctrl-C ended the load early.
  let interrupted: Bool
  let account: LedgerVerdict

  init(
    run: String, chatLog: String, played: Duration, settledAfter: Duration, asked: Double,
    load: EventPublisher.Progress, ledger: DeliveryLedger, wasInterrupted: Bool
  ) {
    self.run = run
    self.chatLog = chatLog
    durationSeconds = (played.seconds * 1_000).rounded() / 1_000
    settledAfterSeconds = (settledAfter.seconds * 1_000).rounded() / 1_000
    rateAsked = asked
    rateAchieved = (Double(load.messages) / max(played.seconds, 0.001) * 10).rounded() / 10
    events = load.acknowledged
    messages = load.messages
    candidates = ledger.candidates
    decisions = Dictionary(uniqueKeysWithValues: ledger.decisionsByReason.map { ($0.key.rawValue, $0.value) })
    pushes = ledger.pushes
    targets = ledger.targets
    outcomes = Dictionary(uniqueKeysWithValues: ledger.outcomesByResult.map { ($0.key.rawValue, $0.value) })
    deadLetters = ledger.deadLetters
    latencyMs = LatencySummary(ledger.latency)
    interrupted = wasInterrupted
    self.account = LedgerVerdict(ledger, load: load, wasDispatcherKilled: false)
  }

  /// One line a fact, then one line a check.
  func text(_ paint: Paint) -> String {
    func grouped(_ number: Int) -> String { PipelineView.grouped(number) }
    let facts: [(name: String, text: String)] = [
      ("chat log", chatLog),
      (
        "messages", "\(grouped(messages)) in \(durationSeconds) s, \(rateAchieved)/s (\(rateAsked.settingText)/s asked)"
      ),
      ("candidates", grouped(candidates)),
      ("decisions", SummaryText.counts(decisions)),
      ("pushes", "\(grouped(pushes)) to \(grouped(targets)) devices"),
      ("outcomes", SummaryText.counts(outcomes)),
      ("latency", latencyMs.text),
      ("settled", "\(settledAfterSeconds) s after the last message"),
    ]
    return SummaryText.page(facts, account, paint)
  }
}
