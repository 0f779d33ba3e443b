import Foundation
import NudgeSchema
import StreamRuntime

/// Measures the restore of a lost store from its changelog, and a start that needs only the changelog's tail.
enum RestoreBenchmark: Benchmark {
  static let name = "restore"
  static let abstract = "a lost store from its changelog, in rows of 400 bytes; a start that needs only the tail"
  static let needsKafka = true

  private static let rowBytes = 400
  /// Rows of each key in the changelog, which has not been compacted yet.
  private static let versions = 3

  static func run(_ context: BenchmarkContext) throws {
    let options = context.options
    let broker = try context.broker()
    let prefix = "restore."
    try broker.create(MeasuredService<PassThroughStage>.topics(prefix: prefix), partitions: options.partitions)
    let records = options.restoreMegabytes * 1_000_000 / rowBytes
    let tail = records / 50
    let directory = broker.directory.appendingPathComponent(prefix)
    let kept = broker.directory.appendingPathComponent("\(prefix)kept")
    try fill(broker, prefix, records: records, keys: records / versions, partitions: options.partitions)
    let building = try run(broker, prefix, directory, records: records)
    context.report.progress("  built in \(Int(building.probe.costOfRecords.seconds)) s")
    try FileManager.default.copyItem(at: directory, to: kept)
    try fill(broker, prefix, records: tail, keys: tail, partitions: options.partitions)
    let rows = building.probe.rows + (try run(broker, prefix, directory, records: tail).probe.rows)
    let changelog = TopicNames(prefix: prefix)(PassThroughStage.definition.changelog)
    let megabytes = Double(try broker.logBytes(of: changelog)) / 1e6

    var costs: [Cost] = []
    var warm: [Cost] = []
    var peaks: [Double] = []
    for _ in 1...options.repetitions {
      try FileManager.default.removeItem(at: directory)
      try Machine.forgetPeak()
      let service = try run(broker, prefix, directory, records: 0)
      peaks.append(Machine.peakMegabytes)
      costs.append(service.probe.startCost)
      guard service.probe.changelogRecords >= rows else {
        throw BenchmarkFailure("\(service.probe.changelogRecords) changelog records of \(rows) were read")
      }
      try FileManager.default.removeItem(at: directory)
      try FileManager.default.copyItem(at: kept, to: directory)
      let again = try run(broker, prefix, directory, records: 0)
      warm.append(again.probe.startCost)
    }
    context.report.row(
      "lost store",
      [
        .init(name: "changelog", value: megabytes, unit: "MB"),
        .init(name: "of it values", value: Double(rows) * Double(rowBytes) / 1e6, unit: "MB"),
        .init(
          name: "rate", value: Samples(costs.map { megabytes / $0.seconds }).median, unit: "MB/s", target: "≥ 50"),
        .init(name: "rows", value: Samples(costs.map { Double(rows) / $0.seconds }).median, unit: "/s"),
        .init(name: "CPU", value: Samples(costs.map { $0.cpuSeconds / Double(rows) * 1e6 }).median, unit: "µs/row"),
        .init(name: "time", value: Samples(costs.map(\.seconds)).median, unit: "s"),
        .init(name: "peak memory", value: Samples(peaks).median, unit: "MB", target: "< 300"),
      ])
    context.report.row(
      "store that lacks the tail",
      [
        .init(name: "tail", value: Double(tail * rowBytes) / 1e6, unit: "MB"),
        .init(name: "time", value: Samples(warm.map(\.seconds)).median * 1e3, unit: "ms", target: "< 1000"),
      ])
    try broker.delete(MeasuredService<PassThroughStage>.topics(prefix: prefix).map(\.name))
  }

  private static func fill(_ broker: BenchmarkBroker, _ prefix: String, records: Int, keys: Int, partitions: Int32)
    throws
  {
    try broker.fill(
      "\(prefix)nudge.timeline", records: records, bytes: rowBytes, keys: keys, partitions: partitions)
  }

  /// Starts a service, waits until its tasks run and this many records are committed, and stops it.
  private static func run(_ broker: BenchmarkBroker, _ prefix: String, _ directory: URL, records: Int) throws
    -> MeasuredService<PassThroughStage>
  {
    let service = try MeasuredService(broker, prefix: prefix, stateDirectory: directory.path, batch: 2000)
    try service.start()
    try service.probe.waitUntilRunning()
    if records > 0 { try service.probe.waitUntilCommitted(records) }
    try service.stop()
    return service
  }
}
