import Analyzer
import Foundation
import Kafka
import NudgeSchema
import ServiceKit

/// A replay from its selection to its end, for the command and the console.
struct ReplayOperation {
  /// The most notifications of a forced replay, which the analyzer also enforces.
  static let forceCap = 100

  let mode: ReplayMode
  let selection: ReplaySelection
  /// The analyzer's rules.
  let rules: AnalyzerRules
  /// The most notifications that may be selected.
  let most: Int
  /// The replay to resume; nil for a new one.
  let resuming: ReplayHistory.Replay?
  let cluster: ClusterSettings
  let browser: TopicBrowser
  /// The wall clock, in milliseconds since the epoch.
  let now: Milliseconds

  /// Plans the replay and predicts its effect. Writes nothing.
  func plan() throws -> (plan: ReplayPlan, report: ReplayReport) {
    if mode == .force, selection.message == nil, selection.conversation == nil, selection.user == nil {
      throw CommandError("force needs a message, a conversation or a person: it never applies to everybody")
    }
    var next: [Int32: Int64] = [:]
    for (partition, offset) in resuming?.progress?.next ?? [:] {
      if let partition = Int32(partition) { next[partition] = offset }
    }
    let plan =
      mode == .rederive
      ? try RederivePlanning(
        selection: selection, freshness: rules.policy.freshness, now: now, browser: browser
      ).plan()
      : try ReplayPlanning(
        selection: selection, mode: mode, freshness: rules.policy.freshness, now: now, browser: browser
      ).plan(resumingAt: next)
    let forecast = try ReplayForecast(rules: rules, browser: browser, now: now).result(of: plan.items, mode: mode)
    var report = ReplayReport(
      replayId: nil, mode: mode.rawValue, selection: selection.flags, selected: plan.selected,
      maxAge: selection.maxAge.flatMap { $0 > rules.policy.freshness ? $0 : nil }, wouldSend: forecast.wouldSend)
    for (standing, count) in plan.standings where standing != .missing && standing != .failed {
      report.standings[standing.rawValue] = count
    }
    if mode == .rederive { (report.deadLetters, report.refusedAgain) = (plan.deadLetters.count, plan.refusedAgain) }
    // The forecast of a forced replay counts them as decided again.
    if mode == .force {
      report.standings = report.standings.filter { $0.key != "already_sent" && $0.key != "already_notified" }
    }
    for (reason, count) in forecast.suppressed { report.suppressed[reason.rawValue] = count }
    let cap = mode == .force ? Self.forceCap : most
    // Notifications that an earlier run of the replay wrote count too.
    let recipients = plan.recipients + (mode == .force ? resuming?.progress?.recipients ?? 0 : 0)
    guard recipients <= cap else {
      let allowed =
        mode == .force ? "by force one replay makes at most \(cap)" : "--max allows \(cap)"
      throw CommandError(
        "\(recipients.counted("notification is", "notifications are")) selected; \(allowed): narrow the selection")
    }
    return (plan, report)
  }

  /// Writes the plan at the given rate. Returns the report with the results.
  ///
  /// - Parameters:
  ///   - rate: The most notifications per second.
  ///   - why: The reason for the audit.
  ///   - began: Receives the replay's id once it has started.
  ///   - progress: Receives progress, one line at a time.
  func run(
    _ plan: ReplayPlan, _ report: ReplayReport, rate: Double, why: String, began: (String) throws -> Void,
    progress: @escaping (String) -> Void
  ) throws -> ReplayReport {
    var report = report
    var random = SystemRandomNumberGenerator()
    let id = resuming?.replayId ?? ReplayID.make(now: now, using: &random)
    report.replayId = id
    let writer = try AuditedWriter(
      cluster, replayId: id, auditPartitions: try browser.partitionCount(of: .audit), now: now)
    defer { writer.close() }
    let watch = try ReplayWatch(replayId: id, browser: browser, cluster: cluster)
    try writer.commit(
      [],
      audit: .started(
        ReplayStarted(
          replayId: id, mode: mode, who: ReplayID.whoRuns(), why: why, selection: selection.flags,
          counts: report.counts, resumed: resuming == nil ? nil : true)), now: now)
    try began(id)
    try DeadLettersCommand.write(
      plan.deadLetters, .replayed, why: why, pace: rate, DeadLetterReplay(topics: cluster.topics), browser, writer)
    let result = try ReplayRun(
      replayId: id, mode: mode, items: plan.items, rate: rate, before: resuming?.progress, writer: writer,
      watch: watch, coder: browser.coder, report: progress
    ).run()
    report.result = result.ended.result.rawValue
    report.stoppedBecause = result.ended.reason
    report.decisions = result.tally.decisions.byName
    report.outcomes = result.tally.outcomes.byName
    return report
  }

  /// The replay with an id.
  static func find(_ id: String, _ browser: TopicBrowser) throws -> ReplayHistory.Replay {
    guard ReplayID.isValid(id), let known = ReplayHistory(try AuditTrail(browser, replayId: id)).replays.first else {
      throw CommandError("\(browser.names(.audit)) has no replay \(id): 'nudge replay list' lists them")
    }
    return known
  }

  /// Stops a replay permanently, wherever it runs.
  static func stop(
    _ known: ReplayHistory.Replay, why: String, _ cluster: ClusterSettings, _ browser: TopicBrowser, now: Milliseconds
  ) throws {
    // Opening a writer fences the process that runs the replay.
    let writer = try AuditedWriter(
      cluster, replayId: known.replayId, auditPartitions: try browser.partitionCount(of: .audit), now: now)
    defer { writer.close() }
    try writer.commit(
      try ReplayRecord.stops(
        known.replayId, partitions: try browser.partitionCount(of: .timeline), cause: known.position, now: now,
        coder: browser.coder),
      audit: .stopped(ReplayStopRequest(replayId: known.replayId, who: ReplayID.whoRuns(), why: why)), now: now)
  }
}

/// Writes a plan's items at the given rate, in transactions with their progress. It stops if errors or lag rise.
struct ReplayRun {
  struct Result {
    var ended: ReplayEnded
    var tally: ReplayWatch.Tally
  }

  /// By how many more offsets than at the start the analyzer may be behind.
  private static let lagBound: Int64 = 2_000
  /// How long the analyzer may exceed that limit.
  private static let lagPatience: Duration = .seconds(60)
  /// How long to wait for the last decisions.
  private static let settlePatience: Duration = .seconds(30)

  let replayId: String
  let mode: ReplayMode
  let items: [ReplayPlan.Item]
  /// The most notifications per second.
  let rate: Double
  /// The progress of an earlier run of the replay.
  let before: ReplayProgressed?
  let writer: AuditedWriter
  let watch: ReplayWatch
  let coder: RecordCoder
  /// Receives progress, one line at a time.
  let report: (String) -> Void

  /// Runs to the end, or until something must stop it.
  func run() throws -> Result {
    var progress =
      before ?? ReplayProgressed(replayId: replayId, candidates: 0, recipients: 0, next: [:])
    let total = items.reduce(0) { $0 + $1.fields.recipients.count }
    let start = ContinuousClock.now
    let lagBefore = try watch.analyzerLag()
    var written = 0
    var told = start
    for batch in batches() {
      let records = try batch.map {
        try ReplayRecord.record($0, replayId: replayId, mode: mode, coder: coder)
      }
      progress.candidates += batch.count
      progress.recipients += batch.reduce(0) { $0 + $1.fields.recipients.count }
      // A resumed rederivation makes a new plan from the decisions that it finds.
      if mode != .rederive, let last = batch.last {
        progress.next[String(last.position.partition)] = last.position.offset + 1
      }
      try writer.commit(records, audit: .progressed(progress), now: SystemClock.milliseconds())
      written += batch.reduce(0) { $0 + $1.fields.recipients.count }

      let due = start + .seconds(Double(written) / rate)
      let wait = ContinuousClock.now.duration(to: due).seconds
      if wait > 0, written < total { Thread.sleep(forTimeInterval: wait) }
      if start.duration(to: .now) >= ReadingProgress.quietFor, told.duration(to: .now) >= .seconds(1) {
        told = .now
        report(
          "\(written) of \(total) written, \(watch.tally.notified) notified, "
            + "\(Int((Double(total - written) / rate).rounded(.up))) s left")
      }
      try watch.check()
      if let alarm = try watch.tally.alarm ?? lagAlarm(lagBefore) {
        return try end(.stopped, because: alarm, progress)
      }
    }
    let deadline = ContinuousClock.now + Self.settlePatience
    while watch.tally.decided < total, ContinuousClock.now < deadline {
      Thread.sleep(forTimeInterval: 0.2)
      try watch.check()
    }
    return try end(.completed, because: nil, progress)
  }

  private func end(_ result: ReplayEnded.Result, because reason: String?, _ progress: ReplayProgressed) throws -> Result
  {
    let ended = ReplayEnded(
      replayId: replayId, result: result, reason: reason, candidates: progress.candidates,
      recipients: progress.recipients)
    try writer.commit([], audit: .ended(ended), now: SystemClock.milliseconds())
    return Result(ended: ended, tally: watch.tally)
  }

  /// Waits while the analyzer is behind. Returns why to stop, or nil once it has caught up.
  private func lagAlarm(_ before: Int64) throws -> String? {
    let deadline = ContinuousClock.now + Self.lagPatience
    while true {
      let lag = try watch.analyzerLag()
      if lag <= before + Self.lagBound { return nil }
      guard ContinuousClock.now < deadline else {
        return "the analyzer is \(lag.counted("record")) behind, and was \(before) when the replay began"
      }
      Thread.sleep(forTimeInterval: 0.5)
    }
  }

  /// Batches of items. Each has items of one partition, of about one second, and at most 100.
  private func batches() -> [[ReplayPlan.Item]] {
    var batches: [[ReplayPlan.Item]] = []
    var recipients = 0
    for item in items {
      let count = item.fields.recipients.count
      if let last = batches.last?.last, last.partition == item.partition,
        Double(recipients + count) <= rate, (batches.last?.count ?? 0) < 100
      {
        batches[batches.count - 1].append(item)
        recipients += count
      } else {
        batches.append([item])
        recipients = count
      }
    }
    return batches
  }
}

/// Watches a replay's results and the state of the pipeline.
final class ReplayWatch {
  /// The replay's results so far.
  struct Tally: Equatable {
    var decisions: [DecisionReason: Int] = [:]
    var outcomes: [OutcomeResult: Int] = [:]
    /// The number of dead letters with the replay's id.
    var deadLetters = 0

    var decided: Int { decisions.values.reduce(0, +) }
    var notified: Int { decisions.filter { $0.key.notifies }.values.reduce(0, +) }
    var ended: Int { outcomes.values.reduce(0, +) }

    /// The number of outcomes that indicate an error, rather than a person or a deadline.
    var failed: Int { [.rejected, .invalidToken, .quarantined, .gaveUp].reduce(0) { $0 + (outcomes[$1] ?? 0) } }

    /// Why the replay must stop; nil if it may continue.
    var alarm: String? {
      if deadLetters >= 5 { return "\(deadLetters) of its records became dead letters" }
      if failed >= 10, failed * 5 > ended { return "\(failed) of its \(ended) pushes failed" }
      return nil
    }
  }

  private let replayId: [UInt8]
  private let browser: TopicBrowser
  private let offsets: GroupOffsets
  private var next: [TopicPartition: Int64] = [:]
  private(set) var tally = Tally()

  /// Starts at the ends of the topics.
  init(replayId: String, browser: TopicBrowser, cluster: ClusterSettings) throws {
    self.replayId = Array(replayId.utf8)
    self.browser = browser
    offsets = try GroupOffsets(cluster, stage: AnalyzerStage.definition)
    try browser.find([.timeline, .decisions, .outcomes, .deadLetters])
    for topic in Self.topics {
      for range in try browser.ranges(of: topic) { next[range.place] = range.to }
    }
  }

  private static let topics: [Topic] = [.decisions, .outcomes, .deadLetters]

  /// Reads the records since the last call.
  func check() throws {
    for topic in Self.topics {
      var ranges = try browser.ranges(of: topic)
      for index in ranges.indices { ranges[index].from = next[ranges[index].place] ?? ranges[index].from }
      try browser.read(ranges, "watching \(browser.names(topic))") { record in
        guard record.header(RecordHeader.replayId) == replayId else { return true }
        count(record, topic)
        return true
      }
      for range in ranges { next[range.place] = max(range.to, next[range.place] ?? 0) }
    }
  }

  private func count(_ record: ConsumerRecord, _ topic: Topic) {
    guard let value = record.value else { return }
    switch topic {
    case .decisions:
      if let it = try? browser.coder.decode(DecisionGlance.self, from: value) {
        tally.decisions[it.reason, default: 0] += 1
      }
    case .outcomes:
      if let it = try? browser.coder.decode(OutcomeGlance.self, from: value) {
        tally.outcomes[it.result, default: 0] += 1
      }
    default: tally.deadLetters += 1
    }
  }

  /// The number of timeline offsets that the analyzer has not processed.
  func analyzerLag() throws -> Int64 {
    let ranges = try browser.ranges(of: .timeline)
    let committed = try offsets.committed(ranges.map(\.place))
    return ranges.reduce(0) { $0 + max(0, $1.to - max($1.from, committed[$1.place] ?? $1.from)) }
  }
}
