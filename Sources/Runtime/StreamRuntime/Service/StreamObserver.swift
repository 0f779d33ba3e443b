import NudgeSchema
import ServiceKit
import Synchronization

/// Turns events of stream threads into logs, metrics and readiness. Any thread may call it.
final class StreamObserver: Sendable {
  private let logger: Logger
  private let health: HealthState
  private let stage: String
  private let records: Counter
  private let outputs: Counter
  private let rows: Counter
  private let transactions: Counter
  private let failedTransactions: Counter
  private let transactionTime: Histogram
  private let throttleTime: Histogram
  private let storeTime: Histogram
  private let age: Gauge
  private let latency: Histogram
  private let cached: Gauge
  private let moved: Counter
  private let wiped: Counter
  private let gaps: Counter
  private let lostStates: Counter
  private let rekeyed: Counter
  private let markersMissing: Counter
  private let ended: Counter
  private let timersFired: Counter
  /// The stage's own instruments.
  private let stageMetrics: StageInstruments
  /// Counters of all codes from the start, because Prometheus sees no increase in the first value of a series.
  private let deadLetters: [DeadLetterCode: Counter]
  private let state = Mutex(State())

  /// The state of a thread, by its events so far.
  private struct Report: Sendable {
    /// Assigned tasks.
    var assigned: Set<Int32> = []
    /// Assigned tasks that do not run yet.
    var restoring: Set<Int32> = []
    /// Tasks whose state or input is lost.
    var lost: Set<Int32> = []
    /// The transactions that should have ended and hold tasks back. Absent if there are none.
    var awaitedTransactions: String?
    /// Why commits have failed for some seconds. Absent if they have not.
    var stuck: String?
    /// Bytes of rows in memory.
    var cached = 0
  }

  private struct State {
    /// By thread.
    var reports: [Int: Report] = [:]
    var isStopping = false
  }

  init(
    stage: String, logger: Logger, health: HealthState, metrics: MetricsRegistry, expected: [any StageMetric] = []
  ) {
    self.stage = stage
    self.logger = logger
    self.health = health
    records = metrics.counter("nudge_records_total", help: "Records processed.")
    outputs = metrics.counter("nudge_outputs_total", help: "Records written, without state.")
    rows = metrics.counter("nudge_state_changes_total", help: "Rows written to the changelog.")
    transactions = metrics.counter("nudge_transactions_total", help: "Transactions committed.")
    failedTransactions = metrics.counter(
      "nudge_transactions_failed_total", help: "Transactions refused, or whose outcome had to be looked up.")
    transactionTime = metrics.histogram(
      "nudge_transaction_seconds", help: "From begin to the end of the commit, in seconds.")
    throttleTime = metrics.histogram(
      "nudge_kafka_throttle_seconds",
      help: "Waits before a commit because a quota of the brokers throttles it, in seconds.",
      buckets: Self.latencyBounds)
    storeTime = metrics.histogram(
      "nudge_store_write_seconds",
      help: "Handing committed rows to the store, the wait for the write before included, in seconds.")
    age = metrics.gauge(
      "nudge_record_age_seconds", help: "Age of the record processed last, by its timestamp, in seconds.")
    latency = metrics.histogram(
      "nudge_record_latency_seconds",
      help: "From a record's timestamp to its being processed, of the last record of each poll, in seconds.",
      buckets: Self.latencyBounds)
    cached = metrics.gauge(
      "nudge_cached_row_bytes", help: "About how many bytes the rows of state take that are in memory.")
    moved = metrics.counter(
      "nudge_offsets_moved_total",
      help: "Tasks started whose committed offsets had been moved by somebody else; the position stands.")
    wiped = metrics.counter(
      "nudge_stores_wiped_total", help: "Stores found to be of no use and restored from the start.")
    gaps = metrics.counter(
      "nudge_gap_records_total", help: "Offsets that were gone from an input before they were processed.")
    lostStates = metrics.counter(
      "nudge_state_lost_total", help: "Times a task was found to have committed offsets but no position.")
    timersFired = metrics.counter(
      "nudge_timers_fired_total", help: "Timers that were due and were written to the stage's own input.")
    markersMissing = metrics.counter(
      "nudge_pending_transactions_total", help: "Times pending transactions had not ended after a long wait.")
    ended = metrics.counter(
      "nudge_hanging_transactions_ended_total",
      help: "Transactions without markers that were ended as they were decided.")
    deadLetters = Dictionary(
      uniqueKeysWithValues: DeadLetterCode.allCases.map {
        (
          $0,
          metrics.counter(
            "nudge_dead_letters_total", help: "Records sent to the dead letters, by reason.",
            labels: ["code": $0.rawValue])
        )
      })
    stageMetrics = StageInstruments(metrics, expected: expected)
    rekeyed = metrics.counter(
      "nudge_rekeyed_records_total", help: "Records found on the wrong partition and written to the right one (M9).")
  }

  /// Histogram bounds in seconds, from milliseconds to the hour in which a message is fresh.
  private static let latencyBounds: [Double] = [
    0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600,
  ]

  /// The tasks assigned to the process.
  var tasks: Set<Int32> { state.withLock { $0.reports.values.reduce(into: []) { $0.formUnion($1.assigned) } } }

  func part(thread: Int) -> String { "stream-\(thread)" }

  /// Observes how long a broker's quota throttles commits.
  func throttled(_ time: Duration) { throttleTime.observe(Double(time.milliseconds) / 1_000) }

  func observe(_ event: StreamEvent, thread: Int) {
    let log = logger.with(["thread": .int(thread)])
    switch event {
    case .assigned(let tasks):
      log.info("partitions assigned", ["tasks": .string(Self.list(tasks))])
      change(thread) { $0 = Report(assigned: Set(tasks), restoring: Set(tasks), cached: $0.cached) }
      set(thread, tasks.isEmpty ? .ready : .notReady("restoring tasks \(Self.list(tasks))"))
      if tasks.isEmpty { log.notice("no partitions for this thread: there are more threads than partitions") }
    case .released(let tasks, let lost):
      log.info(lost ? "partitions lost" : "partitions given up", ["tasks": .string(Self.list(tasks))])
      change(thread) { $0.assigned.subtract(tasks) }
      set(thread, .notReady("rebalancing"))
    case .storeWiped(let task, let reason):
      wiped.increment()
      log.warning(
        "the store is of no use and is restored from the log's start",
        ["task": .int(Int(task)), "reason": .string(reason)])
    case .restoring(let task, let rows, let offset, let target):
      let text = "task \(task): \(offset) of \(target), \(rows) rows"
      log.info("restoring", ["progress": .string(text)])
      set(thread, .notReady("restoring \(text)"))
    case .restoreHeld(let task, let stable, let target):
      let text = "task \(task): a pending transaction holds back its changelog at \(stable) of \(target)"
      log.warning(
        "a restore waits for a transaction that is pending; the broker ends it within transaction.timeout.ms, or else see "
          + "docs/operations.md, Hanging transactions", ["progress": .string(text)])
      set(thread, .notReady("restoring \(text)"))
    case .markersMissing(let what):
      markersMissing.increment()
      log.warning(
        "pending transactions have not ended: those whose markers were left out are looked for, and ended. If this repeats, see "
          + "docs/operations.md, Hanging transactions", ["waits": .string(what)])
      change(thread) { $0.awaitedTransactions = what }
      setReadiness(thread)
    case .transactionEnded(let transaction):
      ended.increment()
      log.warning(
        "a transaction that a broker had left without markers was ended as it was decided",
        [
          "transactionalId": .string(transaction.transactionalID), "commit": .bool(transaction.isCommit),
          "partitions": .string(transaction.partitions.joined(separator: ", ")),
        ])
    case .running(let task, let sequence, let next, let rows, let milliseconds):
      log.info(
        "task runs",
        [
          "task": .int(Int(task)), "sequence": .int(Int(sequence)), "next": .string(Self.list(next)),
          "rowsRead": .int(rows), "restoreMilliseconds": .int(Int(milliseconds)),
        ])
      change(thread) { report in
        report.restoring.remove(task)
        report.lost.remove(task)
        report.awaitedTransactions = nil
      }
      setReadiness(thread)
    case .offsetsMoved(let task, let position, let sequence):
      moved.increment()
      log.warning(
        "the group's committed offsets were moved by somebody else; the position in the changelog stands, nothing is "
          + "processed or sent again",
        ["task": .int(Int(task)), "position": .string(Self.list(position)), "sequence": .int(Int(sequence))])
    case .levelRaised(let task, let level):
      log.notice("an operator has finalised a level", ["task": .int(Int(task)), "level": .int(Int(level.number))])
    case .stateLost(let task):
      log.error(
        "the group has committed offsets but the changelog has no position: the state of this task is lost",
        ["task": .int(Int(task)), "fix": "docs/operations.md, Lost state"])
      recordLoss(task, thread)
    case .inputBehind(let task, let topic, let position, let end):
      log.error(
        "an input ends before the position of this task: its topic was made again, or its leader lost records. The task does not "
          + "run until the loss is accepted",
        [
          "task": .int(Int(task)), "topic": .string(topic), "position": .int(Int(position)), "end": .int(Int(end)),
          "fix": "nudge state accept-loss (docs/operations.md, Lost state)",
        ])
      recordLoss(task, thread)
    case .inputReplaced(let task, let topic, let position):
      log.error(
        "an input was deleted and created again: its records begin anew, and the position of this task is one of the former topic. "
          + "The task does not run until the loss is accepted",
        [
          "task": .int(Int(task)), "topic": .string(topic), "position": .int(Int(position)),
          "fix":
            "nudge state accept-loss; on a mirror with the same offsets: nudge state adopt-topics (docs/operations.md, Lost state)",
        ])
      recordLoss(task, thread)
    case .changelogReplaced(let task, let topic):
      log.error(
        "the changelog was deleted and created again, and lacks what was written before: the state of this task is lost",
        [
          "task": .int(Int(task)), "topic": .string(topic),
          "fix": "docs/operations.md, Lost state; on a mirror with the same offsets: nudge state adopt-topics",
        ])
      recordLoss(task, thread)
    case .gap(let task, let topic, let from, let to):
      gaps.increment(by: Int(to - from))
      log.error(
        "the log begins behind the position: these records were never processed",
        ["task": .int(Int(task)), "topic": .string(topic), "from": .int(Int(from)), "to": .int(Int(to))])
    case .processed(let count, let milliseconds):
      records.increment(by: count)
      age.set(Double(milliseconds) / 1000)
      latency.observe(Double(milliseconds) / 1000)
    case .timersFired(let count): timersFired.increment(by: count)
    case .rekeyed: rekeyed.increment()
    case .deadLettered(let code, let topic, let partition, let offset, let message, let trace):
      deadLetters[code]?.increment()
      log.limited("dead-letter-\(code.rawValue)", every: .seconds(1))?.with(trace).warning(
        "record dead-lettered",
        [
          "code": .string(code.rawValue), "topic": .string(topic), "partition": .int(Int(partition)),
          "offset": .int(Int(offset)), "reason": .string(message),
        ])
    case .notCommitting(let milliseconds, let reason):
      let text = "nothing could be committed for \(milliseconds / 1000) s: \(reason)"
      let wasStuck = change(thread) { report in
        defer { report.stuck = text }
        return report.stuck != nil
      }
      if !wasStuck {
        log.warning("nothing can be committed: not ready until it can", ["reason": .string(reason)])
      }
      setReadiness(thread)
    case .canCommit: recordProgress(thread)
    case .committed(let count, let outputCount, let rowCount, let milliseconds):
      recordProgress(thread)
      transactions.increment()
      outputs.increment(by: outputCount)
      rows.increment(by: rowCount)
      transactionTime.observe(Double(milliseconds) / 1000)
      log.debug(
        "committed",
        [
          "records": .int(count), "outputs": .int(outputCount), "rows": .int(rowCount),
          "milliseconds": .int(Int(milliseconds)),
        ])
    case .counted(let counts):
      for count in counts { stageMetrics.add(count.count, of: count.metric) }
    case .transactionFailed(let reason):
      failedTransactions.increment()
      log.warning(
        "a transaction failed: a new producer, a look at the changelog, then the same content again",
        ["reason": .string(reason)])
    case .outcomeKnown(let task, let committed):
      recordProgress(thread, canCommit: committed)
      log.warning(
        committed
          ? "the transaction of unknown outcome was committed" : "the transaction of unknown outcome was not committed",
        ["task": .int(Int(task))])
    case .stored(let task, let count, let milliseconds):
      storeTime.observe(Double(milliseconds) / 1000)
      log.debug(
        "stored", ["task": .int(Int(task)), "rows": .int(count), "milliseconds": .int(Int(milliseconds))])
    case .cached(let bytes):
      change(thread) { $0.cached = bytes }
      cached.set(Double(state.withLock { $0.reports.values.reduce(0) { $0 + $1.cached } }))
    case .offsetRefused(let reason):
      log.limited("refused", every: .seconds(1))?.warning(
        "a broker refused an offset, and the leader is asked again", ["reason": .string(reason)])
    case .retrying(let reason):
      log.limited("retrying", every: .seconds(1))?.warning(
        "a call failed and is tried again", ["reason": .string(reason)])
    case .effectsHeld(let count):
      log.limited("held", every: .seconds(1))?.notice(
        "nothing is sent until the next transaction proves that this thread owns its tasks",
        ["waiting": .int(count)])
    }
  }

  @discardableResult
  private func change<Result: Sendable>(_ thread: Int, _ change: (inout Report) -> Result) -> Result {
    state.withLock { change(&$0.reports[thread, default: Report()]) }
  }

  /// Records that a task does not run until an operator acts.
  private func recordLoss(_ task: Int32, _ thread: Int) {
    lostStates.increment()
    change(thread) { report in
      report.restoring.remove(task)
      report.lost.insert(task)
    }
    setReadiness(thread)
  }

  /// Records that awaited transactions have ended, and with `canCommit` that commits succeed again.
  private func recordProgress(_ thread: Int, canCommit: Bool = true) {
    let wasHeld = change(thread) { report in
      let awaited = report.awaitedTransactions.take()
      let stuck = canCommit ? report.stuck.take() : nil
      return awaited != nil || stuck != nil
    }
    if wasHeld { setReadiness(thread) }
  }

  /// A thread is ready once all its assigned tasks run and it can commit.
  private func setReadiness(_ thread: Int) {
    let report = change(thread) { $0 }
    if let awaited = report.awaitedTransactions {
      set(
        thread,
        .notReady(
          "transactions are pending that should have ended: \(awaited); if it lasts: "
            + "nudge state end-transactions --stage \(stage)"))
    } else if let stuck = report.stuck {
      set(thread, .notReady(stuck))
    } else if !report.lost.isEmpty {
      set(thread, .notReady("the state of tasks \(Self.list(report.lost.sorted())) is lost"))
    } else {
      let left = report.restoring.count
      set(thread, left == 0 ? .ready : .notReady("\(left) tasks still to be restored"))
    }
  }

  func set(_ thread: Int, _ status: HealthStatus) {
    // A stopping service gives up its partitions, which is not logged.
    if state.withLock({ $0.isStopping }) { return }
    health.readiness.set(part(thread: thread), status)
  }

  /// Records that the service stops.
  func stopping() { state.withLock { $0.isStopping = true } }

  private static func list(_ tasks: [Int32]) -> String { tasks.map(String.init).joined(separator: ",") }

  private static func list(_ offsets: [String: Int64]) -> String {
    offsets.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }
}
