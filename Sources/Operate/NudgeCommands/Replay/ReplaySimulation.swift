import Analyzer
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Decides again what the timeline holds, from its beginning, by this program's analyzer, and compares with what was
/// decided. Nothing is written.
///
/// Each record is processed at the time it was decided at, so that quiet hours and freshness are judged as they were. What
/// a person's state was before the timeline's first record is not known: people whose preferences or devices are older than
/// the topic keeps records are decided as if they had none.
struct ReplaySimulation {
  /// What differs, and how much was compared.
  struct Result: Encodable, Equatable {
    /// A decision that would be another.
    struct Difference: Encodable, Equatable {
      var userId: String
      var conversationId: String
      var messageId: String
      var recorded: String
      var simulated: String
    }
    /// Decisions that were compared.
    var compared = 0
    /// Of them, those with the same outcome and reason.
    var same = 0
    /// Differences by `recorded → simulated`.
    var differences: [String: Int] = [:]
    /// Some of them.
    var examples: [Difference] = []
    /// Decisions simulated of which none is recorded: not decided yet, or no longer kept.
    var unrecorded = 0

    /// For a person.
    var text: String {
      var lines = ["\(compared) decisions were decided again; \(same) are the same."]
      if unrecorded > 0 { lines.append("\(unrecorded) more have no record to be compared with.") }
      lines += differences.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "    \($0.value)  \($0.key)" }
      lines += examples.map {
        "    such as \($0.messageId) in \($0.conversationId) for \($0.userId): \($0.recorded) → \($0.simulated)"
      }
      return lines.joined(separator: "\n")
    }
  }

  private static let maxExamples = 5

  let selection: ReplaySelection
  let rules: AnalyzerRules
  let browser: TopicBrowser

  private struct Recorded {
    var reason: DecisionReason
    var decidedAt: Milliseconds
  }

  /// A candidate's place and a person.
  private struct Place: Hashable {
    var partition: Int32
    var offset: Int64
    var userId: [UInt8]
  }

  /// Runs it.
  func result() throws -> Result {
    try browser.find([.timeline, .decisions])
    let user = selection.user.map { Array($0.utf8) }
    let partitions = try selection.user.map { [try browser.partition(of: $0, on: .timeline)] }
    var recorded: [Place: Recorded] = [:]
    var times: [RecordPlace: Milliseconds] = [:]
    // Also decisions before the selected time: the analyses they used count in it.
    try browser.read(try browser.ranges(of: .decisions), "reading \(browser.names(.decisions))") { record in
      if let user, !record.hasKey(user) { return true }
      guard let value = record.value, let it = try? browser.coder.decode(SimulatedGlance.self, from: value),
        it.origin.topic == browser.names(.timeline)
      else { return true }
      recorded[Place(partition: it.origin.partition, offset: it.origin.offset, userId: Array(it.userId.utf8))] =
        Recorded(reason: it.reason, decidedAt: it.decidedAt)
      times[RecordPlace(partition: it.origin.partition, offset: it.origin.offset)] = it.decidedAt
      return true
    }
    let driver = StageDriver(AnalyzerStage(rules: rules), partitions: try browser.partitionCount(of: .timeline))
    var result = Result()
    try browser.read(
      try browser.ranges(of: .timeline, partitions: partitions, until: selection.until),
      "deciding \(browser.names(.timeline)) again"
    ) { record in
      let place = RecordPlace(partition: record.partition, offset: record.offset)
      driver.now = times[place] ?? record.timestamp
      let input = InputRecord(
        topic: .timeline, topicName: record.topic, partition: record.partition, offset: record.offset,
        timestamp: record.timestamp, key: record.keyBytes(), value: record.valueBytes())
      let step = driver.process(input)
      guard record.timestamp >= selection.since else { return true }
      for output in step.outputs where output.topic == .decisions {
        let decision = try driver.decode(Decision.self, from: output).body
        compare(decision, at: place, with: recorded, into: &result)
      }
      return true
    }
    return result
  }

  private struct RecordPlace: Hashable {
    var partition: Int32
    var offset: Int64
  }

  private func compare(
    _ decision: DecisionBody, at place: RecordPlace, with recorded: [Place: Recorded], into result: inout Result
  ) {
    if let user = selection.user, !decision.userId.utf8.elementsEqual(user.utf8) { return }
    if let conversation = selection.conversation, !decision.conversationId.utf8.elementsEqual(conversation.utf8) {
      return
    }
    if let message = selection.message, !decision.messageId.utf8.elementsEqual(message.utf8) { return }
    let key = Place(partition: place.partition, offset: place.offset, userId: Array(decision.userId.utf8))
    guard let before = recorded[key] else {
      result.unrecorded += 1
      return
    }
    if let reason = selection.reason, before.reason != reason { return }
    result.compared += 1
    guard before.reason != decision.reason else {
      result.same += 1
      return
    }
    let change = "\(before.reason.rawValue) → \(decision.reason.rawValue)"
    result.differences[change, default: 0] += 1
    guard result.examples.count < Self.maxExamples else { return }
    result.examples.append(
      Result.Difference(
        userId: decision.userId, conversationId: decision.conversationId, messageId: decision.messageId,
        recorded: before.reason.rawValue, simulated: decision.reason.rawValue))
  }
}

/// Of a decision, what a simulation compares with.
private struct SimulatedGlance: Decodable {
  let userId: String
  let reason: DecisionReason
  let decidedAt: Milliseconds
  let origin: Origin
}
