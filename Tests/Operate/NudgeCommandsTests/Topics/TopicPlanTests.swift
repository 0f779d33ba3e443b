import Foundation
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import NudgeCommands
@testable import ServiceKit

@Suite("Topics and their plans")
struct TopicPlanTests {
  @Test("settings as planned, or better, are accepted", arguments: Topic.allCases)
  func asPlanned(topic: Topic) {
    let plan = TopicPlan(topic)
    var found = plan.configuration
    #expect(TopicPlanComparison.differences(of: found, from: plan).isEmpty)
    found["max.message.bytes"] = String(plan.maxMessageBytes * 2)
    if plan.retention != nil { found["retention.ms"] = "-1" }
    #expect(TopicPlanComparison.differences(of: found, from: plan).isEmpty)
  }

  @Test("each setting worse than planned is named, with its planned value")
  func worse() {
    let timeline = TopicPlanComparison.differences(
      of: ["cleanup.policy": "compact", "retention.ms": "3600000", "max.message.bytes": "1048588"],
      from: TopicPlan(.timeline))
    #expect(
      timeline == [
        "cleanup.policy is compact, should be delete", "max.message.bytes is 1048588, should be at least 4194304",
        "retention.ms is 3600000, should be at least 604800000",
      ])
    let state = TopicPlanComparison.differences(
      of: ["cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.5"], from: TopicPlan(.ingestState))
    #expect(state == ["min.cleanable.dirty.ratio is 0.5, should be at most 0.1"])
  }

  @Test("D16: no record stays longer than a sixth, or a day, beyond its retention: segments end that soon")
  func segments() {
    for plan in TopicPlan.all {
      #expect(plan.configuration["segment.ms"] == String(plan.segment))
      #expect(plan.segment > 0 && plan.segment <= 86_400_000)
      if let retention = plan.retention { #expect(plan.segment <= retention / 6) }
    }
    #expect(TopicPlan(.banners).segment == 600_000)
    #expect(TopicPlan(.pushes).segment == 28_800_000)
  }

  @Test("the embedded broker gets every topic, with prefix and number of partitions, and lists them without settings")
  func embedded() throws {
    let broker = try EmbeddedBroker()
    try TopicCreation.create(on: broker, names: TopicNames(prefix: "demo."), partitions: 3)
    let admin = try Admin(ClientConfiguration(bootstrapServers: broker.bootstrapServers))
    let found = try admin.listTopics(timeout: .seconds(30))
    #expect(found == Dictionary(uniqueKeysWithValues: Topic.allCases.map { ("demo.\($0.rawValue)", 3) }))
    #expect(!admin.hasController(timeout: .seconds(30)))
    let report = try TopicCreation.report(on: admin, names: TopicNames(prefix: "demo."))
    #expect(report.topics.allSatisfy { $0.status == .exists && $0.partitions == 3 })
    #expect(!report.isGood && report.text.contains("settings are not known"))
  }

  @Test("topics are created on a real broker once, and differences are named", .enabled(if: LocalBroker.find() != nil))
  func realBroker() throws {
    let home = try #require(LocalBroker.find())
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let broker = try LocalBroker(home: home, directory: directory)
    try broker.start()
    defer { broker.kill() }
    let admin = try Admin(ClientConfiguration(bootstrapServers: broker.bootstrapServers))
    let names = TopicNames(prefix: "t.")
    _ = try admin.createTopics(
      [
        .init(name: "t.chat.events", partitions: 3, replicationFactor: 1),
        .init(name: "t.nudge.ingest-state", partitions: 3, replicationFactor: 1),
      ], timeout: .seconds(30)
    ).mapValues { try $0.get() }

    try waitForTopics(2, on: admin)
    let first = try TopicCreation.create(on: admin, names: names)
    #expect(!first.isGood)
    let entries = Dictionary(uniqueKeysWithValues: first.topics.map { ($0.name, $0) })
    #expect(entries["t.nudge.timeline"]?.status == .created)
    #expect(entries["t.nudge.timeline"]?.partitions == 3, "as many as the topics that were there")
    #expect(
      entries["t.chat.events"]?.differences == [
        "max.message.bytes is 1048588, should be at least 4194304",
        "segment.ms is 604800000, should be at most 86400000",
      ])
    #expect(
      entries["t.nudge.ingest-state"]?.differences.contains("cleanup.policy is delete, should be compact") == true)

    // The next command finds the new topics.
    let second = try TopicCreation.create(on: admin, names: names, partitions: 5)
    #expect(second.topics.allSatisfy { $0.status == .differs && $0.partitions == 3 })
    let third = try TopicCreation.create(on: admin, names: TopicNames(prefix: "u."), partitions: 2)
    #expect(third.isGood)
    let fourth = try TopicCreation.create(on: admin, names: TopicNames(prefix: "u."))
    #expect(fourth.topics.allSatisfy { $0.status == .exists && $0.partitions == 2 })
  }

  /// A topic made a moment ago may not be in the broker's metadata yet.
  private func waitForTopics(_ count: Int, on admin: Admin) throws {
    try wait(for: "\(count) topics") { try admin.listTopics(timeout: .seconds(30)).count >= count }
  }
}
