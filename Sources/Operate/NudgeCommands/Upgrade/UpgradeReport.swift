import NudgeSchema
import StreamRuntime

/// The levels that are in force, who runs what, and what finalising the upgrade would do.
struct UpgradeReport: Encodable, Equatable {
  struct Stage: Encodable, Equatable {
    var stage: String
    /// The number of tasks at each level.
    var tasks: [String: Int]
    /// Tasks that have never run.
    var neverRan: Int
    /// The number of tasks that a release ran last that knows this level.
    var known: [String: Int]
    /// The number of dynamic members of each release. A process has one for each of its threads.
    var members: [String: Int]
    /// Members with a name (`--instance`), whose release only the tasks that they run show.
    var named: Int
  }

  /// The lowest level of a task.
  var level: Int32
  /// The highest that this release knows.
  var latest: Int32
  var stages: [Stage]
  /// The reasons that keep the upgrade from being finalised.
  var obstacles: [String]
  /// The possibilities that finalising would end.
  var ends: [String]
  var isWritten = false

  /// Whether there is nothing to finalise.
  var isDone: Bool { level >= latest }

  /// - Parameter trustsUnseen: members whose release cannot be seen know the latest level.
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

  /// The releases that members run, in words.
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
