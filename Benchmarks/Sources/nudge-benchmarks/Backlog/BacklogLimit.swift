import CLoops
import Foundation
import NudgeSchema

/// The limit of the analyzer: a bare loop in C that reads the same timeline, changes a row of 1,000 bytes in SQLite for each record, and
/// writes as many bytes as a decision and a push have. It decodes nothing and decides nothing.
struct BacklogLimit {
  /// The bytes of a row with 32 remembered messages.
  private static let rowBytes = 1_000
  private static let prefix = "limit."
  /// Records of a transaction, as the analyzer has them on a backlog.
  private static let batch = 1_000
  private let broker: BenchmarkBroker
  private let report: Report
  private let people: Int

  init(_ context: BenchmarkContext, _ broker: BenchmarkBroker) throws {
    self.broker = broker
    report = context.report
    people = context.options.people
    try broker.create(
      [
        ("\(Self.prefix)decisions", TopicPlan(.decisions)), ("\(Self.prefix)changelog", TopicPlan(.analyzerState)),
      ], partitions: context.options.partitions)
  }

  /// Measures the records behind the first ones of the timeline.
  func measure(introduced: Int, records: Int, decisionBytes: Int, pushBytes: Int) throws -> BacklogMeasurement {
    report.progress("  bare loop in C: timeline records")
    var result = transaction_loop_result()
    var reason = [CChar](repeating: 0, count: 512)
    let brokerCPU = try broker.cpuSeconds()
    let database: String = broker.directory.appendingPathComponent("limit.sqlite").path
    let texts = [
      broker.bootstrapServers, "\(Self.prefix)group", Topic.timeline.rawValue, "\(Self.prefix)decisions",
      "\(Self.prefix)changelog", database,
    ].map { (text: String) -> UnsafeMutablePointer<CChar>? in strdup(text) }
    defer { for text in texts { free(text) } }
    var settings = transaction_loop_settings(
      bootstrap_servers: texts[0], group: texts[1], transactional_id: texts[1], input: texts[2], output: texts[3],
      changelog: texts[4], database: texts[5], people: people, row_bytes: Int32(Self.rowBytes),
      output_bytes: (Int32(decisionBytes), Int32(pushBytes)), records: introduced + records, unmeasured: introduced,
      batch: Int32(Self.batch), latencies: nil, latencies_capacity: 0)
    guard transaction_loop(&settings, &result, &reason, reason.count) == 0 else {
      let text = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      throw BenchmarkFailure("bare loop: \(String(decoding: text, as: UTF8.self))")
    }
    return BacklogMeasurement(
      seconds: result.seconds, cpu: result.cpu_seconds, brokerCPU: try broker.cpuSeconds() - brokerCPU,
      peakMegabytes: try ProcessUsage.peakMegabytes(ProcessInfo.processInfo.processIdentifier),
      transactions: result.transactions, rows: result.records - result.unmeasured)
  }
}
