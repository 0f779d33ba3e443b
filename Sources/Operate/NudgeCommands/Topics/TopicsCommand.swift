import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// `nudge topics create | list | check | manifests | repartition`.
enum TopicsCommand {
  private static let partitions = Setting<Int?>(
    "partitions", environment: .none, default: nil,
    help: "Partitions of each topic: the most instances of a stage. Later only nudge topics repartition adds some. "
      + "Default: as the existing topics, or else 12.",
    check: { count in (count ?? 1) >= 1 && (count ?? 1) <= 10_000 ? nil : "a number from 1 to 10000" })

  private static let replicationFactor = Setting<Int?>(
    "replication-factor", environment: .none, default: nil,
    help: "Replicas of each partition; 3 in production. Default: the broker's.",
    check: { count in (count ?? 1) >= 1 && (count ?? 1) <= 100 ? nil : "a number from 1 to 100" })

  private static let json = CommandOutput.json

  static let command = Command(
    "topics", abstract: "Creates, lists and checks the pipeline's topics.",
    subcommands: [create, list, check, manifests, repartition])

  private static let create = Command(
    "create",
    abstract: "Creates missing topics and compares the others with the plan.",
    discussion:
      "Running it again is safe. Exits with 1 if a topic differs or could not be created.",
    settings: ClusterSettings.all + [partitions, replicationFactor, Writing.dryRun, json],
    examples: [
      "nudge topics create --bootstrap-servers localhost:9092",
      "nudge topics create --bootstrap-servers kafka:9092 --partitions 24 --replication-factor 3",
    ]
  ) { input in
    let cluster = ClusterSettings(input)
    if input[Writing.dryRun] {
      let report = try TopicCreation.report(on: cluster.admin(), names: cluster.topics, partitions: input[partitions])
      try show(report, asJSON: input[json])
      return ExitCode.success
    }
    let report = try TopicCreation.create(
      on: cluster.admin(), names: cluster.topics, partitions: input[partitions],
      replicationFactor: input[replicationFactor])
    try show(report, asJSON: input[json])
    return report.isGood ? ExitCode.success : ExitCode.failure
  }

  private static let list = Command(
    "list", abstract: "Lists the topics with partitions and retention.", settings: ClusterSettings.all + [json],
    examples: ["nudge topics list --bootstrap-servers localhost:9092"]
  ) { input in
    let cluster = ClusterSettings(input)
    var report = try TopicCreation.report(on: cluster.admin(), names: cluster.topics)
    report.topics.removeAll { $0.status == .missing }
    try show(report, asJSON: input[json])
    return ExitCode.success
  }

  private static let check = Command(
    "check",
    abstract: "Compares the topics with the plan.",
    discussion:
      "Exits with 1 if one is missing or differs.",
    settings: ClusterSettings.all + [partitions, json],
    examples: ["nudge topics check --bootstrap-servers localhost:9092 --json"]
  ) { input in
    let cluster = ClusterSettings(input)
    let report = try TopicCreation.report(on: cluster.admin(), names: cluster.topics, partitions: input[partitions])
    try show(report, asJSON: input[json])
    return report.isGood ? ExitCode.success : ExitCode.failure
  }

  private static let strimzi = Setting<Bool>(
    "strimzi", environment: .none, default: false, help: "For Strimzi: KafkaTopic and KafkaUser.")

  private static let kafkaName = Setting<String>(
    "cluster", environment: .none, default: "kafka", placeholder: "NAME",
    help: "The name of Strimzi's Kafka object.")

  private static let namespace = Setting<String>(
    "namespace", environment: .none, default: "kafka", placeholder: "NAME", help: "Where Strimzi looks for them.")

  private static let api = Setting<String>(
    "api", environment: .none, default: "v1", placeholder: "v1|v1beta2",
    help: "The version of Strimzi's API: v1beta2 before Strimzi 0.49.",
    check: { ["v1", "v1beta2"].contains($0) ? nil : "v1 or v1beta2" })

  private static let authentication = Setting<String>(
    "authentication", environment: .none, default: "scram-sha-512", placeholder: "scram-sha-512|tls",
    help: "How the users log in.",
    check: { ["scram-sha-512", "tls"].contains($0) ? nil : "scram-sha-512 or tls" })

  private static let manifests = Command(
    "manifests",
    abstract: "Prints topics and users as Kubernetes objects.",
    discussion:
      "The topics with their plans, and a user with its access rules for each service and for the people on call: nudge-ingest, "
      + "nudge-analyzer, nudge-dispatcher, nudge-oncall, nudge-replay. Asks no broker.",
    settings: [
      strimzi, kafkaName, namespace, ServiceSettings.topicPrefix, partitions, replicationFactor, authentication, api,
      json,
    ],
    examples: [
      "nudge topics manifests --strimzi --cluster production --partitions 24 | kubectl apply -f -"
    ]
  ) { input in
    guard input[strimzi] else { throw SettingsError("--strimzi is missing: it is the only kind there is") }
    let manifests = StrimziManifests(
      names: TopicNames(prefix: input[ServiceSettings.topicPrefix]), cluster: input[kafkaName],
      namespace: input[namespace],
      partitions: input[partitions] ?? Int(TopicPlan.defaultPartitions),
      replicationFactor: input[replicationFactor] ?? 3,
      api: input[api], authentication: input[authentication])
    if input[json] {
      try CommandOutput.print(
        json: JSONValue.object([
          "apiVersion": .string("v1"), "kind": .string("List"), "items": .array(manifests.objects),
        ]))
    } else {
      print(manifests.yaml, terminator: "")
    }
    return ExitCode.success
  }

  private static let newPartitions = Setting<Int>(
    required: "partitions", environment: .none, help: "The new number: a multiple of the present one.",
    check: { (2...10_000).contains($0) ? nil : "a number from 2 to 10000" })

  private static let repartition = Command(
    "repartition",
    abstract: "Adds partitions to the stages' topics, and divides the state.",
    discussion:
      "All services must be stopped, and the analyzer and the dispatcher must have processed their inputs. There is no way "
      + "back to fewer partitions. If it is interrupted, run it again: it goes on where it was, and no service starts before "
      + "it has ended.",
    settings: ClusterSettings.all + [newPartitions] + Writing.mending + [json],
    examples: [
      "nudge topics repartition --partitions 48 --dry-run --bootstrap-servers kafka:9092",
      "nudge topics repartition --partitions 48 --yes --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let writes = try Writing.isMendingAsked(input)
    let cluster = ClusterSettings(input)
    let work = try Repartition(cluster)
    guard let survey = try work.survey(to: input[newPartitions], isCarriedOut: writes) else {
      if writes { try work.finish() }
      print("The inputs and state topics have \(input[newPartitions].counted("partition")): there is nothing to do.")
      return ExitCode.success
    }
    let report = RepartitionReport(survey, names: cluster.topics)
    try CommandOutput.print(report, asJSON: input[json], text: report.text)
    if writes {
      try work.carryOut(survey, report: CommandOutput.report)
      AuditedWriter.record(
        "topics repartition", why: input[Writing.optionalWhy],
        details: ["from": "\(survey.numbers.from)", "to": "\(survey.numbers.to)"], cluster)
    } else if !input[json] {
      print("Nothing was written. To do it: --yes")
    }
    return ExitCode.success
  }

  private static func show(_ report: TopicReport, asJSON: Bool) throws {
    try CommandOutput.print(report, asJSON: asJSON, text: report.text)
  }
}
