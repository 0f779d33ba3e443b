import KafkaTransactions
import NudgeSchema
import Testing

@testable import StreamRuntime

@Suite("Access rules")
struct AccessReportTests {
  private static let stage = StageDefinition(
    name: "analyzer", inputs: [.timeline], outputs: [.decisions, .timeline], changelog: .analyzerState,
    timers: .timeline)
  private let rules = AccessRule.rules(of: stage, topics: TopicNames(prefix: "eu."))

  private func report(_ lacking: [AccessRule.Resource: Set<AccessOperation>], unknown: Set<AccessRule.Resource> = [])
    -> AccessReport
  {
    AccessReport(on: rules) { resource in
      unknown.contains(resource)
        ? .unknown : .operations(Set(AccessOperation.allCases).subtracting(lacking[resource] ?? []))
    }
  }

  @Test("a stage reads its inputs, writes its outputs and dead letters, does both to its changelog; its group and ids")
  func rulesOfStage() {
    let needed = Dictionary(uniqueKeysWithValues: rules.map { ($0.resource, $0.operations) })
    #expect(
      needed == [
        .topic("eu.nudge.timeline"): [.read, .write, .describe, .describeConfigs],
        .topic("eu.nudge.decisions"): [.write, .describe, .describeConfigs],
        .topic("eu.nudge.dead-letters"): [.write, .describe, .describeConfigs],
        .topic("eu.nudge.analyzer-state"): [.read, .write, .describe, .describeConfigs],
        .group("eu.nudge-analyzer"): [.read, .describe],
        .transactionalIDs(prefix: "eu.nudge-analyzer-"): [.write, .describe],
      ])
  }

  @Test("a topic that another part of the process reads is among them")
  func rulesWithOthers() {
    let more = AccessRule.rules(of: Self.stage, topics: TopicNames(prefix: "eu."), reading: [.deadLetters])
    let resource = AccessRule.Resource.topic("eu.nudge.dead-letters")
    #expect(rules.first { $0.resource == resource }?.operations.contains(.read) == false)
    #expect(more.first { $0.resource == resource }?.operations.isSuperset(of: [.read, .write]) == true)
    #expect(more.filter { $0.resource != resource } == rules.filter { $0.resource != resource })
  }

  @Test("nothing is missing where all is allowed, or more")
  func allowed() {
    let report = report([.group("eu.nudge-analyzer"): [.write]])
    #expect(report.missing.isEmpty && report.sentence == nil)
    #expect(report.commands(servers: "k:9092", principal: "User:a").isEmpty)
  }

  @Test("missing permissions are one line, with one command for resources that lack the same operations")
  func missing() {
    let report = report([
      .topic("eu.nudge.decisions"): [.write], .topic("eu.nudge.dead-letters"): [.write],
      .topic("eu.nudge.timeline"): [.read, .write], .transactionalIDs(prefix: "eu.nudge-analyzer-"): [.write],
      .group("eu.nudge-analyzer"): [.read],
    ])
    #expect(
      report.sentence == "Read, Write on topic eu.nudge.timeline; Write on topic eu.nudge.decisions, topic "
        + "eu.nudge.dead-letters; Read on group eu.nudge-analyzer; Write on transactional ids eu.nudge-analyzer-*")
    let add = "kafka-acls.sh --bootstrap-server k:9092 --add --allow-principal 'User:a'"
    #expect(
      report.commands(servers: "k:9092", principal: "User:a") == [
        "\(add) --operation Read --operation Write --topic 'eu.nudge.timeline'",
        "\(add) --operation Write --topic 'eu.nudge.decisions' --topic 'eu.nudge.dead-letters'",
        "\(add) --operation Read --group 'eu.nudge-analyzer'",
        "\(add) --operation Write --resource-pattern-type prefixed --transactional-id 'eu.nudge-analyzer-'",
      ])
  }

  @Test("permissions that brokers do not report are not missing")
  func unknown() {
    let report = report([:], unknown: Set(rules.map(\.resource)))
    #expect(report.missing.isEmpty && report.unknown.count == rules.count)
  }

  @Test("the principal of a client, by its properties and without its password")
  func principals() {
    #expect(
      AccessReport.principal([
        "security.protocol": "SASL_SSL", "sasl.username": "ann", "sasl.password": "secret",
      ]) == "User:ann")
    #expect(AccessReport.principal([:]) == "User:ANONYMOUS")
    #expect(AccessReport.principal(["security.protocol": "ssl"]) == "User:ANONYMOUS")
    #expect(
      AccessReport.principal(["security.protocol": "ssl", "ssl.certificate.location": "/c.pem"])
        == "User:SUBJECT-OF-THE-CERTIFICATE")
  }
}
