import Foundation
import Kafka
import NudgeSchema
import Synchronization

/// Measures one small transaction on an idle broker, for the bare loop and for a stage, and a start.
enum LatencyBenchmark: Benchmark {
  static let name = "latency"
  static let abstract =
    "one exactly-once transaction of 20 records on an idle, warm broker, and in a chain of them; the start of a service"
  static let needsKafka = true

  private static let batch = 20

  static func run(_ context: BenchmarkContext) throws {
    let options = context.options
    let broker = try context.broker()
    try warmUp(broker, recordBytes: options.recordBytes)
    let prefix = "latency."
    try broker.create(
      MeasuredService<PassThroughStage>.topics(prefix: prefix) + BareLoop.topics(prefix: prefix),
      partitions: options.partitions)
    let driver = try RoundDriver(broker, input: "\(prefix)nudge.timeline", batch: batch)
    defer { driver.close() }
    try measureBare(context, broker, driver, prefix)
    // The bare loop's records are processed first, so that the rounds start with an idle service.
    try drain(broker, prefix, records: options.rounds * batch)
    for transactions in ["auto", "1"] { try measureStage(context, broker, driver, prefix, transactions) }
    try measureBackToBack(context, broker)
    if options.hasStreamsPeer { try EndToEndRun(context, broker)?.run() }
  }

  /// Warms the broker up: its first thousands of transactions take two to three times as long, until its code is compiled.
  private static func warmUp(_ broker: BenchmarkBroker, recordBytes: Int) throws {
    let prefix = "warm."
    let records = 4000 * batch
    let topics = MeasuredService<PassThroughStage>.topics(prefix: prefix) + BareLoop.topics(prefix: prefix)
    try broker.create(topics, partitions: 1)
    try broker.fill("\(prefix)nudge.timeline", records: records, bytes: recordBytes, keys: batch, partitions: 1)
    _ = try BareLoop.run(bootstrapServers: broker.bootstrapServers, prefix: prefix, records: records, batch: batch)
    try broker.delete(topics.map(\.name))
  }

  /// Processes a backlog in consecutive transactions of 20, while the previous one's markers are being written.
  private static func measureBackToBack(_ context: BenchmarkContext, _ broker: BenchmarkBroker) throws {
    let (options, prefix) = (context.options, "chain.")
    let records = options.rounds * batch * 5
    try broker.create(
      MeasuredService<PassThroughStage>.topics(prefix: prefix) + BareLoop.topics(prefix: prefix),
      partitions: 1)
    try broker.fill(
      "\(prefix)nudge.timeline", records: records, bytes: options.recordBytes, keys: batch, partitions: 1)
    let bare = try BareLoop.run(
      bootstrapServers: broker.bootstrapServers, prefix: prefix, records: records, batch: batch)
    report(context, "bare loop, back to back", Array(bare.latencies.dropFirst(10)))
    let service = try MeasuredService(
      broker, prefix: prefix, stateDirectory: broker.directory.appendingPathComponent(prefix).path, batch: batch)
    try service.start()
    try service.probe.waitUntilCommitted(records)
    try service.stop()
    report(context, "stage, back to back", service.probe.transactions.dropFirst(10).map(\.milliseconds))
  }

  private static func stateDirectory(_ broker: BenchmarkBroker, _ prefix: String) -> String {
    broker.directory.appendingPathComponent(prefix).path
  }

  private static func drain(_ broker: BenchmarkBroker, _ prefix: String, records: Int) throws {
    let first = try MeasuredService(
      broker, prefix: prefix, stateDirectory: stateDirectory(broker, prefix), batch: 2000)
    try first.start()
    try first.probe.waitUntilCommitted(records)
    try first.stop()
  }

  private static func report(_ context: BenchmarkContext, _ subject: String, _ latencies: [Double]) {
    let transactions = Samples(latencies)
    context.report.row(
      subject,
      [
        .init(
          name: "transaction p50", value: transactions.median, unit: "ms",
          target: subject.hasPrefix("stage") ? "≤ 4" : nil),
        .init(name: "p99", value: transactions.quantile(0.99), unit: "ms"),
      ])
  }

  private static func measureBare(
    _ context: BenchmarkContext, _ broker: BenchmarkBroker, _ driver: RoundDriver, _ prefix: String
  ) throws {
    let rounds = context.options.rounds
    let outcome = Mutex<Result<BareLoop.Run, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let servers = broker.bootstrapServers
    let thread = Thread {
      let result = Result {
        try BareLoop.run(bootstrapServers: servers, prefix: prefix, records: rounds * batch, batch: 2000)
      }
      outcome.withLock { $0 = result }
      done.signal()
    }
    thread.start()
    let seen = try driver.run(rounds: rounds, output: "\(prefix)bare-output")
    done.wait()
    guard let run = try outcome.withLock({ $0 })?.get() else { throw BenchmarkFailure("the bare loop did not end") }
    report(context, "bare loop", first: run.latencies.first ?? .nan, Array(run.latencies.dropFirst(10)), seen)
  }

  /// - Parameter transactions: as `--transactions`.
  private static func measureStage(
    _ context: BenchmarkContext, _ broker: BenchmarkBroker, _ driver: RoundDriver, _ prefix: String,
    _ transactions: String
  ) throws {
    let rounds = context.options.rounds
    let service = try MeasuredService(
      broker, prefix: prefix, stateDirectory: stateDirectory(broker, prefix), batch: 2000, transactions: transactions)
    try service.start()
    try service.probe.waitUntilRunning()
    let seen = try driver.run(rounds: rounds, output: "\(prefix)nudge.decisions")
    try service.probe.waitUntilCommitted(rounds * batch)
    try service.stop()
    let latencies = service.probe.transactions.map(\.milliseconds)
    let subject = transactions == "auto" ? "stage" : "stage, transactions of version \(transactions)"
    report(context, subject, first: latencies.first ?? .nan, Array(latencies.dropFirst(10)), seen)
    guard transactions == "auto" else { return }
    context.report.row(
      "start with a warm store",
      [
        .init(
          name: "assignment to all tasks running", value: service.probe.startCost.seconds * 1e3, unit: "ms",
          target: "< 1000")
      ])
  }

  private static func report(
    _ context: BenchmarkContext, _ subject: String, first: Double, _ latencies: [Double], _ seen: [Double]
  ) {
    let transactions = Samples(latencies)
    let roundTrips = Samples(Array(seen.dropFirst(10)))
    context.report.row(
      subject,
      [
        .init(
          name: "transaction p50", value: transactions.median, unit: "ms", target: subject == "stage" ? "≤ 8" : nil),
        .init(name: "p99", value: transactions.quantile(0.99), unit: "ms"),
        .init(name: "first", value: first, unit: "ms"),
        .init(name: "produced to seen p50", value: roundTrips.median, unit: "ms"),
        .init(name: "p99", value: roundTrips.quantile(0.99), unit: "ms"),
        .init(name: "transactions a round", value: Double(latencies.count + 10) / Double(seen.count), unit: ""),
      ])
  }
}

/// Publishes some records at once, waits until their outputs are committed, and repeats.
final class RoundDriver {
  private let broker: BenchmarkBroker
  private let producer: Producer
  private let input: TopicHandle
  private let batch: Int

  init(_ broker: BenchmarkBroker, input: String, batch: Int) throws {
    self.broker = broker
    self.batch = batch
    producer = try Producer(
      ClientConfiguration.producer(bootstrapServers: broker.bootstrapServers, transactionalID: nil), name: "driver")
    self.input = try producer.topic(input)
  }

  func close() { producer.close() }

  /// Milliseconds of each round, from the first record produced to the last output seen by a read_committed consumer.
  func run(rounds: Int, output: String) throws -> [Double] {
    // One partition, so that its records come in one fetch and one transaction.
    let partition: Int32 = 0
    var configuration = ClientConfiguration.consumer(bootstrapServers: broker.bootstrapServers, group: nil)
    configuration.set("auto.offset.reset", "latest")
    let consumer = try Consumer(configuration, name: "driver")
    defer { consumer.close() }
    try consumer.warmUp(topics: [output], timeout: .seconds(10))
    let place = TopicPartition(topic: output, partition: partition)
    let end = try consumer.watermarks(place, timeout: .seconds(10)).high
    try consumer.assign([TopicPartitionOffset(place, offset: end)])
    var times: [Double] = []
    let value = [UInt8](repeating: UInt8(ascii: "x"), count: 500)
    for _ in 0..<rounds {
      let began = Clocks.steady
      for index in 0..<batch {
        try producer.produce(topic: input, partition: partition, key: Array("key-\(index)".utf8), value: value)
      }
      try producer.flush(timeout: .seconds(10))
      var seen = 0
      while seen < batch {
        guard Clocks.steady < began + 60 else { throw BenchmarkFailure("no outputs on \(output) for 60 s") }
        switch consumer.poll(timeout: .milliseconds(100)) {
        case .record: seen += 1
        case .error(let error): throw error
        case nil, .assigned, .revoked, .endOfPartition: break
        }
      }
      times.append((Clocks.steady - began) * 1e3)
      // Let markers and background work of this round finish before the next one.
      usleep(20_000)
    }
    return times
  }
}
