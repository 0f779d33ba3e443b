import Analyzer
import Kafka
import NudgeSchema

/// Watches a replay's results and the pipeline's health.
final class ReplayWatch {
  /// The replay's results so far.
  struct Tally: Equatable {
    var decisions: [DecisionReason: Int] = [:]
    var outcomes: [OutcomeResult: Int] = [:]
    /// Dead letters with the replay's id.
    var deadLetters = 0

    var decided: Int { decisions.values.reduce(0, +) }
    var notified: Int { decisions.filter { $0.key.notifies }.values.reduce(0, +) }
    var ended: Int { outcomes.values.reduce(0, +) }

    /// Outcomes that point to an error, rather than to a person or a deadline.
    var failed: Int { [.rejected, .invalidToken, .quarantined, .gaveUp].reduce(0) { $0 + (outcomes[$1] ?? 0) } }

    /// Why the replay must stop; nil: it may continue.
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

  /// Starts at the topics' ends.
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
  func look() throws {
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

  /// Offsets of the timeline that the analyzer has not processed.
  func analyzerLag() throws -> Int64 {
    let ranges = try browser.ranges(of: .timeline)
    let committed = try offsets.committed(ranges.map(\.place))
    return ranges.reduce(0) { $0 + max(0, $1.to - max($1.from, committed[$1.place] ?? $1.from)) }
  }

  func close() { offsets.close() }
}
