import Foundation
import Kafka
import TestSupport
import Testing

@testable import KafkaTransactions

/// Transactions of version 1 on real brokers whose `transaction.version` is 0 or 1. Off unless there is one.
@Suite(
  "Transactions of version 1 on a real broker", .ownThread, .serialized,
  .enabled(if: LocalBroker.find() != nil, "KAFKA_HOME=/path/to/kafka enables it"))
struct FormerBrokerTests {
  private let patience = Duration.seconds(30)
  private let topic = "t"
  private let group = "g"

  private func start(level: Int, in folder: TemporaryDirectory) throws -> LocalBroker {
    let home = try #require(LocalBroker.find())
    let broker = try LocalBroker(
      home: home, directory: URL(fileURLWithPath: folder.path + "/kafka"), features: ["transaction.version": level])
    try broker.start()
    let admin = try Admin(ClientConfiguration(bootstrapServers: broker.bootstrapServers))
    let made = try admin.createTopics(
      [.init(name: topic, partitions: 4, replicationFactor: 1, configuration: [:])], timeout: patience)
    try made[topic]?.get()
    try wait(for: "the topic") {
      try admin.partitionCounts(of: [topic], timeout: .seconds(5))[topic] == 4
    }
    return broker
  }

  private func producer(_ servers: String, _ ids: [String] = ["x-a", "x-b"]) throws -> TransactionalProducer {
    try TransactionalProducer(
      TransactionalProducerConfiguration(bootstrapServers: servers), transactionalIDs: ids, topics: [topic],
      group: group)
  }

  private func member(_ servers: String) throws -> Consumer {
    let consumer = try Consumer(ClientConfiguration.consumer(bootstrapServers: servers, group: group), name: "member")
    try consumer.subscribe([topic])
    wait(for: "an assignment") {
      if case .assigned = consumer.poll(timeout: .milliseconds(100)) { return true }
      return false
    }
    try consumer.assign([])
    return consumer
  }

  private func content(_ number: Int, _ member: ConsumerGroupMetadata) -> TransactionContent {
    var content = TransactionContent(topics: [topic], timestamp: Int64(Date().timeIntervalSince1970 * 1000))
    for partition: Int32 in 0..<3 {
      content.append(topic: 0, partition: partition, key: nil, value: Array("\(number)".utf8))
    }
    content.offsets = TransactionOffsets(
      group: group, memberID: member.memberID, generation: member.generation, instanceID: nil,
      offsets: [.init(topic: topic, partition: 3, offset: Int64(number), metadata: "nudge:\(number)")])
    return content
  }

  /// The committed values of a partition.
  private func read(_ partition: Int32, _ servers: String) throws -> [String] {
    let reader = try Consumer(
      ClientConfiguration.consumer(bootstrapServers: servers, group: nil, reportsEndOfPartition: true), name: "reader")
    defer { reader.close() }
    try reader.assign([TopicPartitionOffset(TopicPartition(topic: topic, partition: partition), offset: 0)])
    var values: [String] = []
    wait(for: "the end") {
      switch reader.poll(timeout: .milliseconds(100)) {
      case .record(let record): values.append(String(decoding: record.valueBytes() ?? [], as: UTF8.self))
      case .endOfPartition: return true
      default: break
      }
      return false
    }
    return values
  }

  @Test(
    "thirty transactions with two ids in turn: each committed once, with its offsets, each with an epoch",
    arguments: [0, 1])
  func inTurn(_ level: Int) throws {
    let folder = try TemporaryDirectory()
    let broker = try start(level: level, in: folder)
    defer { broker.kill() }
    let servers = broker.bootstrapServers
    let producer = try producer(servers)
    #expect(try producer.transactionVersion(timeout: patience) == level)
    try producer.open(timeout: patience)
    #expect(producer.version == .one)
    let consumer = try member(servers)
    defer { consumer.close() }
    for number in 1...30 {
      let outcome = producer.commit(content(number, try consumer.groupMetadata()), timeout: patience)
      guard case .committed = outcome else {
        Issue.record("\(number): \(outcome)")
        return
      }
    }
    for partition: Int32 in 0..<3 {
      try wait(for: "all records") { try read(partition, servers) == (1...30).map(String.init) }
    }
    let place = TopicPartition(topic: topic, partition: 3)
    wait(for: "stable offsets") {
      (try? consumer.committed([place], timeout: .milliseconds(500)))
        == [TopicPartitionOffset(place, offset: 30, metadata: "nudge:30")]
    }
    // Two ids, fifteen transactions each: the first has the epoch of the opening.
    #expect(producer.identities.map(\.epoch) == [14, 14])
  }

  /// Decision 195: a request of an ended epoch changes nothing, whichever it is.
  @Test(
    "copies of all requests of a former transaction, sent before and in the next one, are refused", arguments: [0, 1])
  func copies(_ level: Int) throws {
    let folder = try TemporaryDirectory()
    let broker = try start(level: level, in: folder)
    defer { broker.kill() }
    let servers = broker.bootstrapServers
    let producer = try producer(servers, ["x-a"])
    try producer.open(timeout: patience)
    let consumer = try member(servers)
    defer { consumer.close() }
    let member = try consumer.groupMetadata()
    guard case .committed = producer.commit(content(1, member), timeout: patience) else { throw Failure() }
    let former = try #require(producer.identities.first)
    // Without an answer to something: the recovery takes a new epoch.
    try producer.open(timeout: patience)
    let present = try #require(producer.identities.first)
    #expect(present.id == former.id && present.epoch > former.epoch)
    try sendCopies(of: former, member, through: producer)
    // Within the next transaction, whose records are written and whose end is not asked for.
    producer.interrupt = { $0 == .offsetsWritten ? "stopped" : nil }
    guard case .notCommitted = producer.commit(content(2, member), timeout: patience) else { throw Failure() }
    producer.interrupt = nil
    try sendCopies(of: former, member, through: producer)
    // It is aborted as a whole: nothing has committed it, and no copy has become part of the next one.
    try producer.open(timeout: patience)
    guard case .committed = producer.commit(content(3, member), timeout: patience) else { throw Failure() }
    try sendCopies(of: former, member, through: producer)
    for partition: Int32 in 0..<3 {
      try wait(for: "the records") { try read(partition, servers) == ["1", "3"] }
    }
    let place = TopicPartition(topic: topic, partition: 3)
    wait(for: "stable offsets") {
      (try? consumer.committed([place], timeout: .milliseconds(500)))
        == [TopicPartitionOffset(place, offset: 3, metadata: "nudge:3")]
    }
    try wait(for: "no transaction to be open") {
      try producer.openTransactions(in: [topic, "__consumer_offsets"], timeout: patience).isEmpty
    }
  }

  /// Sends every request of a transaction with a stale epoch.
  private func sendCopies(
    of former: ProducerIdentity, _ member: ConsumerGroupMetadata, through producer: TransactionalProducer
  ) throws {
    let deadline = Deadline(after: patience)
    let id = "x-a"
    let node = try producer.findCoordinator(.transaction, of: id, deadline)
    let added = try producer.call(
      AddPartitionsToTxnRequest(transactionalID: id, producer: former, topics: [(topic, [0, 3])]), at: node, deadline)
    // CONCURRENT_TRANSACTIONS, while the markers of a transaction are written.
    let refusals: [BrokerError.Meaning] = [.epochOver, .again]
    #expect(added.partitions.allSatisfy { refusals.contains($0.error.meaning) }, "\(added)")
    let offsets = try producer.call(
      AddOffsetsToTxnRequest(transactionalID: id, producer: former, group: group), at: node, deadline)
    #expect(refusals.contains(offsets.error.meaning), "\(offsets)")
    var batch = RecordBatch(timestamp: 0)
    batch.append(key: nil, value: Array("copy".utf8), headers: [])
    for partition: Int32 in [0, 3] {
      let written = try producer.call(
        ProduceRequest(
          transactionalID: id, producer: former, timeout: 1000, compression: .none,
          topics: [.init(name: topic, partitions: [.init(index: partition, batch: batch, sequence: 0)])]),
        at: node, deadline)
      let error = try #require(written.partitions.first?.error)
      #expect(refusals.contains(error.meaning) || error.meaning == .abort || error == .duplicateSequence, "\(error)")
    }
    let committed = try producer.call(
      TxnOffsetCommitRequest(
        transactionalID: id, producer: former,
        offsets: content(77, member).offsets
          ?? .init(group: group, memberID: "", generation: 0, instanceID: nil, offsets: [])),
      at: node, deadline)
    #expect(committed.partitions.allSatisfy { $0.error != .none }, "\(committed)")
    let end = try producer.call(FormerEndTxnRequest(transactionalID: id, producer: former), at: node, deadline)
    #expect(refusals.contains(end.error.meaning), "\(end)")
  }

  private struct Failure: Error {}

  @Test("a cluster that is upgraded is used in version 2 from the next opening on, and in version 1 until then")
  func upgraded() throws {
    let folder = try TemporaryDirectory()
    let broker = try start(level: 1, in: folder)
    defer { broker.kill() }
    let servers = broker.bootstrapServers
    let producer = try producer(servers)
    try producer.open(timeout: patience)
    let consumer = try member(servers)
    defer { consumer.close() }
    func commit(_ number: Int) throws {
      guard case .committed = producer.commit(content(number, try consumer.groupMetadata()), timeout: patience) else {
        throw Failure()
      }
    }
    try commit(1)
    try BrokerFeatures.set("transaction.version", 2, isUpgrade: true, at: servers)
    try commit(2)
    #expect(producer.version == .one)
    try wait(for: "the broker to know") {
      try producer.open(timeout: patience)
      return producer.version == .two
    }
    try commit(3)
    // Level 0 would not do: Kafka 4.3.1 answers UNSUPPORTED_VERSION for ids that had version 2, as its old records cannot say so.
    try BrokerFeatures.set("transaction.version", 1, isUpgrade: false, at: servers)
    try wait(for: "the broker to know") {
      try producer.open(timeout: patience)
      return producer.version == .one
    }
    try commit(4)
    try wait(for: "the records") { try read(0, servers) == ["1", "2", "3", "4"] }
  }
}
