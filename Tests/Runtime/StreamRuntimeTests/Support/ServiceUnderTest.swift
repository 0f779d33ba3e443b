import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import StreamRuntime

/// A counting service in this process, with its own state directory kept over restarts.
final class ServiceUnderTest {
  let health: HealthState
  let capture = LogCapture(level: .debug)
  let metrics = MetricsRegistry()
  let service: StreamService<CountingStage>
  private let ended = Ends()

  init(
    brokers: String, stateDirectory: String, instance: String? = nil, prefix: String = "", threads: Int = 1,
    limits: StreamLimits = StreamLimits(), fencingWindow: Milliseconds = 60_000,
    kafkaProperties: [String] = []
  ) throws {
    var arguments = ["--bootstrap-servers", brokers, "--state-dir", stateDirectory, "--threads", String(threads)]
    if let instance { arguments += ["--instance", instance] }
    if !prefix.isEmpty { arguments += ["--topic-prefix", prefix] }
    for property in kafkaProperties { arguments += ["--kafka-property", property] }
    let schema = SettingsSchema(
      program: "test", abstract: "a test", version: "0", settings: ServiceSettings.all)
    guard case .run(let values) = try schema.parse(arguments, environment: [:]) else {
      throw StoreFailure(operation: "parse settings", reason: "not a run")
    }
    health = HealthState()
    var configuration = StreamService<CountingStage>.Configuration(settings: ServiceSettings(values), limits: limits)
    configuration.fencingWindow = fencingWindow
    service = StreamService(
      configuration, logger: Logger(label: "test", sink: capture.sink),
      health: health, metrics: metrics, makeStage: { CountingStage() })
  }

  func start() throws {
    let ended = ended
    try service.start { ended.add($0) }
  }

  /// Why it ended by itself, if it did.
  var ends: [ServiceEnd] { ended.all }

  /// The last log lines, for a failed test.
  var lastLines: String {
    capture.entries.suffix(40).map { "\($0.level) \($0.message) \($0.metadata)" }.joined(separator: "\n")
  }

  var isReady: Bool { health.readiness.isReady }
  /// How often a message was logged.
  func count(of message: String) -> Int { capture.entries.count { $0.message.contains(message) } }
  func logged(_ message: String) -> Bool { capture.entries.contains { $0.message.contains(message) } }
}

/// Produces and reads records for tests of the runtime.
enum Records {
  static func produce(_ records: [(key: String?, value: String)], brokers: String, topic: String, partitions: Int32)
    throws
  {
    let producer = try Producer(
      ClientConfiguration.producer(bootstrapServers: brokers, transactionalID: nil), name: "test-producer")
    let handle = try producer.topic(topic)
    for (key, value) in records {
      let bytes = key.map { Array($0.utf8) }
      try producer.produce(
        topic: handle, partition: Murmur2.partition(of: bytes ?? [], count: partitions), key: bytes,
        value: Array(value.utf8))
    }
    try producer.flush(timeout: .seconds(30))
    producer.close()
  }

  struct Read: Equatable {
    var partition: Int32
    var key: String?
    var value: String?
    var headers: [String: String]
  }

  /// All committed records of a topic, up to its end now.
  static func all(brokers: String, topic: String, partitions: Int32) throws -> [Read] {
    let consumer = try Consumer(
      ClientConfiguration.consumer(bootstrapServers: brokers, group: nil, reportsEndOfPartition: true), name: "test")
    defer { consumer.close() }
    try consumer.assign(
      (0..<partitions).map { TopicPartitionOffset(TopicPartition(topic: topic, partition: $0), offset: 0) })
    var read: [Read] = []
    var ended: Set<Int32> = []
    let deadline = Date(timeIntervalSinceNow: 30)
    while ended.count < Int(partitions), Date() < deadline {
      switch consumer.poll(timeout: .milliseconds(100)) {
      case .record(let record):
        read.append(
          Read(
            partition: record.partition, key: record.keyBytes().map { String(decoding: $0, as: UTF8.self) },
            value: record.valueBytes().map { String(decoding: $0, as: UTF8.self) },
            headers: Dictionary(
              record.headers().map { ($0.name, String(decoding: $0.value ?? [], as: UTF8.self)) }
            ) { $1 }))
      case .endOfPartition(let place, _): ended.insert(place.partition)
      case .error(let error): throw error
      case nil, .assigned, .revoked: break
      }
    }
    return read
  }
}

/// How many committed records a topic has, counted as they come. One thread uses it.
final class RecordCount {
  private let consumer: Consumer
  private var count = 0

  init(brokers: String, topic: String, partitions: Int32) throws {
    consumer = try Consumer(.consumer(bootstrapServers: brokers, group: nil), name: "test-count")
    try consumer.assign(
      (0..<partitions).map { TopicPartitionOffset(TopicPartition(topic: topic, partition: $0), offset: 0) })
  }

  deinit { consumer.close() }

  /// How many have come by now. Errors are waited out: a broker may be away.
  func value() -> Int {
    var batch: [ConsumerRecord] = []
    repeat {
      batch.removeAll(keepingCapacity: true)
      _ = consumer.poll(into: &batch, maxRecords: 10_000, maxBytes: 16 << 20, timeout: .milliseconds(20))
      count += batch.count
    } while !batch.isEmpty
    return count
  }
}

/// Why services ended by themselves.
final class Ends: Sendable {
  private let ends = Mutex<[ServiceEnd]>([])
  func add(_ end: ServiceEnd) { ends.withLock { $0.append(end) } }
  var all: [ServiceEnd] { ends.withLock { $0 } }
}
