import Foundation
import NudgeSchema

/// Kafka Streams in the analyzer's place: reads the same timeline, and decides for the same recipients.
struct BacklogPeer {
  /// The time and CPU of a run.
  struct Result {
    let name: String
    /// The topic of its decisions.
    let decisions: String
    /// From "running" to the commit of the last record.
    var whole: BacklogMeasurement
    /// The latter half, when Java's compilers have done most of their work.
    var latter: BacklogMeasurement
    /// The share of the records in `latter`.
    var latterShare: Double
  }

  private static let prefix = "streams."
  /// The default of Kafka Streams with exactly-once, in milliseconds.
  private static let interval = 100
  private let peer: StreamsPeer
  private let broker: BenchmarkBroker
  private let report: Report
  private let threads: Int

  /// nil: `--peer` is absent, or the peer cannot run here, which a note says.
  init?(_ context: BenchmarkContext, _ broker: BenchmarkBroker) throws {
    guard let peer = try StreamsPeer(context, broker) else { return nil }
    self.peer = peer
    self.broker = broker
    report = context.report
    threads = context.options.threads
    try broker.create(
      [("\(Self.prefix)decisions", TopicPlan(.decisions)), ("\(Self.prefix)pushes", TopicPlan(.pushes))],
      partitions: context.options.partitions)
  }

  private func start() throws -> ServiceProcess {
    let process = try peer.start(
      .decide, application: "streams-peer", from: Topic.timeline.rawValue, prefix: Self.prefix, interval: Self.interval,
      threads: threads)
    _ = try process.waitUntilReady()
    return process
  }

  private func stop(_ process: ServiceProcess) throws {
    try process.stop()
    guard process.complaints.isEmpty else {
      throw BenchmarkFailure("\(process.name) says: \(process.complaints.prefix(3).joined(separator: "\n"))")
    }
  }

  /// Reads devices and preferences, unmeasured.
  func introduce(records: Int) throws {
    report.progress("  \(peer.name): devices, preferences")
    let process = try start()
    try ServiceInstances(processes: [process]).wait(for: "devices, preferences") { $0.records >= records }
    try stop(process)
  }

  /// Measures the records that have come since.
  func measure(records: Int) throws -> Result {
    report.progress("  \(peer.name): timeline records")
    let process = try start()
    let first = try snapshot(process)
    try ServiceInstances(processes: [process]).wait(for: "half of the timeline records") { $0.records >= records / 2 }
    let middle = try snapshot(process)
    try ServiceInstances(processes: [process]).wait(for: "timeline records") { $0.records >= records }
    let last = try snapshot(process)
    try stop(process)
    return Result(
      name: peer.name, decisions: "\(Self.prefix)decisions", whole: last.since(first), latter: last.since(middle),
      latterShare: Double(last.committed.records - middle.committed.records) / Double(last.committed.records))
  }

  /// The CPU and memory that a process and the broker have used until now.
  private struct Snapshot {
    let time: Double
    let cpu: Double
    let brokerCPU: Double
    let peakMegabytes: Double
    let committed: ServiceProcess.Committed

    func since(_ start: Snapshot) -> BacklogMeasurement {
      BacklogMeasurement(
        seconds: time - start.time, cpu: cpu - start.cpu, brokerCPU: brokerCPU - start.brokerCPU,
        peakMegabytes: peakMegabytes, transactions: 0, rows: committed.rows - start.committed.rows)
    }
  }

  private func snapshot(_ process: ServiceProcess) throws -> Snapshot {
    Snapshot(
      time: Clocks.steady, cpu: try ProcessUsage.cpuSeconds(process.number), brokerCPU: try broker.cpuSeconds(),
      peakMegabytes: try ProcessUsage.peakMegabytes(process.number), committed: process.committed)
  }
}
