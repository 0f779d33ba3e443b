import Foundation
import Kafka
import KafkaTransactions
import NudgeSchema

/// Compares one transaction of three clients, by the number of partitions it writes, on an otherwise idle machine. Then it measures
/// KafkaTransactions alone: one record on an idle broker, and more transactions of one id than a producer has epochs.
enum SinkBenchmark: Benchmark {
  static let name = "sink"
  static let abstract =
    "one transaction by a C loop on librdkafka, by the Java client and by the sink (transactions of the cluster's version, and of "
    + "version 1), by the partitions it touches, two ids in turn"
  static let needsKafka = true

  /// The first is 20 records to one partition, back to back.
  private static let shapes = [
    TransactionShape(partitions: 1, records: 20), TransactionShape(partitions: 3, records: 72),
    TransactionShape(partitions: 12, records: 72), TransactionShape(partitions: 36, records: 72),
  ]
  private static let topicCount = 3
  private static let partitionCount: Int32 = 12
  /// Each shape is measured in this many parts, in which the clients alternate.
  private static let passes = 4

  static func run(_ context: BenchmarkContext) throws {
    let options = context.options
    let broker = try context.broker()
    let topics = (0..<topicCount).map { "sink-\($0)" }
    try broker.create(topics.map { ($0, TopicPlan(.decisions)) }, partitions: partitionCount)
    let member = try join("sink-benchmark", topics[0], broker)
    defer { member.close() }
    let metadata = try member.groupMetadata()
    let target = TransactionTarget(
      bootstrapServers: broker.bootstrapServers, topics: topics, group: metadata.groupID, member: metadata.memberID,
      generation: metadata.generation, recordBytes: options.recordBytes)
    try compare(context, broker, target)
    try measureIdle(context, target)
    if options.transactions > 0 { try SingleIDRun.measure(context, broker, target) }
    try broker.delete(topics)
  }

  private static func join(_ group: String, _ topic: String, _ broker: BenchmarkBroker) throws -> Consumer {
    var configuration = ClientConfiguration.consumer(bootstrapServers: broker.bootstrapServers, group: group)
    // It is not polled while others commit for it.
    configuration.set("max.poll.interval.ms", "86400000")
    let member = try Consumer(configuration, name: "member")
    try member.subscribe([topic])
    let deadline = Clocks.steady + 30
    while Clocks.steady < deadline {
      guard case .assigned = member.poll(timeout: .milliseconds(100)) else { continue }
      try member.assign([])
      return member
    }
    throw BenchmarkFailure("the group gave nothing")
  }

  // MARK: Three clients

  private struct Measurement {
    var latencies: [Double] = []
    var clientSeconds = 0.0
    var brokerSeconds = 0.0
    /// Milliseconds a transaction.
    var clientCPU: Double { clientSeconds * 1e3 / Double(latencies.count) }
    var brokerCPU: Double { brokerSeconds * 1e3 / Double(latencies.count) }
  }

  private static func compare(
    _ context: BenchmarkContext, _ broker: BenchmarkBroker, _ target: TransactionTarget
  ) throws {
    var clients: [any TransactionClient] = []
    defer { for client in clients { client.close() } }
    clients.append(try LibrdkafkaClient(target))
    if let java = try JavaClient.start(target, context: context, directory: broker.directory) { clients.append(java) }
    clients.append(try SinkClient(target))
    clients.append(try SinkClient(target, id: "sink-former", version: .one))

    // A broker's first thousands of transactions take two to three times as long as later ones, until its code is compiled;
    // so do the Java client's.
    let warmUp = min(500, context.options.rounds * 5)
    for shape in shapes {
      for client in clients { _ = try client.run(shape, transactions: warmUp) }
    }
    let part = max(1, context.options.rounds / passes)
    context.report.note(
      "brokers: \(context.options.brokers); \(part * passes) transactions each, in \(passes) parts in which the clients take "
        + "turns, each after a quarter as many to warm up; \(warmUp * shapes.count) of each client before, to warm the "
        + "broker up; records of \(target.recordBytes) bytes, offsets of the first topic's partitions in the transaction"
    )
    for shape in shapes { report(context, shape, try measure(clients, shape, part, broker)) }
  }

  /// By the clients' names. Each second pass has the reverse order: what warms up or fills up on the way counts for all alike.
  private static func measure(
    _ clients: [any TransactionClient], _ shape: TransactionShape, _ part: Int, _ broker: BenchmarkBroker
  ) throws -> [(name: String, measurement: Measurement)] {
    var measurements = clients.map { _ in Measurement() }
    for pass in 0..<passes {
      for index in pass % 2 == 0 ? Array(clients.indices) : clients.indices.reversed() {
        _ = try clients[index].run(shape, transactions: max(1, part / 4))
        let before = try broker.cpuSeconds()
        let run = try clients[index].run(shape, transactions: part)
        measurements[index].brokerSeconds += try broker.cpuSeconds() - before
        measurements[index].clientSeconds += run.cpuSeconds
        measurements[index].latencies += run.latencies
      }
    }
    return zip(clients, measurements).map { ($0.name, $1) }
  }

  private static func report(
    _ context: BenchmarkContext, _ shape: TransactionShape, _ measurements: [(name: String, measurement: Measurement)]
  ) {
    let java = measurements.first { $0.name == JavaClient.name }?.measurement.clientCPU
    context.report.table(
      measurements.map { name, measurement in
        let isSink = name == SinkClient.name
        let isLargest = isSink && shape.partitions == 36
        let latencies = Samples(measurement.latencies)
        return (
          "\(shape), \(name)",
          [
            .init(
              name: "p50", value: latencies.median, unit: "ms",
              target: isLargest || isSink && shape.partitions == 1 ? "≤ 4" : nil),
            .init(name: "p99", value: latencies.quantile(0.99), unit: "ms"),
            .init(
              name: "client CPU", value: measurement.clientCPU, unit: "ms",
              target: isLargest ? java.map { String(format: "< Java's %.2f", $0) } : nil),
            .init(name: "broker CPU", value: measurement.brokerCPU, unit: "ms", target: isLargest ? "≤ 4" : nil),
          ]
        )
      })
  }

  // MARK: The sink alone

  /// From the beginning of a transaction of one record until a read_committed consumer has it, one at a time.
  private static func measureIdle(_ context: BenchmarkContext, _ target: TransactionTarget) throws {
    let sink = try SinkClient(target, id: "sink-idle")
    defer { sink.close() }
    let place = TopicPartition(topic: target.topics[0], partition: 0)
    let consumer = try Consumer(
      ClientConfiguration.consumer(bootstrapServers: target.bootstrapServers, group: nil), name: "reader")
    defer { consumer.close() }
    try consumer.warmUp(topics: [place.topic], timeout: .seconds(10))
    // The last transaction's marker may still be missing.
    usleep(1_000_000)
    let end = try consumer.watermarks(place, timeout: .seconds(10)).high
    try consumer.assign([TopicPartitionOffset(place, offset: end)])
    let warmUp = 20
    var times: [Double] = []
    for _ in 0..<context.options.rounds + warmUp {
      let began = Clocks.steady
      _ = try sink.run(TransactionShape(partitions: 1, records: 1), transactions: 1)
      try waitForRecord(consumer, place)
      times.append((Clocks.steady - began) * 1e3)
      // Idle means idle: markers and background work of this one are over before the next.
      usleep(20_000)
    }
    let seen = Samples(Array(times.dropFirst(warmUp)))
    context.report.row(
      "one record, idle broker",
      [
        .init(name: "published to visible p50", value: seen.median, unit: "ms", target: "≤ 6"),
        .init(name: "p99", value: seen.quantile(0.99), unit: "ms"),
      ])
  }

  private static func waitForRecord(_ consumer: Consumer, _ place: TopicPartition) throws {
    let deadline = Clocks.steady + 60
    while Clocks.steady < deadline {
      switch consumer.poll(timeout: .milliseconds(100)) {
      case .record: return
      case .error(let error): throw error
      case nil, .assigned, .revoked, .endOfPartition: break
      }
    }
    throw BenchmarkFailure("no record on \(place) for 60 s")
  }
}
