import Foundation
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import StreamRuntime

/// Transactions that a dying lone broker leaves behind. Needs a real Kafka: `KAFKA_HOME=/path/to/kafka make test`.
@Suite(
  "A lone broker that leaves out markers", .serialized,
  .enabled(if: LocalBroker.find() != nil, "set KAFKA_HOME=/path/to/kafka to run it"))
struct LoneBrokerTests {
  private let partitions: Int32 = 48
  private let prefix = "lone."

  private func makeTopics(_ brokers: String) throws {
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    let topics = [Topic.timeline, .decisions, .analyzerState, .deadLetters].map {
      Admin.NewTopic(
        name: TopicNames(prefix: prefix)($0), partitions: Int(partitions), replicationFactor: 1,
        configuration: TopicPlan($0).configuration)
    }
    for result in try admin.createTopics(topics, timeout: .seconds(30)).values { try result.get() }
  }

  private func places(_ topic: Topic) -> [TopicPartition] {
    (0..<partitions).map { TopicPartition(topic: TopicNames(prefix: prefix)(topic), partition: $0) }
  }

  /// One that died is not waited for: its successor has its name.
  private func member(of group: String, _ brokers: String) throws -> Consumer {
    var configuration = ClientConfiguration.consumer(bootstrapServers: brokers, group: group)
    configuration.set("session.timeout.ms", "6000")
    configuration.set("group.instance.id", "member")
    return try Consumer(configuration, name: "member")
  }

  /// One transaction over all partitions of outputs and changelog, and offsets of all inputs, as a stream thread's.
  private func write(_ producer: TransactionalProducer, _ group: ConsumerGroupMetadata) -> TransactionOutcome {
    var content = producer.makeContent(timestamp: SystemClock.milliseconds())
    for topic in 0..<2 {
      for partition in 0..<partitions {
        content.append(topic: topic, partition: partition, key: Array("key".utf8), value: [1], headers: [])
      }
    }
    content.offsets = TransactionOffsets(
      group: group.groupID, memberID: group.memberID, generation: group.generation, instanceID: group.groupInstanceID,
      offsets: places(.timeline).map {
        .init(topic: $0.topic, partition: $0.partition, offset: 0, metadata: "")
      })
    return producer.commit(content, timeout: .seconds(10))
  }

  @Test("a committed transaction with missing markers is ended as committed, on all partitions and offsets")
  func ended() throws {
    let home = try #require(LocalBroker.find())
    let folder = try TemporaryDirectory()
    let broker = try LocalBroker(home: home, directory: URL(fileURLWithPath: folder.path + "/kafka"))
    try broker.start()
    let brokers = broker.bootstrapServers
    try makeTopics(brokers)
    let group = "\(prefix)nudge-counting"
    let id = "\(prefix)nudge-counting-one-0-a"
    let hanging = HangingTransactions(
      stage: CountingStage.definition, topics: TopicNames(prefix: prefix), bootstrapServers: brokers, properties: [],
      log: { _ in })
    let producer = try TransactionalProducer(
      TransactionalProducerConfiguration(bootstrapServers: brokers, properties: []),
      transactionalIDs: [id],
      topics: [Topic.decisions, .analyzerState].map { TopicNames(prefix: prefix)($0) }, group: group)
    func look() throws -> [OpenTransaction] {
      try producer.openTransactions(in: hanging.writtenTopics, timeout: .seconds(10))
    }
    var transactions = 0
    var found: [HangingTransactions.Found] = []
    // Whether markers are left out is a matter of milliseconds: seen in most tries, not in all.
    while found.isEmpty, transactions < 4 {
      try producer.open(timeout: .seconds(30))
      let consumer = try member(of: group, brokers)
      try consumer.subscribe([places(.timeline)[0].topic])
      wait(for: "the group") {
        if case .assigned = consumer.poll(timeout: .milliseconds(100)) { return true }
        return false
      }
      guard case .committed = write(producer, try consumer.groupMetadata()) else { throw Failure() }
      broker.kill()
      transactions += 1
      consumer.close(leavingGroup: false)
      try broker.start()
      #expect(producer.hasLostBroker)
      // A new epoch comes once the coordinator takes the transaction for complete.
      try producer.open(timeout: .seconds(60))
      #expect(!producer.hasLostBroker)
      let open = try look()
      #expect(producer.decided(of: open) == open)
      let look = try hanging.find(by: producer, ids: [id])
      found = look.found
      #expect(found.count == open.count && look.unexplained.isEmpty)
    }
    print("lone broker: \(transactions) transactions, then \(found.count) partitions without a marker")
    #expect(found.allSatisfy { $0.isCommit })
    #expect(Set(found.map(\.transactionalID)).count <= 1)
    // Half of it, as by a process that dies in between; the rest by another, twice.
    #expect(try hanging.end(Array(found.prefix(found.count / 2)), by: producer).count == found.count / 2)
    let rest = try hanging.find(by: producer).found
    #expect(rest.count == found.count - found.count / 2)
    let repair = try StateRepair(
      of: CountingStage.definition, topics: TopicNames(prefix: prefix), bootstrapServers: brokers)
    let told = try repair.hangingTransactions()
    #expect(told.transactions.flatMap(\.partitions).count == rest.count)
    let ended = try repair.endHangingTransactions()
    #expect(ended == told && ended.transactions.allSatisfy { $0.isCommit })
    // The same epoch again: written, and of no effect.
    #expect(try hanging.end(rest, by: producer).count == rest.count)
    let left = try look()
    #expect(left.isEmpty)
    // Every record exists once.
    for topic in [Topic.decisions, .analyzerState] {
      let read = try Records.all(brokers: brokers, topic: TopicNames(prefix: prefix)(topic), partitions: partitions)
      let counts = Dictionary(grouping: read, by: \.partition).mapValues(\.count)
      #expect(counts == Dictionary(uniqueKeysWithValues: (0..<partitions).map { ($0, transactions) }), "\(topic)")
    }
    let asking = try Consumer(.consumer(bootstrapServers: brokers, group: group), name: "asks")
    let committed = try asking.committed(places(.timeline), timeout: .seconds(10))
    #expect(committed.allSatisfy { $0.offset == 0 })
    // A marker of an old epoch does not end a later transaction.
    if let it = found.first {
      let consumer = try member(of: group, brokers)
      try consumer.subscribe([places(.timeline)[0].topic])
      wait(for: "the group") {
        if case .assigned = consumer.poll(timeout: .milliseconds(100)) { return true }
        return false
      }
      guard case .committed = write(producer, try consumer.groupMetadata()) else { throw Failure() }
      wait(for: "the markers") { (try? look().isEmpty) == true }
      #expect(try !producer.writeMarker(of: it.open, isCommit: false, timeout: .seconds(5)))
      consumer.close()
    }
    producer.close()
    broker.stop()
  }

  private struct Failure: Error {}

  @Test("two services continue after a lone broker was stopped and killed under load; nothing is lost or duplicated")
  func underLoad() throws {
    let home = try #require(LocalBroker.find())
    let folder = try TemporaryDirectory()
    let broker = try LocalBroker(home: home, directory: URL(fileURLWithPath: folder.path + "/kafka"))
    try broker.start()
    let brokers = broker.bootstrapServers
    try makeTopics(brokers)
    let topic = TopicNames(prefix: prefix)(.timeline)
    let services = try ["one", "two"].map { (name: String) in
      try ServiceUnderTest(
        brokers: brokers, stateDirectory: "\(folder.path)/\(name)", instance: name, prefix: prefix,
        kafkaProperties: ["session.timeout.ms=10000"])
    }
    for service in services { try service.start() }
    let load = BackgroundLoad(to: topic, partitions: partitions, keys: 200, brokers: brokers)
    let outputs = try RecordCount(
      brokers: brokers, topic: TopicNames(prefix: prefix)(.decisions), partitions: partitions)
    for round in 0..<2 {
      let before = outputs.value()
      wait(for: "the services to work, round \(round)", atMost: 90) { outputs.value() > before + 500 }
      if round == 1 { broker.stop() } else { broker.kill() }
      try broker.start()
    }
    let all = load.end()
    wait(for: "all \(all) outputs", atMost: 120) { outputs.value() >= all }
    let hung = services.map { $0.count(of: "left without markers was ended") }
    for (service, count) in zip(services, hung) {
      #expect(service.metrics.exposition().contains("nudge_hanging_transactions_ended_total \(count)\n"))
    }
    print("lone broker under load: \(all) records; transactions ended: \(hung)")
    for service in services {
      #expect(service.ends.isEmpty, "\(service.ends)")
      wait(for: "it to be ready") { service.isReady }
      service.service.stop()
    }
    let read = try Records.all(
      brokers: brokers, topic: TopicNames(prefix: prefix)(.decisions), partitions: partitions)
    for (key, records) in Dictionary(grouping: read, by: { $0.key ?? "" }) {
      let counts = records.compactMap { $0.value?.split(separator: " ").first.flatMap { Int($0) } }
      #expect(counts == Array(1...counts.count), "counts of \(key)")
    }
    #expect(read.count == all)
    broker.stop()
  }
}
