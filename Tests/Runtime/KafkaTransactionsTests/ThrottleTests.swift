import Foundation
import Kafka
import Synchronization
import TestSupport
import Testing

@testable import KafkaTransactions

@Suite("Throttling by quotas (KIP-219)", .ownThread)
struct ThrottleTests {
  /// An ApiVersions answer with its length.
  private static func versions(correlation: Int32, throttle: Int32) -> [UInt8] {
    var writer = WireWriter()
    writer.int32(0)
    writer.int32(correlation)
    writer.int16(0)
    writer.array([] as [Int16]) { writer, key in writer.int16(key) }
    writer.int32(throttle)
    writer.noTags()
    writer.overwrite(int32: Int32(writer.bytes.count - 4), at: 0)
    return writer.bytes
  }

  @Test("the throttle of an answer is read; a negative one is none", arguments: [0, 1_234, -1] as [Int32])
  func decoded(_ throttle: Int32) throws {
    let bytes = Array(Self.versions(correlation: 7, throttle: throttle).dropFirst(4))
    let answer = try WireFrame.decode(APIVersionsRequest.self, bytes, correlation: 7)
    #expect(answer.throttle == .milliseconds(max(0, throttle)))
  }

  @Test("the next request on a connection is sent once its throttle is over, and has all of its own time then")
  func connection() throws {
    let arrivals = Mutex<[ContinuousClock.Instant]>([])
    let broker = FakeBroker { _, correlation in
      arrivals.withLock { $0.append(.now) }
      return Self.versions(correlation: correlation, throttle: correlation == 1 ? 1_500 : 0)
    }
    defer { broker.close() }
    let connection = try BrokerConnection(
      to: BrokerAddress(host: "127.0.0.1", port: broker.port), ConnectionSecurity(), client: "test",
      deadline: Deadline(after: .seconds(10)))
    #expect(!connection.throttle.isPast)
    for _ in 0..<2 { _ = try connection.call(APIVersionsRequest(), deadline: Deadline(after: .seconds(10))) }
    #expect(connection.throttle.isPast)
    let times = arrivals.withLock { $0 }
    #expect(times.count == 3)
    #expect(times[0].duration(to: times[1]) >= .milliseconds(1_490))
    #expect(times[1].duration(to: times[2]) < .milliseconds(1_490))
  }

  @Test(
    "a produce quota whose throttle is longer than a request's time-out delays commits and fails none",
    .enabled(if: SecuredBroker.isAvailable, "KAFKA_HOME=/path/to/kafka enables it"), .timeLimit(.minutes(3)))
  func quota() throws {
    let secured = try SecuredBroker.shared.get()
    let client = "throttled-\(UUID().uuidString.prefix(8))"
    _ = try secured.tool(
      "kafka-configs.sh",
      [
        "--bootstrap-server", secured.servers, "--alter", "--add-config", "producer_byte_rate=1000", "--entity-type",
        "clients", "--entity-name", client,
      ])
    let configuration = try TransactionalProducerConfiguration(
      bootstrapServers: secured.servers, properties: [("client.id", client), ("transaction.timeout.ms", "5000")])
    #expect(configuration.requestTimeout == .seconds(5))
    let topic = "throttled-\(UUID().uuidString.prefix(8))"
    let admin = try Admin(ClientConfiguration(bootstrapServers: secured.servers))
    let made = try admin.createTopics(
      [.init(name: topic, partitions: 1, replicationFactor: 1, configuration: [:])], timeout: .seconds(30))
    try made[topic]?.get()
    try wait(for: "the new topic") { try admin.partitionCounts(of: [topic], timeout: .seconds(5))[topic] == 1 }
    let producer = try TransactionalProducer(
      configuration, transactionalIDs: ["\(client)-a", "\(client)-b"], topics: [topic], group: nil)
    var throttles: [Duration] = []
    producer.onThrottle = { throttles.append($0) }
    try producer.open(timeout: .seconds(30))
    var random = SeededGenerator(announcedFor: "throttled records")
    func commit(bytes: Int) -> TransactionOutcome {
      var content = producer.makeContent(timestamp: Int64(Date().timeIntervalSince1970 * 1000))
      // Random, so that compression does not shorten it.
      content.append(topic: 0, partition: 0, key: nil, value: (0..<bytes).map { _ in UInt8(random.below(256)) })
      return producer.commit(content, timeout: .seconds(10))
    }
    // The quota is in force once the broker throttles. 18 kB at 1 kB/s, over Kafka's window of about 10 s, is some 8 s.
    var first: ContinuousClock.Instant?
    wait(for: "the quota to be in force", atMost: 30) {
      guard case .committed = commit(bytes: 18_000) else {
        Issue.record("a transaction failed")
        return true
      }
      first = .now
      return !throttles.isEmpty
    }
    let imposed = try #require(throttles.max())
    #expect(imposed > .seconds(5))
    guard case .committed(let records) = commit(bytes: 10) else {
      Issue.record("the transaction after the throttle failed")
      return
    }
    #expect(try #require(first).duration(to: .now) > imposed - .seconds(1))
    #expect(records.lastOffset(topic: topic, partition: 0) != nil)
  }
}
