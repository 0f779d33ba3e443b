import Analyzer
package import JSONCodec
import Kafka
package import NudgeSchema
import ServiceKit
import StreamRuntime

/// Decides the timeline's records again, with this program's analyzer and any policy, and compares with the recorded decisions. It writes
/// nothing.
///
/// It works partition by partition. It reads a piece of the decisions, in the order of their timeline records, and then the timeline up to
/// there. So it holds the state of one partition's people and one piece of decisions. Each record is processed at the time at which it was
/// decided, so that quiet hours and freshness are judged as they were. If a decision was deferred, in the record or in the simulation, the
/// final decisions are compared.
struct Simulation {
  /// The number of decisions held at a time.
  static let pieceSize: Int64 = 20_000
  /// How long after its due time a timer fires that was set by another policy, in milliseconds. Timers of the recorded policy come with the
  /// timeline, after everything that happened before them.
  private static let timerSlack: Milliseconds = 5_000
  /// Slightly more than the longest time for which a policy may hold a message, in milliseconds.
  private static let longestWait: Milliseconds = 610_000

  let selection: ReplaySelection
  let rules: AnalyzerRules
  let examples: Int
  let browser: TopicBrowser

  /// A decision's position on the timeline, and the person.
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
    // After a repartition there are fewer partitions of decisions, and each has those of several tasks.
    let outputs = try browser.partitionCount(of: .decisions)
    guard
      var timeline = try browser.ranges(of: .timeline, partitions: [partition], until: selection.until).first,
      var decisions = try browser.ranges(of: .decisions, partitions: [partition % outputs]).first, timeline.count > 0
    else { return }
    let parser = JSONParser(maximumDepth: 512)
    // The encoded rows are in memory anyway, so a small cache of decoded rows is enough.
    let driver = StageDriver(AnalyzerStage(rules: rules), partitions: count, cacheBytes: 16 << 20)
    // A task that a repartition created began with the rows of another.
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
      // Decisions are read first, because they contain the times at which the records were decided. The last record of a piece may continue
      // in the next one.
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
      // Messages that are still held at the end of the timeline are decided as if nothing more came.
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

  /// Whether the person's preferences or devices are older than the beginning of the timeline.
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

/// The fields of a decision that a simulation compares, and their origin.
package struct SimulatedDecision {
  /// The parts of a decision that are compared.
  package struct Result: Hashable {
    package var outcome: DecisionBody.Outcome
    package var reason: DecisionReason
    package var priority: Priority?
    package var presentation: Presentation?
  }
  package var userId: String
  package var conversationId: String
  package var messageId: String
  package var decidedAt: Milliseconds
  package var result: Result
  /// The timeline record for which it was made.
  package var origin: RecordPosition
  /// The chat event that started the chain.
  package var source: RecordPosition
  /// Whether the level was set by something other than the operator's policy.
  package var hasOwnLevel: Bool

  /// Reads the fields of a decision; nil if the bytes are not a decision, or have a value that this version does not know.
  package init?(_ bytes: UnsafeRawBufferPointer, parser: JSONParser) {
    guard let node = try? parser.parse(bytes) else { return nil }
    self.init(node)
  }

  private init?(_ node: JSONNode) {
    guard let userId = node["userId"]?.string, let conversationId = node["conversationId"]?.string,
      let messageId = node["messageId"]?.string, let decidedAt = node["decidedAt"]?.int64,
      let outcome = node["outcome"]?.string.flatMap(DecisionBody.Outcome.init(rawValue:)),
      let reason = node["reason"]?.string.flatMap(DecisionReason.init(rawValue:)),
      let origin = node["origin"].flatMap(Self.position), let source = node["source"].flatMap(Self.position)
    else { return nil }
    self.userId = userId
    self.conversationId = conversationId
    self.messageId = messageId
    self.decidedAt = decidedAt
    self.origin = origin
    self.source = source
    result = Result(
      outcome: outcome, reason: reason, priority: node["priority"]?.string.flatMap(Priority.init(rawValue:)),
      presentation: node["presentation"]?.string.flatMap(Presentation.init(rawValue:)))
    // Decisions of releases without levels have no presentation. It followed from the priority.
    if outcome == .notify, result.presentation == nil { result.presentation = result.priority?.formerPresentation }
    hasOwnLevel = false
    guard let checks = node["checks"]?.elements else { return }
    for check in checks where check["check"]?.string == DecisionReason.level.rawValue {
      hasOwnLevel = check["inputs"]?["from"]?.string != "policy"
    }
  }

  private static func position(_ node: JSONNode) -> RecordPosition? {
    guard let topic = node["topic"]?.string, let partition = node["partition"]?.int64,
      let offset = node["offset"]?.int64
    else { return nil }
    return RecordPosition(topic: topic, partition: Int32(truncatingIfNeeded: partition), offset: offset)
  }
}

extension Priority {
  fileprivate var formerPresentation: Presentation {
    switch self {
    case .high: .alert
    case .medium: .silent
    case .low: .badge
    }
  }
}

extension SimulatedDecision.Result: CustomStringConvertible {
  /// `alert, high (relevant)`, or the reason for showing nothing.
  package var description: String {
    guard outcome == .notify else { return reason.rawValue }
    let presentation = presentation?.rawValue ?? "shown"
    return "\(presentation)\(priority.map { ", \($0.rawValue)" } ?? "") (\(reason.rawValue))"
  }

  /// How it appears: `alert`, `silent`, `badge` or `none`.
  package var shape: String { outcome == .notify ? presentation?.rawValue ?? "silent" : "none" }

  /// Whether it makes a sound.
  package var alerts: Bool { outcome == .notify && presentation == .alert }
}

/// Matches the final decisions on messages that were deferred, in the record or in the simulation, because only those are compared. It is a
/// value.
struct DeferredDecisions {
  /// A person and a message.
  struct Pair: Hashable {
    let userId: String
    let conversationId: String
    let messageId: String

    init(_ decision: SimulatedDecision) {
      userId = decision.userId
      conversationId = decision.conversationId
      messageId = decision.messageId
    }
  }

  /// The final decisions on a message, as far as they exist.
  struct Story {
    var recorded: SimulatedDecision?
    var simulated: SimulatedDecision?
  }

  /// Selected messages for which a final decision is missing.
  private var open: [Pair: Story] = [:]
  /// Messages with a deferred decision on record, but no final one yet.
  private var recordedOpen: Set<Pair> = []
  /// Recorded final decisions on messages that the simulation has not reached.
  private var recordedAhead: [Pair: SimulatedDecision] = [:]

  /// Whether the simulation holds a message.
  var isSimulationHolding: Bool { open.values.contains { $0.simulated == nil } }
  /// The number of messages for which one or both final decisions are missing.
  var unfinished: Int { open.count }

  /// Adds a recorded decision. Returns true if it is the final one after a deferred one, so that it is not compared by itself.
  ///
  /// - Parameter finished: Receives a message for which both final decisions exist.
  mutating func record(
    _ decision: SimulatedDecision,
    finished: (_ recorded: SimulatedDecision, _ simulated: SimulatedDecision) throws -> Void
  ) rethrows -> Bool {
    let pair = Pair(decision)
    guard decision.result.outcome.isFinal else {
      recordedOpen.insert(pair)
      return false
    }
    guard recordedOpen.remove(pair) != nil else { return false }
    if open[pair] == nil {
      recordedAhead[pair] = decision
    } else {
      open[pair]?.recorded = decision
      try finish(pair, finished)
    }
    return true
  }

  /// Adds a simulated decision that ends a hold of the simulation. Returns false if it is a decision by itself.
  mutating func end(
    _ decision: SimulatedDecision,
    finished: (_ recorded: SimulatedDecision, _ simulated: SimulatedDecision) throws -> Void
  ) rethrows -> Bool {
    let pair = Pair(decision)
    guard decision.result.outcome.isFinal, let story = open[pair], story.simulated == nil else { return false }
    open[pair]?.simulated = decision
    try finish(pair, finished)
    return true
  }

  /// Adds the decisions on a candidate, at least one of which is deferred.
  mutating func begin(
    recorded: SimulatedDecision, simulated: SimulatedDecision,
    finished: (_ recorded: SimulatedDecision, _ simulated: SimulatedDecision) throws -> Void
  ) rethrows {
    let pair = Pair(recorded)
    open[pair] = Story(
      recorded: recorded.result.outcome.isFinal ? recorded : recordedAhead.removeValue(forKey: pair),
      simulated: simulated.result.outcome.isFinal ? simulated : nil)
    try finish(pair, finished)
  }

  /// The simulation has passed a message that is not selected.
  mutating func skip(_ decision: SimulatedDecision) { recordedAhead[Pair(decision)] = nil }

  private mutating func finish(
    _ pair: Pair, _ finished: (_ recorded: SimulatedDecision, _ simulated: SimulatedDecision) throws -> Void
  ) rethrows {
    guard let story = open[pair], let recorded = story.recorded, let simulated = story.simulated else { return }
    open[pair] = nil
    try finished(recorded, simulated)
  }
}
