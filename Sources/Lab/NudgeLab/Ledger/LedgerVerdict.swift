import NudgeCommands
import NudgeSchema
import ServiceKit

/// Compares a ledger's counts, check by check.
struct LedgerVerdict: Sendable, Equatable, Encodable {
  /// Two counts that must be equal.
  struct Check: Sendable, Equatable, Encodable {
    /// The equation as text.
    var name: String
    var expected: Int
    var found: Int
    /// Whether the check succeeded. It can fail with equal counts, if they count different things.
    var ok: Bool
    /// The first differences as text.
    var missing: [String]
  }

  /// How a run's processes ended.
  struct Ending: Sendable, Equatable {
    var processes = 0
    /// The number of processes that exited with 0 when asked to stop.
    var endedWell = 0
    /// The failures of the others, as text.
    var complaints: [String] = []
  }

  /// The checks, in the order of the data flow.
  var checks: [Check]
  /// The pushes, counted for each device, that wait for FCM's quota. They are neither lost nor sent.
  let waiting: [QuotaWaits.Quota: Int]
  /// The number of other people's messages, which no check counts.
  let foreignMessages: Int

  var isBalanced: Bool { checks.allSatisfy(\.ok) }

  /// The most entries of `missing`.
  static let shown = 5

  /// - Parameters:
  ///   - wasDispatcherKilled: Whether requests without an outcome are expected, because they were in flight.
  ///   - ending: How the processes ended. Absent if they still run.
  init(
    _ ledger: DeliveryLedger, load: EventPublisher.Progress, wasDispatcherKilled: Bool, ending: Ending? = nil
  ) {
    checks = []
    waiting = ledger.waiting
    foreignMessages = ledger.foreignMessages.count
    add(
      "events published = acknowledged", load.produced, load.acknowledged, load.failure.map { [$0] } ?? [])
    add(
      "recipients of published messages = recipients of candidates", ledger.expected, ledger.candidates,
      ledger.withoutCandidate(Self.shown))
    add(
      "recipients of candidates = decisions", ledger.candidates, ledger.decisions + ledger.deferred,
      ledger.withoutDecision(Self.shown))
    add(
      "decisions that notify = pushes of messages", ledger.notifying.decided, ledger.notifying.pushed,
      ledger.withoutPush(Self.shown))
    let waits = waiting.values.reduce(0, +)
    add(
      waits > 0 ? "targets of pushes = outcomes + pushes that wait for quota" : "targets of pushes = outcomes",
      ledger.targets, ledger.outcomes + waits, ledger.withoutOutcome(Self.shown))
    let sent = ledger.outcomesByResult[.sent] ?? 0
    let unrecorded = ledger.unrecorded
    if ledger.seesRequests {
      add(
        wasDispatcherKilled && unrecorded > 0
          ? "outcomes sent + requests in flight at a kill = requests taken"
          : "outcomes sent = requests taken",
        sent + (wasDispatcherKilled ? unrecorded : 0), ledger.requestsTaken,
        ledger.withoutRequest(Self.shown) + (wasDispatcherKilled ? [] : ledger.withUnrecordedRequest(Self.shown))
          + ledger.unregisteredTokens.prefix(Self.shown))
    }
    add("records written twice", 0, ledger.doubled.count, Array(ledger.doubled.prefix(Self.shown)))
    let dead = ledger.deadLetters.values.reduce(0, +)
    add(
      "dead letters", 0, dead, ledger.deadLetters.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })
    if let ending {
      add("processes that ended well", ending.processes, ending.endedWell, ending.complaints)
    }
  }

  private mutating func add(_ name: String, _ expected: Int, _ found: Int, _ missing: [String]) {
    checks.append(
      Check(name: name, expected: expected, found: found, ok: expected == found && missing.isEmpty, missing: missing))
  }

  /// The failed checks as text.
  var complaints: [String] {
    checks.filter { !$0.ok }.map { check in
      "\(check.name): expected \(check.expected), found \(check.found)"
        + check.missing.map { "\n    \($0)" }.joined()
    }
  }

  /// The checks for a person, one a line.
  func lines(_ paint: Paint) -> [String] {
    checks.map { check in
      let (expected, found) = (PipelineView.grouped(check.expected), PipelineView.grouped(check.found))
      return "  \(check.ok ? paint.green("✓") : paint.red("✗")) \(check.name): "
        + (check.ok ? found : "expected \(expected), found \(found)")
    } + [waitingLine, foreignLine].compactMap { $0.map { "  … \($0)" } }
  }

  /// A line with the number of pushes that wait for quota. Absent if none waits.
  var waitingLine: String? {
    guard !waiting.isEmpty else { return nil }
    let counts = QuotaWaits.Quota.allCases.compactMap { quota in
      waiting[quota].map { "\(PipelineView.grouped($0)) \(quota.words)" }
    }
    return "pushes that wait: " + counts.joined(separator: ", ")
  }

  /// A line with the number of messages that others published. Absent if there are none.
  var foreignLine: String? {
    guard foreignMessages > 0 else { return nil }
    return "left out: \(PipelineView.grouped(foreignMessages)) "
      + (foreignMessages == 1 ? "message that was published by hand" : "messages that were published by hand")
  }

  /// Encodes `{"balanced":…,"checks":[…],"waiting":{"device":…}}`.
  func encode(to encoder: any Encoder) throws {
    try encoder.encode(fields: ["balanced": isBalanced, "checks": checks, "waiting": waiting])
  }
}

/// Lays out the summary of a demo or a load.
enum SummaryText {
  /// The summary for a person: one line for each fact, then one for each check.
  static func page(_ facts: [(name: String, text: String)], _ account: LedgerVerdict, _ paint: Paint) -> String {
    let lines = facts.map { "  \($0.name.padded(to: 14))\($0.text)" }
    return (["", paint.bold("summary")] + lines + ["", paint.bold("account")] + account.lines(paint))
      .joined(separator: "\n")
  }

  /// Counts by name, largest first.
  static func counts(_ counts: [String: Int]) -> String {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\(PipelineView.grouped($0.value)) \($0.key)" }
      .joined(separator: ", ")
  }
}

/// The figures that the summaries of a demo and of a load share. Their JSON has these fields beside their own.
struct LoadFigures: Encodable {
  let chatLog: String
  /// Seconds during which messages were published.
  let durationSeconds: Double
  /// Seconds from the last message until everything was accounted for.
  let settledAfterSeconds: Double
  /// Messages a second; of a load after the ramp and between bursts.
  let rateAsked: Double
  /// Messages a second, on average.
  let rateAchieved: Double
  /// Acknowledged events of all kinds.
  let events: Int
  /// Acknowledged messages.
  let messages: Int
  /// Recipients of candidates.
  let candidates: Int
  let pushes: Int
  /// Devices of all pushes.
  let targets: Int
  /// Outcomes by result.
  let outcomes: [String: Int]
  let deadLetters: [String: Int]
  /// From an event's own time to the end of its push on a device, for pushes that were sent. A load compares two clocks: this machine's
  /// and the dispatcher's.
  let latencyMs: LatencySummary
  /// Whether Ctrl-C ended it early.
  let interrupted: Bool

  init(
    chatLog: String, played: Duration, settledAfter: Duration, asked: Double, load: EventPublisher.Progress,
    ledger: DeliveryLedger, wasInterrupted: Bool
  ) {
    self.chatLog = chatLog
    durationSeconds = (played.seconds * 1_000).rounded() / 1_000
    settledAfterSeconds = (settledAfter.seconds * 1_000).rounded() / 1_000
    rateAsked = asked
    rateAchieved = Self.rate(load.messages, in: played)
    events = load.acknowledged
    messages = load.messages
    candidates = ledger.candidates
    pushes = ledger.pushes
    targets = ledger.targets
    outcomes = ledger.outcomesByResult.byName
    deadLetters = ledger.deadLetters
    latencyMs = LatencySummary(ledger.latency)
    interrupted = wasInterrupted
  }

  /// How many a second, to one decimal.
  static func rate(_ count: Int, in played: Duration) -> Double {
    (Double(count) / max(played.seconds, 0.001) * 10).rounded() / 10
  }
}

/// Counts latencies in whole milliseconds: exact percentiles up to two minutes, in constant memory.
struct LatencyHistogram: Sendable, Equatable {
  /// Longer latencies count as this one.
  static let longest = 120_000

  private var counts: [Int] = []
  private(set) var count = 0

  init() {}

  /// Adds a latency. A negative one, from a clock that was set back, counts as 0.
  mutating func add(milliseconds: Int64) {
    let value = Int(min(max(milliseconds, 0), Int64(Self.longest)))
    if counts.count <= value { counts.append(contentsOf: repeatElement(0, count: value + 1 - counts.count)) }
    counts[value] += 1
    count += 1
  }

  /// The smallest latency that at least this fraction (0 to 1) of all latencies do not exceed. Absent if there are none.
  func percentile(_ part: Double) -> Int? {
    guard count > 0 else { return nil }
    let rank = max(1, Int((part * Double(count)).rounded(.up)))
    var seen = 0
    for (value, number) in counts.enumerated() {
      seen += number
      if seen >= rank { return value }
    }
    return counts.count - 1
  }

  /// The longest latency. Absent if there are none.
  var maximum: Int? { count > 0 ? counts.count - 1 : nil }
}

/// Percentiles of the time from a message's publication to the request for its push, by device, in milliseconds.
struct LatencySummary: Encodable {
  let p50: Int?
  let p90: Int?
  let p99: Int?
  let max: Int?

  init(_ latency: LatencyHistogram) {
    p50 = latency.percentile(0.5)
    p90 = latency.percentile(0.9)
    p99 = latency.percentile(0.99)
    max = latency.maximum
  }

  /// The percentiles on one line, for a person.
  var text: String {
    guard let p50, let p90, let p99, let max else { return "no push" }
    return "p50 \(p50) ms, p90 \(p90) ms, p99 \(p99) ms, max \(max) ms"
  }
}
