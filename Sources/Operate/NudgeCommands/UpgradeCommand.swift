import NudgeSchema
import ServiceKit
import StreamRuntime

/// `nudge upgrade status | finalize`.
enum UpgradeCommand {
  private static let json = CommandOutput.json
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

  /// The levels of all stages, and the running releases.
  static func report(on cluster: ClusterSettings) throws -> UpgradeReport { UpgradeReport(try findings(cluster)) }

  private static func findings(_ cluster: ClusterSettings) throws -> [(stage: StageName, finding: LevelSurvey.Finding)]
  {
    _ = try cluster.admin()
    return try StageName.allCases.map { ($0, try cluster.levelSurvey(of: $0.definition).read()) }
  }

  /// Writes all tasks of all stages and the audit in one transaction.
  private static func write(
    _ found: [(stage: StageName, finding: LevelSurvey.Finding)], _ report: UpgradeReport, why: String,
    _ cluster: ClusterSettings
  ) throws {
    let browser = try TopicBrowser(cluster)
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
    try CommandOutput.print(report, asJSON: asJSON, text: report.text)
  }
}

/// The levels in force, the running releases, and what finalising the upgrade would do.
struct UpgradeReport: Encodable, Equatable {
  struct Stage: Encodable, Equatable {
    var stage: String
    /// The number of tasks at each level.
    var tasks: [String: Int]
    /// Tasks that have never run.
    var neverRan: Int
    /// The number of tasks that were last run by a release that knows this level.
    var known: [String: Int]
    /// The number of dynamic members of each release. A process has one for each of its threads.
    var members: [String: Int]
    /// The number of members with a name (`--instance`). Only the tasks that they run show their release.
    var named: Int
  }

  /// The lowest level of a task.
  var level: Int32
  /// The highest level that this release knows.
  var latest: Int32
  var stages: [Stage]
  /// The reasons why the upgrade cannot be finalised.
  var obstacles: [String]
  /// What would no longer be possible after finalising.
  var ends: [String]
  var isWritten = false

  /// Whether there is nothing to finalise.
  var isDone: Bool { level >= latest }

  /// - Parameter trustsUnseen: Whether to assume that members with an unknown release know the latest level.
  init(
    _ findings: [(stage: StageName, finding: LevelSurvey.Finding)], latest: FormatLevel = .latest,
    history: [FormatLevel.Entry] = FormatLevel.history, trustsUnseen: Bool = false
  ) {
    let lowest = findings.flatMap { $0.finding.levels.values }.min() ?? .first
    level = lowest.number
    self.latest = latest.number
    stages = findings.map { stage, finding in
      Stage(
        stage: stage.rawValue,
        tasks: Dictionary(grouping: finding.levels.values) { "\($0)" }.mapValues(\.count),
        neverRan: Int(finding.tasks) - finding.levels.count,
        known: Dictionary(grouping: finding.known.values) { "\($0)" }.mapValues(\.count),
        members: Dictionary(grouping: finding.members.filter { !$0.isStatic }) {
          $0.release.map { "\($0)" } ?? "not seen"
        }
        .mapValues(\.count),
        named: finding.members.count(where: \.isStatic))
    }
    obstacles = findings.flatMap { stage, finding in
      Self.obstacles(stage, finding, latest, trustsUnseen: trustsUnseen)
    }
    ends = history.filter { $0.level > lowest && $0.level <= latest }.map {
      "releases before \($0.release) end with 70 from then on, and a rollback to them needs the state rebuilt: level \($0.level) has \($0.adds)"
    }
  }

  private static func obstacles(
    _ stage: StageName, _ finding: LevelSurvey.Finding, _ latest: FormatLevel, trustsUnseen: Bool
  ) -> [String] {
    let former = finding.known.filter { $0.value < latest }
    // A stopped process has nothing to wait for.
    let ofTasks =
      finding.members.contains(where: \.isStatic)
      ? former.sorted { $0.key < $1.key }.map {
        "\(stage): a release that knows level \($0.value) runs task \($0.key): upgrade it first"
      } : []
    return ofTasks
      + finding.members.filter { !$0.isStatic }.compactMap { member in
        guard let release = member.release else {
          return trustsUnseen
            ? nil
            : "\(stage): the release of \(member.name) cannot be seen, because it has a client.id of your own: --trust-unseen"
        }
        guard let known = release.latestLevel, known >= latest else {
          return "\(stage): \(member.name) runs \(release): upgrade it first"
        }
        return nil
      }
  }

  /// The releases of the members in words.
  var releases: [String] {
    let ofNamed = stages.filter { $0.named > 0 }.flatMap { $0.known.keys.map { "a release that knows level \($0)" } }
    return Set(stages.flatMap(\.members.keys) + ofNamed).sorted()
  }

  var text: String {
    var lines = stages.map { stage in
      let tasks = stage.tasks.sorted { $0.key < $1.key }.map { "\($0.value) at level \($0.key)" }
      let idle = stage.neverRan > 0 ? ["\(stage.neverRan) never ran"] : []
      let ran = stage.known.sorted { $0.key < $1.key }.map { "\($0.value) by a release that knows level \($0.key)" }
      let members =
        stage.members.sorted { $0.key < $1.key }.map { "\($0.value.counted("member")) of \($0.key)" }
        + (stage.named > 0
          ? ["\(stage.named.counted("named member")), tasks run " + ran.joined(separator: ", ")] : [])
      return "\(stage.stage): tasks: \((tasks + idle).joined(separator: ", ")); "
        + (members.isEmpty ? "no member runs" : members.joined(separator: ", "))
    }
    if level > latest {
      lines.append("Level \(level) is in force, and this release knows levels up to \(latest): use a later one.")
      return lines.joined(separator: "\n")
    }
    if isDone {
      lines.append("Level \(level) is in force, the highest that this release knows: there is nothing to finalise.")
      return lines.joined(separator: "\n")
    }
    lines.append("Level \(level) is in force; this release knows \(latest).")
    lines += ends.map { "Finalising ends this: \($0)." }
    lines += obstacles.map { "Not yet: \($0)." }
    if isWritten {
      lines.append("Level \(latest) is finalised. Each task takes it when it reads it: nudge upgrade status")
    } else if obstacles.isEmpty {
      lines.append("Nothing was written. To finalise: nudge upgrade finalize --yes --why TEXT")
    }
    return lines.joined(separator: "\n")
  }
}
