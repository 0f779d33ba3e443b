import Analyzer
import Dispatcher
import Foundation
import Ingest
import NudgeSchema
import ServiceKit
import StreamRuntime

enum DoctorCommand {
  private static let credentials = Setting<String?>(
    "fcm-credentials",
    environment: .named(["NUDGE_FCM_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"]), default: nil,
    placeholder: "FILE", help: "Also check this service account's file.")
  private static let vapidKey = Setting<String?>(
    "vapid-key", default: nil, placeholder: "FILES",
    help: "Also check the VAPID keys of these files, separated by commas.")
  private static let pushService = Setting<String?>(
    "push-service", environment: .none, default: nil, placeholder: "URL",
    help:
      "Also compare this machine's clock with that of a push service, such as https://updates.push.services.mozilla.com: tokens "
      + "of a wrong clock are refused.",
    check: { url in
      url.map { $0.hasPrefix("https://") || $0.hasPrefix("http://") } ?? true
        ? nil : "an address that begins with https://"
    })
  private static let role = Setting<DoctorRole>(
    "role", environment: .none, default: .oncall,
    help:
      "The role whose access rules are checked for the user that --kafka-property logs in as: oncall, replay, ingest, analyzer "
      + "or dispatcher. The last three check brokers and access rules only.")
  private static let watch = Setting<Duration?>(
    "watch", environment: .none, default: nil,
    help: "Examine again after each such pause, at least 1s, and print what changes, until Ctrl-C.",
    check: Watching.allowed)
  private static let failOn = Setting<String>(
    "fail-on", environment: .none, default: "problem", placeholder: "problem|notice",
    help:
      "Exit with 1 for a problem (problem), or also with 3 where there are only notices (notice).",
    check: { ["problem", "notice"].contains($0) ? nil : "problem or notice" })
  private static let quiet = Setting<Bool>(
    "quiet", environment: .none, default: false, help: "Print problems and notices only.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Print one line of JSON a finding.")

  static let command = Command(
    "doctor",
    abstract: "Checks everything the pipeline depends on.",
    discussion:
      "Checks brokers, their settings, access rules, topics, groups, lag, dead letters, clocks, "
      + "credentials, and known issues of librdkafka. Each finding comes with its fix. Changes nothing. "
      + "Exits with 0 if all is well, 1 if there is a problem, 2 if no broker answers, and with --fail-on notice 3 if "
      + "there are only notices; with --watch by the last examination.",
    settings: ClusterSettings.all + [credentials, vapidKey, pushService, role, watch, failOn, quiet, json],
    examples: [
      "nudge doctor --bootstrap-servers kafka:9092",
      "nudge doctor --bootstrap-servers kafka:9092 --fcm-credentials service-account.json --json",
      "nudge doctor --bootstrap-servers kafka:9092 --role analyzer --kafka-property sasl.username=analyzer",
      "nudge doctor --bootstrap-servers kafka:9092 --watch 30s",
      "nudge doctor --bootstrap-servers kafka:9092 --quiet --fail-on notice    # a probe",
    ]
  ) { input in
    func show(_ finding: Finding) throws {
      if input[quiet], finding.weight == .good { return }
      try CommandOutput.print(finding, asJSON: input[json], text: finding.shown)
    }
    let failsOnNotice = input[failOn] == "notice"
    guard let pause = input[watch] else {
      let findings = try examine(input, show)
      return DoctorExit.code(findings, failsOnNotice: failsOnNotice)
    }
    var watcher = DoctorWatch()
    return try Watching.repeat(every: pause) {
      let findings = try examine(input) { _ in }
      for change in watcher.changes(findings) { try report(change, asJSON: input[json]) }
      return DoctorExit.code(findings, failsOnNotice: failsOnNotice)
    }
  }

  /// Prints a change with its time, for `--watch`.
  private static func report(_ change: DoctorWatch.Change, asJSON: Bool) throws {
    let at = RFC3339.text(SystemClock.milliseconds())
    guard asJSON else { return print("\(at)  \(change.shown)") }
    switch change {
    case .appeared(let finding):
      try CommandOutput.print(fields: [
        "at": at, "change": "appeared", "subject": finding.subject, "weight": finding.weight, "text": finding.text,
        "mend": finding.mend,
      ])
    case .ended(let subject, let weight):
      try CommandOutput.print(fields: ["at": at, "change": "ended", "subject": subject, "weight": weight])
    }
  }

  private static func examine(_ input: CommandInput, _ show: (Finding) throws -> Void) throws
    -> [Finding]
  {
    var findings: [Finding] = []
    var failure: (any Error)?
    let examination = DoctorChecks(
      cluster: ClusterSettings(input), credentials: input[credentials], vapidKey: input[vapidKey],
      pushService: input[pushService], role: input[role],
      now: SystemClock.milliseconds())
    try examination.run { finding in
      findings.append(finding)
      do { try show(finding) } catch { failure = error }
    }
    if let failure { throw failure }
    return findings
  }
}

/// Reports what changed between examinations, for `nudge doctor --watch`.
struct DoctorWatch {
  /// A finding that appeared, or a subject without problems again.
  enum Change: Equatable {
    case appeared(Finding)
    case ended(subject: String, Finding.Weight)

    /// One line for a person, and one with the fix.
    var shown: String {
      switch self {
      case .appeared(let finding): finding.shown
      case .ended(let subject, let weight): "ok       \(subject): the \(weight.rawValue) is over"
      }
    }
  }

  /// Figures in a text change between examinations, so findings of one subject are distinguished by their fix.
  private struct Name: Hashable {
    var subject: String
    var weight: Finding.Weight
    var mend: String?
  }

  private var known: [Name: Finding] = [:]

  /// The changes since the last examination. Good findings are not reported.
  mutating func changes(_ findings: [Finding]) -> [Change] {
    var current: [Name: Finding] = [:]
    var changes: [Change] = []
    for finding in findings where finding.weight != .good {
      let name = Name(subject: finding.subject, weight: finding.weight, mend: finding.mend)
      if known[name] == nil, current[name] == nil { changes.append(.appeared(finding)) }
      current[name] = finding
    }
    // Without a broker the rest is not examined, so earlier findings about it are not over.
    let isCutShort = findings.contains { $0.subject == "brokers" && $0.weight == .problem }
    for (name, finding) in known.sorted(by: { $0.key.subject < $1.key.subject })
    where current[name] == nil {
      if isCutShort {
        current[name] = finding
      } else {
        changes.append(.ended(subject: name.subject, name.weight))
      }
    }
    known = current
    return changes
  }
}

/// The exit codes of `nudge doctor`, for use in probes.
enum DoctorExit {
  /// Nothing to do.
  static let well: Int32 = 0
  /// A problem.
  static let problem: Int32 = 1
  /// No broker answers, so nothing else is known.
  static let unknown: Int32 = 2
  /// There are notices, and `--fail-on notice` is given.
  static let notice: Int32 = 3

  /// The code of an examination.
  static func code(_ findings: [Finding], failsOnNotice: Bool) -> Int32 {
    if findings.contains(where: { $0.subject == "brokers" && $0.weight == .problem }) {
      return unknown
    }
    if findings.contains(where: { $0.weight == .problem }) { return problem }
    return failsOnNotice && findings.contains { $0.weight == .notice } ? notice : well
  }
}

/// The role whose access rules are checked.
enum DoctorRole: String, CaseIterable, SettingValue {
  /// Somebody on call who only reads.
  case oncall
  /// Somebody on call who also replays.
  case replay
  case ingest
  case analyzer
  case dispatcher

  /// Whether the pipeline is checked too. A service's user may lack the permissions for it.
  var looks: Bool { self == .oncall || self == .replay }

  /// Access the role needs.
  func rules(_ topics: TopicNames) -> [AccessRule] {
    switch self {
    case .oncall: AccessRule.rulesOfReading(at: DoctorChecks.stages, topics: topics)
    case .replay: Self.oncall.rules(topics) + AccessRule.rulesOfReplaying(topics: topics)
    case .ingest: AccessRule.rules(of: IngestStage.definition, topics: topics)
    case .analyzer: AccessRule.rules(of: AnalyzerStage.definition, topics: topics)
    case .dispatcher: AccessRule.rules(of: DispatcherStage.definition, topics: topics)
    }
  }
}

/// The result of one check.
struct Finding: Encodable, Equatable {
  enum Weight: String, Encodable {
    /// Everything is as it should be.
    case good
    /// It works, but could be better or surprise somebody.
    case notice
    /// It does not work, or will fail.
    case problem
  }
  var weight: Weight
  /// The subject, such as `topics`.
  var subject: String
  var text: String
  /// How to fix it; nil if nothing needs fixing.
  var mend: String?

  static func good(_ subject: String, _ text: String) -> Finding {
    Finding(weight: .good, subject: subject, text: text)
  }

  static func notice(_ subject: String, _ text: String, mend: String) -> Finding {
    Finding(weight: .notice, subject: subject, text: text, mend: mend)
  }

  static func problem(_ subject: String, _ text: String, mend: String) -> Finding {
    Finding(weight: .problem, subject: subject, text: text, mend: mend)
  }

  /// One line for a person, and a second one with the fix.
  var shown: String {
    let mark =
      switch weight {
      case .good: "ok      "
      case .notice: "notice  "
      case .problem: "PROBLEM "
      }
    return "\(mark) \(subject): \(text)" + (mend.map { "\n         → \($0)" } ?? "")
  }
}
