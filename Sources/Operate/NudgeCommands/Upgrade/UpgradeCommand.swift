import NudgeSchema
import ServiceKit
import StreamRuntime

/// `nudge upgrade status | finalize`.
enum UpgradeCommand {
  private static let json = Setting<Bool>("json", environment: .none, default: false, help: "Print JSON.")
  private static let trustUnseen = Setting<Bool>(
    "trust-unseen", environment: .none, default: false,
    help:
      "Members whose release cannot be seen, because they have a client.id of your own, are of this release or a later one."
  )

  static let command = Command(
    "upgrade", abstract: "Shows the level that is in force, and finalises an upgrade.",
    subcommands: [status, finalize])

  private static let status = Command(
    "status",
    abstract: "Shows the level of each stage's tasks, and the releases that run.",
    discussion:
      "A release writes what the one before it can read, until its level is finalised. Exits with 1 if a later level than the one "
      + "in force could be finalised.",
    settings: ClusterSettings.all + [json],
    examples: ["nudge upgrade status --bootstrap-servers kafka:9092"]
  ) { input in
    let report = try UpgradeCommand.report(on: ClusterSettings(input))
    try show(report, asJSON: input[json])
    return report.isDone ? ExitCode.success : ExitCode.failure
  }

  private static let finalize = Command(
    "finalize",
    abstract: "Lets all stages write what this release added. There is no way back.",
    discussion:
      "Until then a rollback to the release before is possible. All processes must run a release that knows the level. Without --yes, "
      + "the command only prints who runs what, and what becomes impossible. Exits with 1 if the upgrade cannot be finalised yet.",
    settings: ClusterSettings.all + [trustUnseen] + Writing.all + [json],
    examples: [
      "nudge upgrade finalize --bootstrap-servers kafka:9092",
      "nudge upgrade finalize --yes --why 'a week of 0.4.0' --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let writes = try Writing.isAsked(input)
    let cluster = ClusterSettings(input)
    let found = try findings(cluster)
    var report = UpgradeReport(found, trustsUnseen: input[trustUnseen])
    if writes, !report.isDone, report.obstacles.isEmpty {
      try write(found, report, why: input[Writing.why], cluster)
      report.isWritten = true
    }
    try show(report, asJSON: input[json])
    return report.isDone || report.obstacles.isEmpty ? ExitCode.success : ExitCode.failure
  }

  /// The levels of all stages, and who runs what.
  static func report(on cluster: ClusterSettings) throws -> UpgradeReport { UpgradeReport(try findings(cluster)) }

  private static func findings(_ cluster: ClusterSettings) throws -> [(stage: StageName, finding: LevelSurvey.Finding)]
  {
    _ = try cluster.admin()
    return try StageName.allCases.map { ($0, try cluster.levelSurvey(of: $0.definition).read()) }
  }

  /// All tasks of all stages, and the audit, in one transaction.
  private static func write(
    _ found: [(stage: StageName, finding: LevelSurvey.Finding)], _ report: UpgradeReport, why: String,
    _ cluster: ClusterSettings
  ) throws {
    let browser = try TopicBrowser(cluster)
    defer { browser.close() }
    let records = found.flatMap { stage, finding in
      LevelSurvey.records(finalising: .latest, stage.definition, tasks: finding.tasks).map {
        OutgoingRecord(
          topic: $0.topic, partition: $0.partition, key: $0.key, value: nil,
          headers: $0.headers.map { ($0.name, $0.value) })
      }
    }
    _ = try AuditedWriter.write(
      "upgrade finalize", records, why: why, details: ["from": "\(report.level)", "to": "\(report.latest)"], cluster,
      browser)
  }

  private static func show(_ report: UpgradeReport, asJSON: Bool) throws {
    if asJSON { try CommandOutput.print(json: report) } else { print(report.text) }
  }
}
