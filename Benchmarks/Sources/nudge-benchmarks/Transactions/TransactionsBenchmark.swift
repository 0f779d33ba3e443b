import Foundation

/// Compares exactly-once processing on StreamRuntime with a bare loop that writes the same number of outputs.
enum TransactionsBenchmark: Benchmark {
  static let name = "transactions"
  static let abstract = "a pass-through stage with state, and a bare C loop with as many outputs, on one broker"
  static let needsKafka = true

  private struct Measurement {
    var rate: Double
    var perCPUSecond: Double
    var batch: Double
    var outputs: Double
    var microseconds: Double { 1e6 / perCPUSecond }
  }

  static func run(_ context: BenchmarkContext) throws {
    let options = context.options
    let broker = try context.broker()
    context.report.note(
      "\(options.records) records of \(options.recordBytes) bytes, \(options.keys) keys, \(options.partitions) "
        + "partitions, at most \(options.batch) records a transaction, \(options.repetitions) times in turn")
    var bare: [Measurement] = []
    var stage: [Measurement] = []
    for repetition in 1...options.repetitions {
      let prefix = "transactions-\(repetition)."
      let topics = MeasuredService<PassThroughStage>.topics(prefix: prefix) + BareLoop.topics(prefix: prefix)
      try broker.create(topics, partitions: options.partitions)
      try broker.fill(
        "\(prefix)nudge.timeline", records: options.records, bytes: options.recordBytes, keys: options.keys,
        partitions: options.partitions)
      // The first one to run finds colder caches in the broker, so they alternate.
      if repetition % 2 == 1 {
        bare.append(try measureBare(broker, prefix, options))
        stage.append(try measureStage(broker, prefix, options))
      } else {
        stage.append(try measureStage(broker, prefix, options))
        bare.append(try measureBare(broker, prefix, options))
      }
      report(context, "bare loop \(repetition)", [bare[repetition - 1]])
      report(context, "stage \(repetition)", [stage[repetition - 1]])
      try broker.delete(topics.map(\.name))
    }
    report(context, "bare loop", bare)
    report(context, "stage", stage)
    context.report.row(
      "stage / bare loop",
      [
        .init(
          name: "rate", value: Samples(zip(stage, bare).map { $0.rate / $1.rate }).median, unit: "×", target: "≥ 0.5"),
        .init(
          name: "per CPU second", value: Samples(zip(stage, bare).map { $0.perCPUSecond / $1.perCPUSecond }).median,
          unit: "×", target: "≥ 0.5"),
      ])
  }

  private static func report(_ context: BenchmarkContext, _ subject: String, _ measurements: [Measurement]) {
    func median(_ path: (Measurement) -> Double) -> Double { Samples(measurements.map(path)).median }
    context.report.row(
      subject,
      [
        .init(name: "rate", value: median { $0.rate }, unit: "records/s"),
        .init(name: "per CPU second", value: median { $0.perCPUSecond }, unit: "records"),
        .init(name: "CPU", value: median { $0.microseconds }, unit: "µs/record"),
        .init(name: "batch", value: median { $0.batch }, unit: "records"),
        .init(name: "outputs", value: median { $0.outputs }, unit: "per record"),
      ])
  }

  private static func measureBare(_ broker: BenchmarkBroker, _ prefix: String, _ options: BenchmarkOptions) throws
    -> Measurement
  {
    let run = try BareLoop.run(
      bootstrapServers: broker.bootstrapServers, prefix: prefix, records: options.records, batch: options.batch)
    return Measurement(
      rate: Double(run.records) / run.cost.seconds, perCPUSecond: Double(run.records) / run.cost.cpuSeconds,
      batch: Double(run.records) / Double(run.transactions), outputs: 2)
  }

  private static func measureStage(_ broker: BenchmarkBroker, _ prefix: String, _ options: BenchmarkOptions) throws
    -> Measurement
  {
    let service = try MeasuredService(
      broker, prefix: prefix, stateDirectory: broker.directory.appendingPathComponent(prefix).path,
      batch: options.batch)
    try service.start()
    try service.probe.waitUntilCommitted(options.records)
    let probe = service.probe
    let (records, cost) = (Double(probe.records), probe.costOfRecords)
    try service.stop()
    guard probe.problems.isEmpty else { throw BenchmarkFailure("the service's log says: \(probe.problems)") }
    return Measurement(
      rate: records / cost.seconds, perCPUSecond: records / cost.cpuSeconds,
      batch: records / Double(probe.transactions.count), outputs: 1 + Double(probe.rows) / records)
  }
}
