import Analyzer
import Foundation
import NudgeSchema
import ServiceKit

/// A replay from its selection to its end, for the command and for the console.
struct ReplayOperation {
  /// The most notifications of a forced replay; the analyzer has the same limit.
  static let forceCap = 100

  let mode: ReplayMode
  let selection: ReplaySelection
  /// By these the analyzer decides.
  let rules: AnalyzerRules
  /// The most notifications that may be selected.
  let most: Int
  /// The replay that is taken up again.
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
    // Notifications written by an earlier run of the replay count too.
    let recipients = plan.recipients + (mode == .force ? resuming?.progress?.recipients ?? 0 : 0)
    guard recipients <= cap else {
      let allowed =
        mode == .force ? "by force one replay makes at most \(cap)" : "--max allows \(cap)"
      throw CommandError(
        "\(recipients.counted("notification is", "notifications are")) selected; \(allowed): narrow the selection")
    }
    return (plan, report)
  }

  /// Writes the plan at a pace, and returns the report with what became of it.
  ///
  /// - Parameters:
  ///   - rate: The most notifications a second.
  ///   - why: For the audit.
  ///   - began: Gets the replay's id, once nothing stops it but an error or a person.
  ///   - tell: Gets progress, a line at a time.
  func run(
    _ plan: ReplayPlan, _ report: ReplayReport, rate: Double, why: String, began: (String) throws -> Void,
    tell: @escaping (String) -> Void
  ) throws -> ReplayReport {
    var report = report
    var random = SystemRandomNumberGenerator()
    let id = resuming?.replayId ?? ReplayID.make(now: now, using: &random)
    report.replayId = id
    let writer = try AuditedWriter(
      cluster, replayId: id, auditPartitions: try browser.partitionCount(of: .audit), now: now)
    defer { writer.close() }
    let watch = try ReplayWatch(replayId: id, browser: browser, cluster: cluster)
    defer { watch.close() }
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
      watch: watch, coder: browser.coder, tell: tell
    ).run()
    report.result = result.ended.result.rawValue
    report.stoppedBecause = result.ended.reason
    report.decisions = Dictionary(uniqueKeysWithValues: result.tally.decisions.map { ($0.key.rawValue, $0.value) })
    report.outcomes = Dictionary(uniqueKeysWithValues: result.tally.outcomes.map { ($0.key.rawValue, $0.value) })
    return report
  }

  /// The replay with an id.
  static func find(_ id: String, _ browser: TopicBrowser) throws -> ReplayHistory.Replay {
    guard ReplayID.isValid(id), let known = ReplayHistory(try AuditTrail(browser, replayId: id)).replays.first else {
      throw CommandError("\(browser.names(.audit)) has no replay \(id): 'nudge replay list' lists them")
    }
    return known
  }

  /// Stops a replay for all time, wherever it runs.
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
