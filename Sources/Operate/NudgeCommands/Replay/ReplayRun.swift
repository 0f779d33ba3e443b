import Foundation
import NudgeSchema
import ServiceKit

/// Writes a plan's items at a pace, in transactions with their progress. Stops if errors or lag rise.
struct ReplayRun {
  struct Result {
    var ended: ReplayEnded
    var tally: ReplayWatch.Tally
  }

  /// How many more offsets than at the start the analyzer may be behind.
  private static let lagBound: Int64 = 2_000
  /// How long it may stay behind that bound.
  private static let lagPatience: Duration = .seconds(60)
  /// How long to wait for the last decisions.
  private static let settlePatience: Duration = .seconds(30)

  let replayId: String
  let mode: ReplayMode
  let items: [ReplayPlan.Item]
  /// The most notifications a second.
  let rate: Double
  /// The progress of an earlier run of the replay.
  let before: ReplayProgressed?
  let writer: AuditedWriter
  let watch: ReplayWatch
  let coder: RecordCoder
  /// Gets progress, a line at a time.
  let tell: (String) -> Void

  /// Runs to the end, or until an alarm.
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
        tell(
          "\(written) of \(total) written, \(watch.tally.notified) notified, "
            + "\(Int((Double(total - written) / rate).rounded(.up))) s left")
      }
      try watch.look()
      if let alarm = try watch.tally.alarm ?? lagAlarm(lagBefore) {
        return try end(.stopped, because: alarm, progress)
      }
    }
    let deadline = ContinuousClock.now + Self.settlePatience
    while watch.tally.decided < total, ContinuousClock.now < deadline {
      Thread.sleep(forTimeInterval: 0.2)
      try watch.look()
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

  /// Waits while the analyzer is behind; returns an alarm, or nil once it has caught up.
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

  /// Batches of items: of one partition, of about a second, at most 100.
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
