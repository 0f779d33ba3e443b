import NudgeSchema
import ServiceKit

/// What a load has found out: `--json` prints it.
struct LoadSummary: Encodable {
  /// Stands in the ids of the run.
  let run: String
  /// The chat log.
  let chatLog: String
  /// Seconds for which messages were published.
  let durationSeconds: Double
  /// Seconds from the last message until everything was accounted for.
  let settledAfterSeconds: Double
  /// Messages a second, after the rise and between bursts.
  let rateAsked: Double
  /// Messages a second, over all.
  let rateAchieved: Double
  /// Events of all kinds that Kafka acknowledged.
  let events: Int
  /// Messages among them.
  let messages: Int
  /// Recipients of candidates.
  let candidates: Int
  /// Decisions by reason.
  let decisions: [String: Int]
  let pushes: Int
  /// Devices of all pushes.
  let targets: Int
  /// Outcomes by result.
  let outcomes: [String: Int]
  let deadLetters: [String: Int]
  /// Milliseconds from an event's own time to the end of its push on a device, of those that were sent: by the
  /// dispatcher's clock and this machine's.
  let latencyMs: DemoSummary.Latency
  /// Whether Ctrl-C ended the load early.
  let interrupted: Bool
  /// Whether everything is accounted for.
  let account: AccountVerdict

  /// Draws it up.
  init(
    run: String, chatLog: String, played: Duration, settledAfter: Duration, asked: Double,
    load: EventPublisher.Progress, account: Account, wasInterrupted: Bool
  ) {
    self.run = run
    self.chatLog = chatLog
    durationSeconds = (played.seconds * 1_000).rounded() / 1_000
    settledAfterSeconds = (settledAfter.seconds * 1_000).rounded() / 1_000
    rateAsked = asked
    rateAchieved = (Double(load.messages) / max(played.seconds, 0.001) * 10).rounded() / 10
    events = load.acknowledged
    messages = load.messages
    candidates = account.candidates
    decisions = Dictionary(uniqueKeysWithValues: account.decisionsByReason.map { ($0.key.rawValue, $0.value) })
    pushes = account.pushes
    targets = account.targets
    outcomes = Dictionary(uniqueKeysWithValues: account.outcomesByResult.map { ($0.key.rawValue, $0.value) })
    deadLetters = account.deadLetters
    latencyMs = DemoSummary.Latency(account.latency)
    interrupted = wasInterrupted
    self.account = AccountVerdict(account, load: load, wasDispatcherKilled: false)
  }

  /// For a person: a line a fact, then a line a check.
  func text(_ paint: Paint) -> String {
    func grouped(_ number: Int) -> String { DemoView.grouped(number) }
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
