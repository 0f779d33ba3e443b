import Analyzer
import JSONCodec
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Decides again what the timeline holds, by this program's analyzer and a policy of one's choice, and compares with what was
/// decided. Nothing is written.
///
/// It works partition by partition: a piece of the decisions, in the order of the timeline records they were made for, then
/// the timeline up to there. So it holds the state of one partition's people and one piece of decisions. Each record is
/// processed at the time it was decided at, so that quiet hours and freshness are judged as they were. Where a decision was
/// deferred, on record or here, the final decisions are compared.
struct Simulation {
  /// Decisions held at a time.
  static let pieceSize: Int64 = 20_000
  /// How long after its time a timer fires here that another policy set, in milliseconds: one of the recorded policy comes with the
  /// timeline, and what happened before it was processed before it.
  private static let timerSlack: Milliseconds = 5_000
  /// A little more than a policy may hold a message, in milliseconds.
  private static let longestWait: Milliseconds = 610_000

  let selection: ReplaySelection
  let rules: AnalyzerRules
  let examples: Int
  let browser: TopicBrowser

  /// A decision's place on the timeline, and the person.
  private struct Key: Hashable {
    var offset: Int64
    var userId: String
    var messageId: String
  }

  func result() throws -> SimulationResult {
    try browser.find([.timeline, .decisions])
    var result = SimulationResult(examples: examples)
    let count = try browser.partitionCount(of: .timeline)
    let partitions = try selection.user.map { try browser.partitions(of: $0, on: .timeline) } ?? Array(0..<count)
    for partition in partitions {
      if selection.topic == .timeline, let wanted = selection.partition, wanted != partition { continue }
      try simulate(partition, of: count, into: &result)
    }
    return result
  }

  private func simulate(_ partition: Int32, of count: Int32, into result: inout SimulationResult) throws {
    // After a repartition there are fewer partitions of decisions: one has those of several tasks.
    let outputs = try browser.partitionCount(of: .decisions)
    guard
      var timeline = try browser.ranges(of: .timeline, partitions: [partition], until: selection.until).first,
      var decisions = try browser.ranges(of: .decisions, partitions: [partition % outputs]).first, timeline.count > 0
    else { return }
    let parser = JSONParser(maximumDepth: 512)
    // The encoded rows are in memory anyway: a small cache of decoded ones will do.
    let driver = StageDriver(AnalyzerStage(rules: rules), partitions: count, cacheBytes: 16 << 20)
    // A task that a repartition made began with the rows of another.
    let isWhole = timeline.from == 0 && partition < outputs
    var recorded: [Key: SimulatedDecision] = [:]
    var times: [Int64: Milliseconds] = [:]
    var deferred = DeferredDecisions()
    func compare(_ known: SimulatedDecision, _ simulated: SimulatedDecision) throws {
      if !isWhole, try lacksState(known, simulated, driver, partition) {
        result.countInsufficient()
      } else {
        result.compare(known, simulated)
      }
    }
    func take(_ step: StageDriver<AnalyzerStage>.StepResult, at offset: Int64?, _ timestamp: Milliseconds) throws {
      for output in step.outputs where output.topic == .decisions {
        guard let value = output.value,
          let simulated = value.withUnsafeBytes({ SimulatedDecision($0, parser: parser) })
        else { continue }
        if try deferred.end(simulated, finished: compare) { continue }
        let known = offset.flatMap {
          recorded.removeValue(
            forKey: Key(offset: $0, userId: simulated.userId, messageId: simulated.messageId))
        }
        guard timestamp >= selection.since, contains(simulated, recorded: known) else {
          if let known { deferred.skip(known) }
          continue
        }
        guard let known else {
          result.countUnrecorded()
          continue
        }
        if known.result.outcome.isFinal, simulated.result.outcome.isFinal {
          try compare(known, simulated)
        } else {
          try deferred.begin(recorded: known, simulated: simulated, finished: compare)
        }
      }
    }
    while timeline.count > 0 {
      // Decisions first: they say at what time the records were decided. The last record of a piece may go on in the next.
      var horizon = Int64.max
      if decisions.count > 0 {
        let piece = PartitionRange(
          place: decisions.place, from: decisions.from, to: min(decisions.to, decisions.from + Self.pieceSize))
        decisions.from = piece.to
        var last: Int64?
        try browser.read([piece], "reading \(piece.place)") { record in
          guard let value = record.value, let decision = SimulatedDecision(value, parser: parser),
            decision.origin.topic == browser.names(.timeline), decision.origin.partition == partition
          else { return true }
          last = max(last ?? 0, decision.origin.offset)
          if try deferred.record(decision, finished: compare) {
            times[decision.origin.offset] = decision.decidedAt
            return true
          }
          guard decision.origin.offset >= timeline.from else { return true }
          times[decision.origin.offset] = decision.decidedAt
          let key = Key(
            offset: decision.origin.offset, userId: decision.userId, messageId: decision.messageId)
          recorded[key] = decision
          return true
        }
        if decisions.count > 0 {
          guard let last, last > timeline.from else { continue }
          horizon = last
        }
      }
      let piece = PartitionRange(place: timeline.place, from: timeline.from, to: min(timeline.to, horizon))
      timeline.from = piece.to
      var uncommitted = 0
      try browser.read([piece], "deciding \(piece.place) again") { record in
        let now = times[record.offset] ?? record.timestamp
        if deferred.isSimulationHolding {
          driver.now = now - Self.timerSlack
          for step in try driver.fireTimers(partition: partition) { try take(step, at: nil, record.timestamp) }
        }
        driver.now = now
        let step = driver.process(
          InputRecord(
            topic: .timeline, topicName: record.topic, partition: record.partition, offset: record.offset,
            timestamp: record.timestamp, key: record.keyBytes(), value: record.valueBytes()))
        try take(step, at: record.offset, record.timestamp)
        times[record.offset] = nil
        uncommitted += 1
        if uncommitted >= 1_000 {
          try driver.commit(partition: partition)
          uncommitted = 0
        }
        return true
      }
      try driver.commit(partition: partition)
      recorded = recorded.filter { $0.key.offset >= timeline.from }
      times = times.filter { $0.key >= timeline.from }
    }
    if deferred.isSimulationHolding {
      // Messages still held at the end of the timeline are decided as if nothing more came.
      driver.now += Self.longestWait
      for step in try driver.fireTimers(partition: partition) { try take(step, at: nil, driver.now) }
    }
    for _ in 0..<deferred.unfinished { result.countUnrecorded() }
  }

  private func contains(_ simulated: SimulatedDecision, recorded: SimulatedDecision?) -> Bool {
    if let user = selection.user, !sameId(simulated.userId, user) { return false }
    if let reason = selection.reason, recorded?.result.reason != reason { return false }
    return selection.contains(
      candidateAt: simulated.origin, source: simulated.source, conversationId: simulated.conversationId,
      messageId: simulated.messageId)
  }

  /// Whether the person's preferences or devices are older than what the timeline still holds.
  private func lacksState(
    _ recorded: SimulatedDecision, _ simulated: SimulatedDecision, _ driver: StageDriver<AnalyzerStage>,
    _ partition: Int32
  ) throws -> Bool {
    guard recorded.result != simulated.result else { return false }
    if simulated.result.reason == .noDevice, recorded.result.reason != .noDevice { return true }
    switch recorded.result.reason {
    case .notificationsDisabled, .conversationMuted, .quietHours, .alreadyRead, .duplicate, .withdrawn: break
    default: guard recorded.hasOwnLevel else { return false }
    }
    return !PersonView.hasPreferences(of: simulated.userId, in: driver, partition: partition)
  }
}
