import Foundation
import Kafka
import Synchronization
import TestSupport
import Testing

@testable import KafkaTransactions

/// Members of groups, asked for with the wire client. Off unless there is a real broker.
@Suite(
  "The members of a group", .ownThread, .serialized,
  .enabled(if: SecuredBroker.isAvailable, "KAFKA_HOME=/path/to/kafka enables it"))
struct GroupMembersTests {
  private let patience = Duration.seconds(30)

  private func client(
    _ servers: String, _ properties: [(name: String, value: String)] = []
  ) throws -> TransactionalProducer {
    var configuration = try TransactionalProducerConfiguration(bootstrapServers: servers, properties: properties)
    configuration.requestTimeout = .seconds(2)
    return try TransactionalProducer(configuration, transactionalIDs: [], topics: [], group: nil)
  }

  @Test("they have instance id, client id and host; a group that does not exist has none")
  func members() throws {
    let servers = try SecuredBroker.shared.get().servers
    let group = "g-\(UUID())"
    let client = try client(servers)
    defer { client.close() }
    #expect(try client.members(ofGroup: group, timeout: patience) == [])
    let topic = "t-\(UUID().uuidString.prefix(8))"
    let admin = try Admin(ClientConfiguration(bootstrapServers: servers))
    try admin.createTopics(
      [.init(name: topic, partitions: 1, replicationFactor: 1, configuration: [:])], timeout: patience)[topic]?.get()
    let named = try Consumer(
      ClientConfiguration.consumer(bootstrapServers: servers, group: group, instance: "one")
        .merging(overrides: [("heartbeat.interval.ms", "200")]), name: "its-name")
    try named.subscribe([topic])
    wait(for: "an assignment") {
      if case .assigned = named.poll(timeout: .milliseconds(100)) { return true }
      return false
    }
    let id = try #require(named.memberID)
    #expect(
      try client.members(ofGroup: group, timeout: patience)
        == [GroupMember(memberID: id, instanceID: "one", clientID: "its-name", host: "/127.0.0.1")])
    named.close(leavingGroup: true)
    try wait(for: "the group to be empty") { try client.members(ofGroup: group, timeout: patience).isEmpty }
  }

  @Test("a user who may not describe the group is refused at once, and told which right is missing")
  func unauthorized() throws {
    let secured = try SecuredBroker.shared.get()
    let stranger = try client(
      secured.address("LOGIN"),
      [
        ("security.protocol", "sasl_ssl"), ("ssl.ca.location", secured.file("ca.pem")), ("sasl.mechanisms", "PLAIN"),
        ("sasl.username", "nobody"), ("sasl.password", "nobody-secret"),
      ])
    defer { stranger.close() }
    let refusal = #expect(throws: TransactionalProducerError.self) {
      try stranger.members(ofGroup: "g-\(UUID())", timeout: patience)
    }
    #expect(refusal?.isAuthorization == true && refusal?.kind == .refused, "\(String(describing: refusal))")
    #expect(refusal?.reason.contains("an access rule is missing") == true)
  }

  @Test("the embedded broker, which cannot describe groups, is refused time and again, and the process lives on")
  func embedded() throws {
    let broker = try EmbeddedBroker()
    for _ in 0..<50 {
      let client = try client(broker.bootstrapServers)
      let refusal = #expect(throws: TransactionalProducerError.self) {
        try client.members(ofGroup: "g", timeout: patience)
      }
      #expect(refusal?.kind == .refused, "\(String(describing: refusal))")
      client.close()
    }
  }

  @Test("a broker that hangs up when it is asked is asked again until the time-out, and no longer")
  func hangsUp() throws {
    let questions = Atomic<Int>(0)
    let broker = FakeBroker { key, _ in
      if key == APIVersionsRequest.key { questions.add(1, ordering: .relaxed) }
      return nil
    }
    defer { broker.close() }
    let client = try client("127.0.0.1:\(broker.port)")
    let began = ContinuousClock.now
    let failure = #expect(throws: TransactionalProducerError.self) {
      try client.members(ofGroup: "g", timeout: .seconds(1))
    }
    #expect(failure?.kind == .passing, "\(String(describing: failure))")
    #expect(questions.load(ordering: .relaxed) > 2)
    #expect(began.duration(to: .now) >= .seconds(1) && began.duration(to: .now) < .seconds(8))
  }
}
