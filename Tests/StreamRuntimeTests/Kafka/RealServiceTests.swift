import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Testing

@testable import StreamRuntime

/// Needs a real Kafka: `KAFKA_HOME=/path/to/kafka make test`.
@Suite(
  "A service on a real broker", .serialized,
  .enabled(if: LocalBroker.find() != nil, "set KAFKA_HOME=/path/to/kafka to run it"))
struct RealServiceTests {
  /// One broker for the suite; it ends with the process.
  static let broker: Result<LocalBroker, any Error> = Result {
    guard let home = LocalBroker.find() else { throw StoreFailure(operation: "find Kafka", reason: "KAFKA_HOME") }
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-broker-\(UUID().uuidString)")
    let broker = try LocalBroker(home: home, directory: directory)
    try broker.start()
    return broker
  }

  let partitions: Int32 = 4

  /// Topics of a test of its own, and its brokers' address.
  func prepare(_ prefix: String) throws -> String {
    let brokers = try Self.broker.get().bootstrapServers
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    let names = TopicNames(prefix: prefix)
    let topics = [Topic.timeline, .decisions, .analyzerState, .deadLetters].map {
      Admin.NewTopic(
        name: names($0), partitions: Int(partitions), replicationFactor: 1, configuration: TopicPlan($0).configuration)
    }
    for result in try admin.createTopics(topics, timeout: .seconds(30)).values { try result.get() }
    return brokers
  }

  func records(_ range: Range<Int>) -> [(key: String?, value: String)] {
    range.map { (key: "key-\($0 % 10)", value: "value") }
  }

  /// The counts written for each key, in order.
  func counts(_ brokers: String, _ prefix: String) throws -> [String: [Int]] {
    let read = try Records.all(brokers: brokers, topic: "\(prefix)nudge.decisions", partitions: partitions)
    return Dictionary(grouping: read) { $0.key ?? "" }.mapValues { records in
      records.compactMap { $0.value?.split(separator: " ").first.flatMap { Int($0) } }
    }
  }

  func expect(
    _ perKey: Int, _ brokers: String, _ prefix: String, of services: ServiceUnderTest...
  ) throws {
    var found: [String: [Int]] = [:]
    try wait(for: "\(perKey) outputs for each key") {
      found = try counts(brokers, prefix)
      return found.values.reduce(0) { $0 + $1.count } >= perKey * 10
    }
    if found.count != 10 { for service in services { print(service.lastLines) } }
    for (key, counts) in found { #expect(counts == Array(1...perKey), "counts of \(key)") }
    #expect(found.count == 10)
  }

  @Test("a restart goes on where the last transaction ended, from the store and from the changelog alone")
  func restarts() throws {
    let prefix = "restart."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    for life in 1...3 {
      // The third life has lost its disk.
      if life == 3 { try FileManager.default.removeItem(atPath: directory.path + "/counting") }
      let service = try ServiceUnderTest(
        brokers: brokers, stateDirectory: directory.path, instance: "one", prefix: prefix)
      try service.start()
      try Records.produce(
        records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
      try expect(life * 20, brokers, prefix, of: service)
      service.service.stop()
      #expect(service.ends.isEmpty)
    }
  }

  @Test("timers outlive the process and its disk, and fire once, when they are due")
  func timers() throws {
    let prefix = "timers."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    func fired() throws -> [(timer: String, late: Int)] {
      let read = try Records.all(brokers: brokers, topic: "\(prefix)nudge.decisions", partitions: partitions)
      return read.compactMap { record in
        let words = record.value?.split(separator: " ") ?? []
        return words.count == 3 && words[0] == "fired" ? (String(words[1]), Int(words[2]) ?? -1) : nil
      }
    }
    let first = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directory.path, instance: "one", prefix: prefix)
    try first.start()
    // More than a window of them, soon, and a few that are due long after the test.
    let soon = (0..<5000).map { (key: Optional("key-\($0 % 10)"), value: CountingStage.timer(after: 3000)) }
    let later = (0..<10).map { (key: Optional("key-\($0)"), value: CountingStage.timer(after: 86_400_000)) }
    try Records.produce(soon + later, brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(501, brokers, prefix, of: first)
    first.service.stop()
    #expect(first.ends.isEmpty)
    try FileManager.default.removeItem(atPath: directory.path + "/counting")

    let second = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directory.path, instance: "one", prefix: prefix)
    try second.start()
    try wait(for: "5,000 timers to fire") { try fired().count >= 5000 }
    second.service.stop()
    #expect(second.ends.isEmpty)
    let all = try fired()
    #expect(all.count == 5000)
    #expect(Set(all.map(\.timer)).count == 5000)
    #expect(all.allSatisfy { $0.late >= 0 })

    // What has fired is gone from the state, for good.
    let third = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directory.path, instance: "one", prefix: prefix)
    try third.start()
    try Records.produce(records(0..<10), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(502, brokers, prefix, of: third)
    third.service.stop()
    #expect(try fired().count == 5000)
  }

  @Test("committed offsets moved by Kafka's own tools change nothing, and the log says so")
  func movedOffsets() throws {
    let prefix = "moved."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let first = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try first.start()
    try Records.produce(records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(20, brokers, prefix, of: first)
    first.service.stop()

    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    wait(for: "the group to be empty") {
      do {
        try admin.alterOffsets(
          group: "\(prefix)nudge-counting",
          to: (0..<partitions).map {
            TopicPartitionOffset(TopicPartition(topic: "\(prefix)nudge.timeline", partition: $0), offset: 0)
          }, timeout: .seconds(10))
        return true
      } catch {
        return false
      }
    }
    let second = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try second.start()
    wait(for: "the warning") { second.logged("offsets were moved by somebody else") }
    try Records.produce(records(0..<10), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(21, brokers, prefix, of: second)
    second.service.stop()
  }

  @Test("a second instance shares the tasks, and takes all when the first leaves; nothing is lost or doubled")
  func scaleOut() throws {
    let prefix = "scale."
    let brokers = try prepare(prefix)
    let directories = [try TemporaryDirectory(), try TemporaryDirectory()]
    let first = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directories[0].path, instance: "a", prefix: prefix)
    try first.start()
    try Records.produce(records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(20, brokers, prefix)
    let second = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directories[1].path, instance: "b", prefix: prefix)
    try second.start()
    wait(for: "the second instance to have tasks") { second.logged("task runs") }
    try Records.produce(records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(40, brokers, prefix, of: first, second)
    first.service.stop()
    try Records.produce(records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(60, brokers, prefix, of: second)
    second.service.stop()
    #expect(first.ends.isEmpty && second.ends.isEmpty)
  }

  @Test("two services under one name: the first is fenced and says how it ended")
  func fenced() throws {
    let prefix = "fenced."
    let brokers = try prepare(prefix)
    let directories = [try TemporaryDirectory(), try TemporaryDirectory()]
    let first = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directories[0].path, instance: "same", prefix: prefix)
    try first.start()
    wait(for: "the first to run") { first.isReady }
    let second = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directories[1].path, instance: "same", prefix: prefix)
    try second.start()
    try Records.produce(records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    wait(for: "the first to end") { !first.ends.isEmpty }
    #expect(first.ends.first?.exitCode == ExitCode.fenced)
    try expect(20, brokers, prefix)
    first.service.stop()
    second.service.stop()
  }
}
