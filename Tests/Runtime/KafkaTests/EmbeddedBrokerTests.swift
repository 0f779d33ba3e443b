import Foundation
import TestSupport
import Testing

@testable import Kafka

@Suite("On the embedded broker", .ownThread)
struct EmbeddedBrokerTests {
  let broker: EmbeddedBroker
  let servers: String

  init() throws {
    broker = try EmbeddedBroker()
    servers = broker.bootstrapServers
  }

  private func producer(
    _ overrides: [ClientConfiguration.Property] = [], log: (@Sendable (KafkaLogLine) -> Void)? = nil,
    onDelivery: (@Sendable (Delivery) -> Void)? = nil
  ) throws -> Producer {
    try Producer(
      .producer(bootstrapServers: servers, transactionalID: nil).merging(overrides: overrides), name: "producer",
      log: log, onDelivery: onDelivery)
  }

  // MARK: Records

  @Test("key, value, headers and timestamp come back as they were sent, missing and empty ones told apart")
  func roundTrip() throws {
    try broker.createTopic("t", partitions: 2)
    let producer = try producer()
    let topic = try producer.topic("t")
    try producer.produce(
      topic: topic, partition: 1, key: bytes("key"), value: bytes("value"),
      headers: [("a", bytes("1")), ("none", nil), ("a", bytes("2")), ("empty", [])], timestamp: 1_700_000_000_123)
    try producer.produce(topic: topic, partition: 1, key: bytes("key"), value: nil)
    try producer.produce(topic: topic, partition: 1, key: nil, value: [])
    try producer.produce(topic: topic, partition: 1, key: [], value: bytes("x"))
    try producer.flush(timeout: patience)

    let place = TopicPartition(topic: "t", partition: 1)
    let consumer = try Consumer.reading([place], of: servers)
    let records = try consumer.records(4)
    consumer.close()  // records outlive their consumer
    let first = records[0]
    #expect(first.topicPartition == place)
    #expect(records.map(\.offset) == [0, 1, 2, 3])
    #expect(text(first.keyBytes()) == "key")
    #expect(text(first.valueBytes()) == "value")
    #expect(first.size == 8)
    #expect(first.timestamp == 1_700_000_000_123)
    #expect(text(first.header("a")) == "2")
    #expect(first.header("none") == nil)
    #expect(first.header("empty") == [])
    #expect(first.header("missing") == nil)
    #expect(first.headers().map(\.name) == ["a", "none", "a", "empty"])
    #expect(first.headers().map { text($0.value) } == ["1", nil, "2", ""])
    #expect(records[1].value == nil)
    #expect(text(records[1].keyBytes()) == "key")
    #expect(records[1].headers().isEmpty)
    #expect(records[2].key == nil)
    #expect(records[2].valueBytes() == [])
    #expect(records[3].keyBytes() == [])
  }

  @Test("a batch ends at its number of records, at its bytes, and at the end of a partition")
  func batchBounds() throws {
    try broker.createTopic("t", partitions: 1)
    let producer = try producer()
    try producer.write((0..<10).map { "\($0)" + String(repeating: "x", count: 98) }, to: "t")  // 100 bytes with the key
    let place = TopicPartition(topic: "t", partition: 0)
    let consumer = try Consumer.reading([place], of: servers)

    // The first wait ends with the first record; the rest may come an instant later.
    var records: [ConsumerRecord] = []
    while records.count < 3 {
      let wanted = 3 - records.count
      let event = consumer.poll(into: &records, maxRecords: wanted, maxBytes: 1 << 20, timeout: patience)
      #expect(event == nil)
    }
    #expect(records.map(\.offset) == [0, 1, 2])

    // The records fetched with them have arrived: the third one reaches 250 bytes.
    var bySize: [ConsumerRecord] = []
    #expect(consumer.poll(into: &bySize, maxRecords: 100, maxBytes: 250, timeout: patience) == nil)
    #expect(bySize.map(\.offset) == [3, 4, 5])

    var rest: [ConsumerRecord] = []
    let event = consumer.poll(into: &rest, maxRecords: 100, maxBytes: 1 << 20, timeout: patience)
    #expect(rest.map(\.offset) == [6, 7, 8, 9])
    var end = event
    if end == nil { end = consumer.poll(timeout: patience) }  // the broker's answer that says so may come later
    guard case .endOfPartition(place, offset: 10) = end else {
      Issue.record("no end of partition: \(String(describing: end))")
      return
    }
  }

  @Test("wake ends a poll that waits, from another thread; the next poll waits again")
  func wake() throws {
    try broker.createTopic("t", partitions: 1)
    let consumer = try Consumer.reading([TopicPartition(topic: "t", partition: 0)], of: servers)
    while consumer.poll(timeout: .seconds(2)) != nil {}  // the end of the partition
    let waker = consumer.waker
    let clock = ContinuousClock()
    for _ in 0..<3 {
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { waker.wake() }
      var event: Consumer.Event?
      let time = clock.measure { event = consumer.poll(timeout: patience) }
      #expect(event == nil)
      #expect(time < .seconds(10))
      #expect(time > .milliseconds(30))
    }
    waker.wake()
    #expect(clock.measure { _ = consumer.poll(timeout: patience) } < .seconds(10), "a wake before the poll counts")
    #expect(clock.measure { _ = consumer.poll(timeout: .milliseconds(100)) } > .milliseconds(90))
    consumer.close()
    waker.wake()  // harmless
  }

  @Test("after an assignment no record of the former one comes out")
  func assignReplaces() throws {
    try broker.createTopic("t", partitions: 2)
    let producer = try producer()
    for partition in [Int32(0), 1] {
      try producer.write((0..<500).map { "\(partition):\($0)" }, to: "t", partition: partition)
    }
    let zero = TopicPartition(topic: "t", partition: 0)
    let one = TopicPartition(topic: "t", partition: 1)
    let consumer = try Consumer.reading([zero], of: servers)
    for _ in 0..<20 {
      _ = try consumer.records(5)  // the rest of the 500 is in the queue
      try consumer.assign([TopicPartitionOffset(one, offset: 300)])
      var records: [ConsumerRecord] = []
      _ = try eventually("20 records") {
        _ = consumer.poll(into: &records, maxRecords: 20, maxBytes: .max, timeout: .milliseconds(100))
        return records.count >= 20 ? true : nil
      }
      #expect(records.allSatisfy { $0.topicPartition == one })
      #expect(records.first?.offset == 300)
      // The same partition from elsewhere.
      try consumer.assign([TopicPartitionOffset(one, offset: 100)])
      #expect(try consumer.records(1).first?.offset == 100)
      try consumer.assign([])
      #expect(consumer.poll(timeout: .milliseconds(1)) == nil)
      try consumer.assign([TopicPartitionOffset(zero, offset: 0)])
      #expect(try consumer.records(1).first?.topicPartition == zero)
    }
  }

  @Test("a paused partition gives nothing until it is resumed, from where it was")
  func pause() throws {
    try broker.createTopic("t", partitions: 1)
    try producer().write((0..<10).map { "\($0)" }, to: "t")
    let place = TopicPartition(topic: "t", partition: 0)
    let consumer = try Consumer.reading([place], of: servers)
    #expect(try consumer.records(3).map(\.offset) == [0, 1, 2])
    try consumer.pause([place])
    if case .record(let record) = consumer.poll(timeout: .milliseconds(300)) {
      Issue.record("a record of a paused partition: \(record.offset)")
    }
    try consumer.resume([place])
    #expect(try consumer.records(7).map(\.offset) == Array(3..<10))
    try consumer.pause([place])
    try consumer.assign([TopicPartitionOffset(place, offset: 5)])
    #expect(try consumer.records(1).map(\.offset) == [5], "an assignment ends the pause")
  }

  @Test("deliveries are told by tag, once each, and failures with their reason")
  func deliveries() throws {
    try broker.createTopic("t", partitions: 1)
    let told = Collected<Delivery>()
    let producer = try producer([("message.timeout.ms", "1500")], onDelivery: { told.add($0) })
    let topic = try producer.topic("t")
    for tag in UInt64(1)...3 {
      try producer.produce(topic: topic, partition: 0, key: nil, value: bytes("x"), tag: tag)
    }
    try producer.produce(topic: topic, partition: 0, key: nil, value: bytes("silent"))
    try producer.flush(timeout: patience)
    #expect(told.all.map(\.tag) == [1, 2, 3])
    #expect(told.all.map(\.offset) == [0, 1, 2])
    try broker.brokerDown()
    try producer.produce(topic: topic, partition: 0, key: nil, value: bytes("late"), tag: 9)
    try producer.flush(timeout: patience)
    #expect(told.all.count == 4)
    #expect(told.all.last?.tag == 9)
    #expect(told.all.last?.offset == nil)
    #expect(told.all.last?.error?.isTimedOut == true)
  }

  @Test("a full queue is waited for, not failed on")
  func fullQueue() throws {
    try broker.createTopic("t", partitions: 1)
    let producer = try producer([("queue.buffering.max.messages", "10")])
    try producer.write((0..<500).map { "\($0)" }, to: "t")
    let consumer = try Consumer.reading([TopicPartition(topic: "t", partition: 0)], of: servers)
    #expect(try consumer.records(500).map { text($0.valueBytes()) } == (0..<500).map { "\($0)" })
  }

  @Test("records that are too large are refused at once")
  func tooLarge() throws {
    try broker.createTopic("t", partitions: 1)
    let producer = try producer()
    let topic = try producer.topic("t")
    let error = #expect(throws: KafkaError.self) {
      try producer.produce(topic: topic, partition: 0, key: nil, value: [UInt8](repeating: 0, count: 2_000_000))
    }
    #expect(error?.isMessageTooLarge == true)
  }

  @Test("a topic's handle works only with the producer that made it")
  func foreignHandle() throws {
    let handle = try producer().topic("t")
    let producer = try producer()
    #expect(throws: KafkaError.self) { try producer.produce(topic: handle, partition: 0, key: nil, value: bytes("x")) }
  }

  // MARK: Trouble

  @Test("offsets are asked of the leader that is now, also where the one that was is gone", arguments: [false, true])
  func movedLeader(isGone: Bool) throws {
    let cluster = try EmbeddedBroker(brokers: 2)
    defer { cluster.close() }
    let place = TopicPartition(topic: "t", partition: 0)
    try cluster.createTopic("t", partitions: 1)
    try cluster.setLeader(1, of: place)
    let consumer = try Consumer(.consumer(bootstrapServers: cluster.bootstrapServers, group: nil), name: "asking")
    #expect(try consumer.watermarks(place, timeout: patience) == (0, 0))
    try cluster.setLeader(2, of: place)
    if isGone { try cluster.brokerDown(1) }
    #expect(try consumer.watermarks(place, timeout: patience) == (0, 0))
  }

  @Test("a broker that is down gives typed errors, and log lines with the client's name")
  func brokerDown() throws {
    try broker.createTopic("t", partitions: 1)
    let lines = Collected<KafkaLogLine>()
    let consumer = try Consumer(
      .consumer(bootstrapServers: servers, group: nil), name: "lonely", log: { lines.add($0) })
    #expect(try consumer.partitionCounts(of: ["t"], timeout: patience) == ["t": 1])
    try broker.brokerDown()
    let error = #expect(throws: KafkaError.self) {
      try consumer.watermarks(TopicPartition(topic: "t", partition: 0), timeout: .milliseconds(500))
    }
    #expect(error.map { $0.isTimedOut || $0.isCoordinatorLoss } == true)
    #expect(error?.isFenced == false)
    _ = try eventually("a log line of a failed connection") {
      _ = consumer.poll(timeout: .milliseconds(100))
      return lines.all.contains { $0.facility == "FAIL" && $0.client == "lonely" } ? true : nil
    }
    _ = try eventually("all brokers down, as an error") {
      _ = consumer.poll(timeout: .milliseconds(100))
      return lines.all.contains { $0.facility == "ERROR" && $0.message.contains("_ALL_BROKERS_DOWN") } ? true : nil
    }
    try broker.brokerUp()
    _ = try eventually("the broker's return") {
      try? consumer.partitionCounts(of: ["t"], timeout: .seconds(1))["t"]
    }
  }

  @Test("an error that the broker answers to a request comes out by its code")
  func requestErrors() throws {
    try broker.createTopic("t", partitions: 1)
    let producer = try Producer(
      .producer(bootstrapServers: servers, transactionalID: uniqueName("tx")), name: "transactional")
    try producer.initTransactions(timeout: patience)
    try producer.begin()
    try broker.pushRequestErrors(.addPartitionsToTransaction, [90])  // PRODUCER_FENCED
    try producer.produce(topic: try producer.topic("t"), partition: 0, key: nil, value: bytes("x"))
    let error = #expect(throws: KafkaError.self) { try producer.commit(timeout: patience) }
    #expect(error?.isFenced == true)
    #expect(error?.isFatal == true)
    #expect(producer.fatalError?.isFenced == true)
    let next = #expect(throws: KafkaError.self) { try producer.begin() }
    #expect(next?.isFenced == true, "what made the client fail is told at every call after")
  }

  @Test("statistics arrive as JSON")
  func statistics() throws {
    let texts = Collected<String>()
    let consumer = try Consumer(
      .consumer(bootstrapServers: servers, group: nil).merging(overrides: [("statistics.interval.ms", "50")]),
      name: "counted", statistics: { texts.add($0) })
    let text = try eventually("statistics") {
      _ = consumer.poll(timeout: .milliseconds(50))
      return texts.all.first
    }
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(object?["type"] as? String == "consumer")
  }

  @Test("a closed client refuses every call")
  func closed() throws {
    let producer = try producer()
    let topic = try producer.topic("t")
    #expect(producer.close(timeout: patience))
    #expect(throws: KafkaError.self) { try producer.produce(topic: topic, partition: 0, key: nil, value: bytes("x")) }
    let consumer = try Consumer(.consumer(bootstrapServers: servers, group: "g"), name: "closed")
    consumer.close()
    consumer.close()
    #expect(throws: KafkaError.self) { try consumer.subscribe(["t"]) }
    #expect(consumer.assignmentLost)
    guard case .error = consumer.poll(timeout: .zero) else {
      Issue.record("a closed consumer polls")
      return
    }
  }

  // MARK: Groups

  private func member(_ group: String, _ overrides: [ClientConfiguration.Property] = []) throws -> Consumer {
    let configuration = ClientConfiguration.consumer(bootstrapServers: servers, group: group)
      .merging(overrides: [("session.timeout.ms", "4000"), ("heartbeat.interval.ms", "100")])
    return try Consumer(configuration.merging(overrides: overrides), name: uniqueName("member"))
  }

  @Test("a rebalance comes out of poll, waits for its answer, and lets the owner answer in two steps")
  func rebalances() throws {
    try broker.createTopic("t", partitions: 4)
    try producer().write((0..<20).map { "\($0)" }, to: "t")
    let group = uniqueName("group")
    let first = try member(group)
    try first.subscribe(["t"])
    let all = (0..<4).map { TopicPartition(topic: "t", partition: $0) }
    #expect(try first.assigned().sorted() == all)

    // Not answered: nothing is delivered, and the membership holds for longer than the session.
    let unanswered = ContinuousClock.now + .seconds(5)
    while ContinuousClock.now < unanswered {
      if let event = first.poll(timeout: .milliseconds(100)) { Issue.record("before the answer: \(event)") }
    }
    #expect(try first.groupMetadata().generation >= 0)
    #expect(try first.committed([all[0]], timeout: patience) == [TopicPartitionOffset(all[0], offset: nil)])
    try first.assign([])  // take nothing, restore …
    #expect(first.poll(timeout: .milliseconds(300)) == nil)
    try first.assign([TopicPartitionOffset(all[0], offset: 15)])  // … then read
    #expect(try first.records(5).map(\.offset) == Array(15..<20))

    let second = try member(group)
    try second.subscribe(["t"])
    var revoked: [TopicPartition]?
    _ = try eventually("a revocation") {
      _ = second.poll(timeout: .milliseconds(20))
      if case .revoked(let partitions, lost: false) = first.poll(timeout: .milliseconds(20)) { revoked = partitions }
      return revoked
    }
    #expect(revoked?.sorted() == all)
    #expect(try first.groupMetadata().generation >= 0, "the owner can still commit")
    try first.assign([])

    var shares: [[TopicPartition]] = [[], []]
    _ = try eventually("both members' partitions") {
      for (index, consumer) in [first, second].enumerated() {
        switch consumer.poll(timeout: .milliseconds(20)) {
        case .assigned(let partitions):
          shares[index] = partitions
          try consumer.assign(partitions.map { TopicPartitionOffset($0, offset: 0) })
        case .revoked:
          shares[index] = []
          try consumer.assign([])
        default: break
        }
      }
      return Set(shares[0] + shares[1]) == Set(all) && shares.allSatisfy { $0.count == 2 } ? true : nil
    }
    second.close()
    first.close()
  }

  enum Moment: CaseIterable { case assignedUnseen, assignedUnanswered, revokedUnanswered, answered }

  @Test("close ends in time, whatever rebalance has no answer yet", arguments: Moment.allCases)
  func closing(_ moment: Moment) throws {
    try broker.createTopic("t", partitions: 2)
    let consumer = try member(uniqueName("group"))
    try consumer.subscribe(["t"])
    switch moment {
    case .assignedUnseen:
      // The group's answer arrives without a poll; it shows in the generation.
      _ = try eventually("a generation") { try consumer.groupMetadata().generation >= 0 ? true : nil }
    case .assignedUnanswered: _ = try consumer.assigned()
    case .revokedUnanswered:
      try consumer.assign(consumer.assigned().map { TopicPartitionOffset($0, offset: 0) })
      try consumer.unsubscribe()
      guard case .revoked = try consumer.rebalance() else {
        Issue.record("no revocation")
        return
      }
    case .answered: try consumer.assign(consumer.assigned().map { TopicPartitionOffset($0, offset: 0) })
    }
    let time = ContinuousClock().measure { consumer.close() }
    #expect(time < .seconds(10))
  }

  @Test("a member that lost its session is told so with the revocation")
  func lost() throws {
    try broker.createTopic("t", partitions: 1)
    let consumer = try member(uniqueName("group"))
    try consumer.subscribe(["t"])
    try consumer.assign(consumer.assigned().map { TopicPartitionOffset($0, offset: 0) })
    #expect(!consumer.assignmentLost)
    try broker.brokerDown()
    let event = try consumer.rebalance()
    guard case .revoked(let partitions, let lost) = event else {
      Issue.record("\(event)")
      return
    }
    #expect(partitions == [TopicPartition(topic: "t", partition: 0)])
    #expect(lost)
    #expect(consumer.assignmentLost)
    #expect(try consumer.groupMetadata().generation < 0 || consumer.memberID == nil)
    try consumer.assign([])
    try broker.brokerUp()
    #expect(try consumer.assigned() == partitions, "it joins again by itself")
  }

  @Test("a loss is told even where the owner assigned again before it saw the revocation")
  func lostBeforeAssign() throws {
    try broker.createTopic("t", partitions: 1)
    let consumer = try member(uniqueName("group"))
    try consumer.subscribe(["t"])
    let partitions = try consumer.assigned().map { TopicPartitionOffset($0, offset: 0) }
    try consumer.assign(partitions)
    try broker.brokerDown()
    _ = try eventually("the loss") { consumer.assignmentLost ? true : nil }  // not polled
    try consumer.assign(partitions)
    guard case .revoked(_, lost: true) = try consumer.rebalance() else {
      Issue.record("the loss was forgotten")
      return
    }
  }
}
