import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import StreamRuntime

extension RealServiceTests {
  @Test("the age of the oldest unprocessed record rises while no thread processes, and ends with its commit")
  func lag() throws {
    let prefix = "lag."
    let brokers = try prepare(prefix)
    let topic = "\(prefix)nudge.timeline"
    try Records.produce(records(0..<20), brokers: brokers, topic: topic, partitions: partitions)
    let capture = LogCapture(level: .debug)
    let monitor = LagMonitor(
      CountingStage.definition, topics: TopicNames(prefix: prefix), bootstrapServers: brokers, properties: [:],
      metrics: MetricsRegistry(), interval: .milliseconds(100), logger: Logger(label: "test", sink: capture.sink),
      tasks: { [partitions] in Set(0..<partitions) })
    monitor.start()
    defer { monitor.stop() }
    let (records, seconds) = (monitor.inputs[0].records, monitor.seconds)
    wait(for: "all 20 to be unprocessed") { records.value == 20 }
    let before = seconds.value
    #expect(before > 0)
    wait(for: "the age to rise by itself") { seconds.value > before + 0.3 }

    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    let places = (0..<partitions).map { TopicPartition(topic: topic, partition: $0) }
    let counts = Dictionary(
      grouping: try Records.all(brokers: brokers, topic: topic, partitions: partitions), by: \.partition
    ).mapValues { Int64($0.count) }
    try admin.alterOffsets(
      group: "\(prefix)nudge-counting",
      to: places.map { TopicPartitionOffset($0, offset: counts[$0.partition] ?? 0) }, timeout: .seconds(10))
    wait(for: "nothing to be unprocessed") { records.value == 0 && seconds.value == 0 }
    #expect(capture.entries.allSatisfy { $0.level < .warning }, "\(capture.entries.map(\.message))")
  }
}
