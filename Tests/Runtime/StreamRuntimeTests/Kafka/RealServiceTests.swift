import Foundation
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit
import TestSupport
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

  /// Moves the group's committed offsets to the beginning, as Kafka's own tools do; the group must be empty by then, or soon.
  func rewindGroup(_ brokers: String, _ prefix: String) throws {
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
  }

  @Test("a restart continues after the last transaction, from the store or from the changelog alone")
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
        return words.count == 4 && words[0] == "fired" ? (String(words[1]), Int(words[2]) ?? -1) : nil
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

    // Fired timers are no longer in the state.
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

    try rewindGroup(brokers, prefix)
    let second = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try second.start()
    wait(for: "the warning") { second.logged("offsets were moved by somebody else") }
    try Records.produce(records(0..<10), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(21, brokers, prefix, of: second)
    second.service.stop()
  }

  @Test("a second instance shares the tasks, and takes all when the first retires; nothing is lost or doubled")
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
    first.service.retire()
    try Records.produce(records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(60, brokers, prefix, of: second)
    second.service.stop()
    #expect(first.ends.isEmpty && second.ends.isEmpty)
  }

  @Test("of two services with one name the first is fenced, and reports it")
  func fenced() throws {
    let prefix = "fenced."
    let brokers = try prepare(prefix)
    let directories = [try TemporaryDirectory(), try TemporaryDirectory(), try TemporaryDirectory()]
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
    // The first may have fenced the second as well before it ended: then a supervisor starts it again.
    let third = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directories[2].path, instance: "same", prefix: prefix)
    var isStarted = false
    try wait(for: "somebody to do the work") {
      if !isStarted, let end = second.ends.first {
        #expect(end.exitCode == ExitCode.fenced)
        isStarted = true
        try third.start()
      }
      return try counts(brokers, prefix).values.reduce(0) { $0 + $1.count } >= 200
    }
    try expect(20, brokers, prefix, of: second, third)
    for service in [first, second] + (isStarted ? [third] : []) { service.service.stop() }
  }

  /// Why a store is of no use, and the header that makes it so.
  enum Useless: String, CaseIterable {
    case ahead, tooOld

    func header(_ header: StoreHeader) -> StoreHeader {
      var header = header
      switch self {
      case .ahead: header.position.sequence += 1000
      case .tooOld: header.storedAt -= 6 * 86_400_000
      }
      return header
    }
  }

  @Test(
    "a store that is ahead of Kafka, or too old, is wiped and restored from the log's start",
    arguments: Useless.allCases)
  func uselessStore(_ useless: Useless) throws {
    let prefix = "\(useless.rawValue)."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let first = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try first.start()
    try Records.produce(records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(20, brokers, prefix, of: first)
    first.service.stop()
    for task in 0..<partitions {
      let store = try SQLiteTaskStore(path: "\(directory.path)/counting/\(task).sqlite", coder: RecordCoder())
      let header = try #require(store.header, "task \(task) has no store")
      // A row that a restore would not bring: only a wipe gets rid of it.
      try store.apply([(RowKey("k", "stray"), Array("7".utf8))], header: useless.header(header))
      store.close()
    }

    let second = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try second.start()
    try Records.produce(
      records(0..<10) + [(key: "stray", value: "value")], brokers: brokers, topic: "\(prefix)nudge.timeline",
      partitions: partitions)
    wait(for: "the stray key's count") { (try? counts(brokers, prefix)["stray"]?.count) == 1 }
    #expect(second.count(of: "the store is of no use") == Int(partitions))
    #expect(
      second.capture.entries.filter { $0.message.contains("the store is of no use") }.allSatisfy {
        $0.metadata["reason"] == .string(useless.rawValue)
      })
    #expect(second.metrics.exposition().contains("nudge_stores_wiped_total \(partitions)"))
    second.service.stop()
    let found = try counts(brokers, prefix)
    #expect(found["stray"] == [1], "the stray row was wiped")
    for number in 0..<10 { #expect(found["key-\(number)"] == Array(1...21)) }
  }

  @Test(
    "a log cut after the position: the gap is logged and counted, and the task continues at the log's start")
  func gap() throws {
    let prefix = "gap."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let topic = "\(prefix)nudge.timeline"
    let first = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try first.start()
    try Records.produce(records(0..<200), brokers: brokers, topic: topic, partitions: partitions)
    try expect(20, brokers, prefix, of: first)
    first.service.stop()

    // While nobody runs, 10 records for each key come, of which retention takes all.
    try Records.produce(records(0..<100), brokers: brokers, topic: topic, partitions: partitions)
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    // Written without transactions, so that offsets are counts.
    var written: [Int32: Int64] = [:]
    for (key, _) in records(0..<300) {
      written[Murmur2.partition(of: Array((key ?? "").utf8), count: partitions), default: 0] += 1
    }
    try admin.deleteRecords(
      before: written.map { TopicPartitionOffset(TopicPartition(topic: topic, partition: $0.key), offset: $0.value) },
      timeout: .seconds(10))

    let second = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path, prefix: prefix)
    try second.start()
    try Records.produce(records(0..<10), brokers: brokers, topic: topic, partitions: partitions)
    try expect(21, brokers, prefix, of: second)
    #expect(second.count(of: "the log begins behind the position") == written.count)
    #expect(second.metrics.exposition().contains("nudge_gap_records_total 100"))
    second.service.stop()
    #expect(second.ends.isEmpty)
  }

  /// Two static instances that share the tasks, each ready.
  private func twoInstances(
    _ prefix: String, _ directories: [TemporaryDirectory], kafkaProperties: [String] = []
  ) throws -> (brokers: String, a: ServiceUnderTest, b: ServiceUnderTest) {
    let brokers = try prepare(prefix)
    let a = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directories[0].path, instance: "a", prefix: prefix,
      kafkaProperties: kafkaProperties)
    try a.start()
    wait(for: "the first to have all") { a.isReady && a.count(of: "task runs") == Int(partitions) }
    let b = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directories[1].path, instance: "b", prefix: prefix,
      kafkaProperties: kafkaProperties)
    try b.start()
    wait(for: "both to have two") { a.isReady && b.isReady && b.count(of: "task runs") == 2 }
    return (brokers, a, b)
  }

  @Test("a static instance that restarts within the session time-out causes no rebalance")
  func restartOfStaticMember() throws {
    let prefix = "static."
    let directories = [try TemporaryDirectory(), try TemporaryDirectory()]
    // Long enough for a restart on a machine that does other things.
    let session = ["session.timeout.ms=30000"]
    let (brokers, a, b) = try twoInstances(prefix, directories, kafkaProperties: session)
    let assignments = a.count(of: "partitions assigned")
    b.service.stop()
    let again = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directories[1].path, instance: "b", prefix: prefix, kafkaProperties: session)
    try again.start()
    wait(for: "the second to be back") { again.isReady && again.count(of: "task runs") == 2 }
    try Records.produce(records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(20, brokers, prefix, of: a, again)
    #expect(a.count(of: "partitions assigned") == assignments, "the other one was not disturbed")
    a.service.stop()
    again.service.stop()
  }

  @Test(
    "a static instance that retires leaves the group: the other has all tasks at once, not a session time-out later")
  func retirement() throws {
    let prefix = "retire."
    let directories = [try TemporaryDirectory(), try TemporaryDirectory()]
    // A member learns of a rebalance by its next heartbeat, half a second later at most.
    let (brokers, a, b) = try twoInstances(prefix, directories, kafkaProperties: ["session.timeout.ms=30000"])
    let running = a.count(of: "task runs")
    b.service.retire()
    let start = ContinuousClock.now
    wait(for: "the first to have all again") { a.count(of: "task runs") >= running + Int(partitions) }
    #expect(start.duration(to: .now) < .seconds(15), "the session time-out is 30 s")
    let group = try GroupMembers(
      of: "\(prefix)nudge-counting", bootstrapServers: brokers, properties: [], timeout: .seconds(10))
    #expect(group.members.map(\.instanceID) == ["\(prefix)nudge-counting-a-0"])
    try Records.produce(records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try expect(20, brokers, prefix, of: a)
    a.service.stop()
    #expect(a.ends.isEmpty && b.ends.isEmpty)
  }

  @Test("a process fenced twice within a minute is not ready, names the other holder, waits, and exits with 75")
  func fencedTwice() throws {
    let prefix = "twice."
    let brokers = try prepare(prefix)
    let directories = [try TemporaryDirectory(), try TemporaryDirectory()]
    func service(_ index: Int, window: Milliseconds = 60_000) throws -> ServiceUnderTest {
      let service = try ServiceUnderTest(
        brokers: brokers, stateDirectory: directories[index].path, instance: "same", prefix: prefix,
        fencingWindow: window)
      try service.start()
      wait(for: "it to run") { service.isReady }
      return service
    }
    func fence(_ victim: ServiceUnderTest, by other: ServiceUnderTest) throws {
      try Records.produce(records(0..<20), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
      wait(for: "it to be fenced") { !victim.ends.isEmpty || victim.logged("fenced twice within a minute") }
    }
    let waits = "fenced twice within a minute"
    var a = try service(0)
    var b = try service(1)
    try fence(a, by: b)
    #expect(a.ends.map(\.exitCode) == [ExitCode.fenced], "the first time it exits at once")
    #expect(!a.logged(waits))
    a.service.stop()

    // A supervisor starts it again, and it fences the other, for which it is the first time.
    a = try service(0)
    try fence(b, by: a)
    #expect(b.ends.map(\.exitCode) == [ExitCode.fenced] && !b.logged(waits))
    b.service.stop()

    b = try service(1)
    try fence(a, by: b)
    #expect(a.logged(waits) && a.ends.isEmpty)
    #expect(!a.isReady && b.isReady)
    let line = try #require(a.capture.entries.first { $0.message.contains(waits) })
    let holder = "\(prefix)nudge-counting-same-0\(MemberRelease.current.suffix) at /127.0.0.1"
    #expect(line.metadata["holders"] == .string(holder))
    // The other one keeps running, and a stop ends the wait.
    try expect(6, brokers, prefix, of: b)
    let time = ContinuousClock().measure { a.service.stop() }
    #expect(time < .seconds(10))

    // And where nobody stops it, it ends with 75 all the same.
    a = try service(0, window: 5000)
    b.service.stop()
    try Data("\(SystemClock.milliseconds())".utf8).write(
      to: URL(fileURLWithPath: directories[0].path + "/counting/fenced"))
    b = try service(1)
    try fence(a, by: b)
    #expect(a.logged(waits))
    wait(for: "the end of the wait") { !a.ends.isEmpty }
    #expect(a.ends.map(\.exitCode) == [ExitCode.fenced])
    a.service.stop()
    b.service.stop()
  }
}
