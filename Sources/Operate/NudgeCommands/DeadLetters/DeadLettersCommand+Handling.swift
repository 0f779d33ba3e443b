import Foundation
import Kafka
import NudgeSchema
import ServiceKit

/// Replaying and discarding, for the command and for the console.
extension DeadLettersCommand {
  /// Dead letters of one transaction: its audit record names each.
  static let batchSize = 200

  /// The selected dead letters, and what would become of them.
  /// - Parameter only: Those that are looked at; nil: all.
  static func plan(
    _ selection: DeadLetterSelection, _ action: DeadLettersHandled.Action, topics: TopicNames,
    only: Set<DeadLetterSelection.Place>? = nil, _ browser: TopicBrowser
  ) throws -> (summary: DeadLetterReplay.Summary, chosen: [DeadLetterSelection.Place]) {
    let plan = DeadLetterReplay(topics: topics)
    var summary = DeadLetterReplay.Summary()
    var chosen: [DeadLetterSelection.Place] = []
    try selection.read(browser) { letter, _ in
      let place = DeadLetterSelection.Place(partition: letter.position.partition, offset: letter.position.offset)
      if let only, !only.contains(place) { return true }
      if action == .replayed {
        if case .left(let why) = plan.fate(of: letter) {
          summary.left[why, default: 0] += 1
          return true
        }
        if DeadLetterReplay.isLikelyRefusedAgain(letter) { summary.likelyRefusedAgain += 1 }
      }
      chosen.append(place)
      summary.written[letter.code, default: 0] += 1
      return true
    }
    return (summary, chosen)
  }

  /// Replays or discards them, and returns the id that the audit has.
  static func carryOut(
    _ chosen: [DeadLetterSelection.Place], _ action: DeadLettersHandled.Action, why: String, pace: Double,
    _ cluster: ClusterSettings, _ browser: TopicBrowser
  ) throws -> String {
    var random = SystemRandomNumberGenerator()
    let id = ReplayID.make(now: SystemClock.milliseconds(), using: &random)
    let writer = try AuditedWriter(
      cluster, replayId: id, auditPartitions: try browser.partitionCount(of: .audit), now: SystemClock.milliseconds())
    defer { writer.close() }
    try write(chosen, action, why: why, pace: pace, DeadLetterReplay(topics: cluster.topics), browser, writer)
    return id
  }

  /// Writes dead letters with an audit record for each batch.
  static func write(
    _ chosen: [DeadLetterSelection.Place], _ action: DeadLettersHandled.Action, why: String, pace: Double,
    _ plan: DeadLetterReplay, _ browser: TopicBrowser, _ writer: AuditedWriter
  ) throws {
    let start = ContinuousClock.now
    let size = min(batchSize, pace.isFinite ? max(1, Int(pace)) : batchSize)
    for first in stride(from: 0, to: chosen.count, by: size) {
      let batch = Array(chosen[first..<min(first + size, chosen.count)])
      var records: [OutgoingRecord] = []
      if action == .replayed {
        try DeadLetterSelection(places: batch, includesHandled: true).read(browser) { letter, record in
          guard case .written(let topic) = plan.fate(of: letter) else { return true }
          records.append(
            DeadLetterReplay.record(
              record, to: topic, partitions: try browser.partitionCount(of: topic), replayId: writer.replayId))
          return true
        }
      }
      let letters = Dictionary(grouping: batch, by: \.partition).sorted { $0.key < $1.key }.map {
        DeadLettersHandled.Letters(partition: $0.key, offsets: $0.value.map(\.offset))
      }
      try writer.commit(
        records,
        audit: .deadLettersHandled(
          DeadLettersHandled(
            replayId: writer.replayId, action: action, who: ReplayID.whoRuns(), why: why, letters: letters)),
        now: SystemClock.milliseconds())
      guard pace.isFinite else { continue }
      let due = start + .seconds(Double(first + batch.count) / pace)
      let wait = ContinuousClock.now.duration(to: due).seconds
      if wait > 0, first + size < chosen.count { Thread.sleep(forTimeInterval: wait) }
    }
  }
}
