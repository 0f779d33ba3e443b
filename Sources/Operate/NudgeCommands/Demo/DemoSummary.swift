import NudgeSchema
import ServiceKit

/// What a demo has found out: `--json` prints it.
struct DemoSummary: Encodable {
  /// A service that was killed on purpose.
  struct Kill: Encodable {
    let program: DemoProgram
    let after: Duration
    let killedAt: ContinuousClock.Instant
    /// From the kill to the ready line of the next life, milliseconds; nil: it was not ready any more.
    var readyAfterMs: Int?

    init(program: DemoProgram, after: Duration, killedAt: ContinuousClock.Instant) {
      self.program = program
      self.after = after
      self.killedAt = killedAt
    }

    private enum CodingKeys: String, CodingKey { case service, atSeconds, readyAfterMs }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(program.shortName, forKey: .service)
      try fields.encode(after.seconds, forKey: .atSeconds)
      try fields.encode(readyAfterMs, forKey: .readyAfterMs)
    }
  }

  /// Milliseconds from the publication of a message to the request for its push, by device.
  struct Latency: Encodable {
    let p50: Int?
    let p90: Int?
    let p99: Int?
    let max: Int?

    /// Of what was counted.
    init(_ latency: LatencyHistogram) {
      p50 = latency.percentile(0.5)
      p90 = latency.percentile(0.9)
      p99 = latency.percentile(0.99)
      max = latency.maximum
    }

    /// For a person.
    var text: String {
      guard let p50, let p90, let p99, let max else { return "no push" }
      return "p50 \(p50) ms, p90 \(p90) ms, p99 \(p99) ms, max \(max) ms"
    }
  }

  /// Which broker.
  let broker: String
  /// The chat log.
  let chatLog: String
  /// Seconds for which messages were published.
  let durationSeconds: Double
  /// Seconds from the last message until everything was accounted for.
  let settledAfterSeconds: Double
  /// Messages a second.
  let rateAsked: Double
  /// Messages a second.
  let rateAchieved: Double
  /// Events of all kinds that Kafka acknowledged.
  let events: Int
  /// Messages among them.
  let messages: Int
  /// Recipients of candidates.
  let candidates: Int
  let candidatesPerSecond: Double
  /// Decisions by outcome.
  let decisions: [String: Int]
  /// Decisions by reason.
  let decisionsByReason: [String: Int]
  let pushes: Int
  /// Devices of all pushes.
  let targets: Int
  let pushesPerSecond: Double
  /// Outcomes by result.
  let outcomes: [String: Int]
  /// Requests for messages at the emulator.
  let requests: Int
  /// The same by HTTP status.
  let requestsByStatus: [String: Int]
  /// Requests answered 200 that no outcome tells of: in flight when the dispatcher was killed, and sent again.
  let resentAfterKill: Int
  let deadLetters: [String: Int]
  let banners: Int
  /// Records seen again with the same origin (embedded broker only: it shows what aborted transactions wrote).
  let repeats: Int
  let latencyMs: Latency
  let kills: [Kill]
  /// Services that were fenced and started again.
  let fencedRestarts: Int
  /// Whether Ctrl-C ended the load early.
  let interrupted: Bool
  /// Whether everything is accounted for.
  let account: AccountVerdict

  /// Draws it up.
  init(
    options: DemoOptions, broker: String, played: Duration, settledAfter: Duration, load: EventPublisher.Progress,
    account: Account, kills: [Kill], fencedRestarts: Int, verdict: AccountVerdict, wasInterrupted: Bool
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
    candidates = account.candidates
    candidatesPerSecond = rate(account.candidates)
    let notified = account.decisionsByReason.filter { $0.key.notifies }.values.reduce(0, +)
    decisions = ["notify": notified, "suppress": account.decisions - notified]
    decisionsByReason = Dictionary(uniqueKeysWithValues: account.decisionsByReason.map { ($0.key.rawValue, $0.value) })
    pushes = account.pushes
    targets = account.targets
    pushesPerSecond = rate(account.pushes)
    outcomes = Dictionary(uniqueKeysWithValues: account.outcomesByResult.map { ($0.key.rawValue, $0.value) })
    requests = account.requestsByStatus.values.reduce(0, +)
    requestsByStatus = Dictionary(uniqueKeysWithValues: account.requestsByStatus.map { (String($0.key), $0.value) })
    resentAfterKill = account.unrecorded
    deadLetters = account.deadLetters
    banners = account.banners
    repeats = account.repeats
    latencyMs = Latency(account.latency)
    self.kills = kills
    self.fencedRestarts = fencedRestarts
    interrupted = wasInterrupted
    self.account = verdict
  }
}
