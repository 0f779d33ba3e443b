import Analyzer
import Ingest
import NudgeSchema
import ServiceKit
import StreamRuntime

/// The stages ingest and analyzer one behind the other: events in, decisions out. `ann` and `ben` share the conversation `c`, and each has
/// a phone.
final class DecidingPipeline {
  let ingest = IngestPipeline(rules: IngestRules())
  let analyzer = StageDriver(
    AnalyzerStage(rules: AnalyzerRules(hash: { SHA256Digest.of($0) })),
    now: IngestPipeline.start + IngestPipeline.transit)

  init(_ userIds: [String] = ["ann", "ben"]) throws {
    try passOn(ingest.group(userIds))
    for userId in userIds {
      try passOn(
        ingest.user(
          .deviceRegistered(
            DeviceRegistered(userId: userId, deviceId: "\(userId)-phone", token: "token-\(userId)", platform: .ios))))
    }
  }

  /// Lets time pass for both.
  func wait(_ duration: Milliseconds) {
    ingest.driver.now += duration
    analyzer.now = ingest.driver.now
  }

  /// Passes ingest's timeline records to the analyzer. Returns the analyzer's records.
  @discardableResult
  func passOn(_ result: IngestPipeline.Result) throws -> [OutputRecord] {
    let outputs = result.outputs + ingest.driver.sendBack(result).flatMap(\.outputs)
    return outputs.filter { $0.topic == .timeline }.flatMap { output in
      analyzer.send(
        bytes: output.value, to: .timeline, key: output.key, partition: output.partition, headers: output.headers
      ).outputs
    }
  }

  /// A message written `after` now by its sender's clock, and what was decided for everybody else.
  @discardableResult
  func message(_ messageId: String, from senderId: String, after: Milliseconds = 0) throws -> [DecisionBody] {
    let result = try ingest.message(
      "c", messageId, from: senderId, envelope: ingest.envelope(after: after + IngestPipeline.transit))
    return try passOn(result).filter { $0.topic == .decisions }.map {
      try analyzer.decode(Decision.self, from: $0).body
    }
  }

  /// Wakes both stages as time passes, until neither asks for it. Returns how many steps that took, and what the analyzer wrote.
  @discardableResult
  func wakeUntilIdle(steps limit: Int = 1_000) throws -> (steps: Int, written: [OutputRecord]) {
    var written: [OutputRecord] = []
    for step in 0..<limit {
      wait(100)
      let woken = ingest.driver.wake()
      written += try passOn(woken)
      let analyzed = analyzer.wake()
      written += analyzed.outputs
      if woken.wakeAt == nil, analyzed.wakeAt == nil { return (step, written) }
    }
    return (limit, written)
  }

  /// A user's event, dated `after` now by their device's clock.
  func user(_ body: UserEventBody, after: Milliseconds = 0) throws {
    try passOn(ingest.user(body, ingest.envelope(after: after + IngestPipeline.transit)))
  }
}
