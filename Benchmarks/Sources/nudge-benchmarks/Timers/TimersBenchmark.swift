import Foundation
import Kafka
import NudgeSchema
import StreamRuntime

/// Whether a timer costs the same however many others wait.
enum TimersBenchmark: Benchmark {
  static let name = "timers"
  static let abstract = "a durable timer set, fired and heard, while more and more others wait"
  static let needsKafka = true

  private static let perRecord = 100
  /// Timers set and fired in each measurement.
  private static let measured = 20_000
  private static let day: Milliseconds = 86_400_000

  static func run(_ context: BenchmarkContext) throws {
    let options = context.options
    let broker = try context.broker()
    let prefix = "timers."
    try broker.create(MeasuredService<TimerStage>.topics(prefix: prefix), partitions: options.partitions)
    let service = try MeasuredService(
      broker, prefix: prefix, stateDirectory: broker.directory.appendingPathComponent(prefix).path, batch: 2000
    ) { _ in TimerStage() }
    try service.start()
    try service.probe.waitUntilRunning()
    let publisher = try OrderPublisher(broker, topic: "\(prefix)nudge.timeline", partitions: options.partitions)
    defer { publisher.close() }

    var waiting = 0
    var records = 0
    for pending in [0, 10_000, 100_000, 1_000_000].filter({ $0 <= options.timers }) {
      let added = (pending - waiting) / perRecord
      var start = Cost.Start()
      // Due within a month, from tomorrow on.
      try publisher.publish(added, .init(timers: perRecord, delay: day, spread: 30 * day))
      records += added
      try service.probe.waitUntilCommitted(records)
      let setting = start.cost
      waiting = pending

      start = Cost.Start()
      try publisher.publish(measured / perRecord, .init(timers: perRecord, delay: 0, spread: 1000))
      records += measured / perRecord + measured
      try service.probe.waitUntilCommitted(records)
      let firing = start.cost
      var figures: [Report.Figure] = []
      if added > 0 {
        figures.append(
          .init(name: "set", value: setting.cpuSeconds / Double(added * perRecord) * 1e6, unit: "µs CPU/timer"))
      }
      context.report.row(
        "\(pending) others wait",
        figures + [
          .init(
            name: "set, fired and heard", value: firing.cpuSeconds / Double(measured) * 1e6, unit: "µs CPU/timer",
            target: "the same in each row"),
          .init(name: "time", value: firing.seconds, unit: "s"),
          .init(name: "memory", value: Machine.residentMegabytes, unit: "MB"),
        ])
    }
    try service.stop()
    guard service.probe.problems.isEmpty else {
      throw BenchmarkFailure("the service's log says: \(service.probe.problems)")
    }
    try broker.delete(MeasuredService<TimerStage>.topics(prefix: prefix).map(\.name))
  }

  /// Publishes records that set timers, spread over the partitions.
  private final class OrderPublisher {
    private let producer: Producer
    private let topic: TopicHandle
    private let partitions: Int32
    private var published: Int32 = 0

    init(_ broker: BenchmarkBroker, topic: String, partitions: Int32) throws {
      producer = try Producer(
        ClientConfiguration.producer(bootstrapServers: broker.bootstrapServers, transactionalID: nil), name: "orders")
      self.topic = try producer.topic(topic)
      self.partitions = partitions
    }

    func publish(_ count: Int, _ order: TimerStage.Order) throws {
      let value = Array(try JSONEncoder().encode(order))
      for _ in 0..<count {
        try producer.produce(topic: topic, partition: published % partitions, key: Array("key".utf8), value: value)
        published = (published + 1) % partitions
      }
      try producer.flush(timeout: .seconds(60))
    }

    func close() { producer.close() }
  }
}
