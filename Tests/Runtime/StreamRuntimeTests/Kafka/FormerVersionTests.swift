import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import StreamRuntime

/// Services on a cluster with transactions of version 1. Needs a real Kafka: `KAFKA_HOME=/path/to/kafka make test`.
@Suite(
  "Services on a broker with transactions of version 1", .serialized,
  .enabled(if: LocalBroker.find() != nil, "set KAFKA_HOME=/path/to/kafka to run it"))
struct FormerVersionTests {
  private let partitions: Int32 = 12
  private let prefix = "former."

  @Test("the cluster is killed, stopped and upgraded to version 2 under load: nothing is lost or duplicated")
  func upgradedUnderLoad() throws {
    let home = try #require(LocalBroker.find())
    let folder = try TemporaryDirectory()
    let broker = try LocalBroker(
      home: home, directory: URL(fileURLWithPath: folder.path + "/kafka"), features: ["transaction.version": 0])
    try broker.start()
    defer { broker.stop() }
    let brokers = broker.bootstrapServers
    let names = TopicNames(prefix: prefix)
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    let topics = [Topic.timeline, .decisions, .analyzerState, .deadLetters].map {
      Admin.NewTopic(
        name: names($0), partitions: Int(partitions), replicationFactor: 1, configuration: TopicPlan($0).configuration)
    }
    for result in try admin.createTopics(topics, timeout: .seconds(30)).values { try result.get() }
    let services = try ["one", "two"].map { (name: String) in
      try ServiceUnderTest(
        brokers: brokers, stateDirectory: "\(folder.path)/\(name)", instance: name, prefix: prefix,
        kafkaProperties: ["session.timeout.ms=10000"])
    }
    for service in services { try service.start() }
    let load = BackgroundLoad(to: names(.timeline), partitions: partitions, keys: 200, brokers: brokers)
    let outputs = try RecordCount(brokers: brokers, topic: names(.decisions), partitions: partitions)
    func work(_ what: String) {
      let before = outputs.value()
      wait(for: "the services to work, \(what)", atMost: 90) { outputs.value() > before + 500 }
    }
    work("at first")
    for service in services { #expect(service.logged("transactions of version 1")) }
    broker.kill()
    try broker.start()
    work("after a kill")
    try BrokerFeatures.set("transaction.version", 1, isUpgrade: true, at: brokers)
    work("at level 1")
    try BrokerFeatures.set("transaction.version", 2, isUpgrade: true, at: brokers)
    work("at level 2")
    broker.stop()
    try broker.start()
    work("after a stop")
    let all = load.end()
    wait(for: "all \(all) outputs", atMost: 120) { outputs.value() >= all }
    for service in services {
      #expect(service.ends.isEmpty, "\(service.ends)")
      // The stop made it open its producers again, and ask what the cluster has.
      #expect(service.logged("transactions of version 2"), "\(service.lastLines)")
      service.service.stop()
    }
    let read = try Records.all(brokers: brokers, topic: names(.decisions), partitions: partitions)
    for (key, records) in Dictionary(grouping: read, by: { $0.key ?? "" }) {
      let counts = records.compactMap { $0.value?.split(separator: " ").first.flatMap { Int($0) } }
      #expect(counts == Array(1...counts.count), "counts of \(key)")
    }
    #expect(read.count == all)
  }
}
