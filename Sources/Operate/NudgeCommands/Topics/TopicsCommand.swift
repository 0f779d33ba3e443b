import Foundation
import Kafka
import ServiceKit

/// `nudge topics create | list | check | repartition`.
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

  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Print JSON.")

  static let command = Command(
    "topics", abstract: "Creates, lists and checks the pipeline's topics.",
    subcommands: [create, list, check, repartition])

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
    if input[json] { try CommandOutput.print(json: report) } else { print(report.text) }
    if writes {
      try work.carryOut(survey) { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
      AuditedWriter.record(
        "topics repartition", why: input[Writing.optionalWhy],
        details: ["from": "\(survey.numbers.from)", "to": "\(survey.numbers.to)"], cluster)
    } else if !input[json] {
      print("Nothing was written. To do it: --yes")
    }
    return ExitCode.success
  }

  private static func show(_ report: TopicReport, asJSON: Bool) throws {
    guard asJSON else { return print(report.text) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(report), as: UTF8.self))
  }
}
