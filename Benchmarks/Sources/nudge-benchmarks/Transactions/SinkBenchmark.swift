import Foundation
import Kafka
import KafkaTransactions
import NudgeSchema

/// One transaction by librdkafka's producer and by the sink, by how many partitions it touches; nothing else runs.
enum SinkBenchmark: Benchmark {
  static let name = "sink"
  static let abstract =
    "one transaction by librdkafka and by the sink (transactions of version 2), by the partitions it touches, two ids in turn"
  static let needsKafka = true

  /// Partitions touched, records of all together.
  private static let sizes: [(partitions: Int, records: Int)] = [(1, 20), (3, 72), (12, 72), (36, 72)]
  private static let topicCount = 3
  private static let partitionCount: Int32 = 12
  private static let timeout: Duration = .seconds(30)

  private struct Place {
    var topic: Int
    var partition: Int32
    var records: Int
  }

  static func run(_ context: BenchmarkContext) throws {
    let broker = try context.broker()
    let topics = (0..<topicCount).map { "sink-\($0)" }
    try broker.create(topics.map { ($0, TopicPlan(.decisions)) }, partitions: partitionCount)
    let group = "sink-benchmark"
    let member = try join(group, topics[0], broker)
    defer { member.close() }
    let metadata = try member.groupMetadata()
    let value = [UInt8](repeating: UInt8(ascii: "x"), count: context.options.recordBytes)
    context.report.note(
      "\(context.options.rounds) transactions each after a quarter as many to warm up, records of "
        + "\(context.options.recordBytes) bytes, offsets of the first topic's partitions in the transaction")
    let sink = try TransactionSink(
      SinkConfiguration(bootstrapServers: broker.bootstrapServers), transactionalIDs: ["sink-a", "sink-b"],
      topics: topics, group: group)
    try sink.open(timeout: timeout)
    defer { sink.close() }
    let producers = try ["rd-a", "rd-b"].map { try open($0, broker, topics) }
    defer { for it in producers { it.producer.close() } }
    var content = sink.makeContent(timestamp: 0)
    for size in sizes {
      let places = places(size.partitions, size.records)
      let inputs = Set(places.filter { $0.topic == 0 }.map(\.partition)).sorted()
      var turn = 0
      let bare = try measure(context, broker) { number in
        turn = (turn + 1) % producers.count
        let (producer, handles) = producers[turn]
        try producer.begin()
        for place in places {
          for _ in 0..<place.records {
            try producer.produce(topic: handles[place.topic], partition: place.partition, key: nil, value: value)
          }
        }
        try producer.flush(timeout: timeout)
        try producer.sendOffsets(
          inputs.map {
            TopicPartitionOffset(TopicPartition(topic: topics[0], partition: $0), offset: Int64(number))
          }, group: metadata, timeout: timeout)
        try producer.commit(timeout: timeout)
      }
      report(context, "librdkafka", size, bare)
      let native = try measure(context, broker) { number in
        content.reset(timestamp: Int64(Date().timeIntervalSince1970 * 1000))
        for place in places {
          for _ in 0..<place.records {
            content.append(topic: place.topic, partition: place.partition, key: nil, value: value)
          }
        }
        content.offsets = TransactionOffsets(
          group: group, memberID: metadata.memberID, generation: metadata.generation, instanceID: nil,
          offsets: inputs.map { .init(topic: topics[0], partition: $0, offset: Int64(number), metadata: "") })
        let outcome = sink.commit(content, timeout: timeout)
        guard case .committed = outcome else { throw BenchmarkFailure("the sink: \(outcome)") }
      }
      report(context, "sink", size, native)
    }
    try broker.delete(topics)
  }

  private static func join(_ group: String, _ topic: String, _ broker: BenchmarkBroker) throws -> Consumer {
    let member = try Consumer(
      ClientConfiguration.consumer(bootstrapServers: broker.bootstrapServers, group: group), name: "member")
    try member.subscribe([topic])
    let deadline = Clocks.steady + 30
    while Clocks.steady < deadline {
      guard case .assigned = member.poll(timeout: .milliseconds(100)) else { continue }
      try member.assign([])
      return member
    }
    throw BenchmarkFailure("the group gave nothing")
  }

  private static func open(_ id: String, _ broker: BenchmarkBroker, _ topics: [String]) throws -> (
    producer: Producer, handles: [TopicHandle]
  ) {
    let producer = try Producer(
      ClientConfiguration.producer(bootstrapServers: broker.bootstrapServers, transactionalID: id), name: id,
      onDelivery: { _ in })
    try producer.initTransactions(timeout: timeout)
    try producer.warmUp(topics: topics, timeout: timeout)
    return (producer, try topics.map { try producer.topic($0) })
  }

  /// The first so many partitions, one topic after the other of each number.
  private static func places(_ partitions: Int, _ records: Int) -> [Place] {
    (0..<partitions).map {
      Place(
        topic: $0 % topicCount, partition: Int32($0 / topicCount),
        records: records / partitions + ($0 < records % partitions ? 1 : 0))
    }
  }

  private struct Measurement {
    var latencies: Samples
    var clientCPU: Double
    var brokerCPU: Double
  }

  private static func measure(
    _ context: BenchmarkContext, _ broker: BenchmarkBroker, _ transaction: (Int) throws -> Void
  ) throws -> Measurement {
    let rounds = context.options.rounds
    for number in 0..<rounds / 4 { try transaction(number) }
    let server = try ProcessUsage.descendant(named: "java")
    let (client, before) = (Clocks.processor, try ProcessUsage.cpuSeconds(server))
    var latencies: [Double] = []
    for number in 0..<rounds {
      let start = Clocks.steady
      try transaction(rounds + number)
      latencies.append((Clocks.steady - start) * 1e3)
    }
    return Measurement(
      latencies: Samples(latencies), clientCPU: (Clocks.processor - client) * 1e3 / Double(rounds),
      brokerCPU: (try ProcessUsage.cpuSeconds(server) - before) * 1e3 / Double(rounds))
  }

  private static func report(
    _ context: BenchmarkContext, _ client: String, _ size: (partitions: Int, records: Int), _ it: Measurement
  ) {
    let isTarget = client == "sink"
    context.report.row(
      "\(client), \(size.partitions) partitions",
      [
        .init(name: "p50", value: it.latencies.median, unit: "ms", target: isTarget ? "≤ 4" : nil),
        .init(name: "p99", value: it.latencies.quantile(0.99), unit: "ms"),
        .init(name: "client CPU", value: it.clientCPU, unit: "ms"),
        .init(name: "broker CPU", value: it.brokerCPU, unit: "ms", target: isTarget ? "≤ 4" : nil),
      ])
  }
}
