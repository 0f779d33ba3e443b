import Foundation
import NudgeSchema
import ServiceKit

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
      if input[json] {
        try CommandOutput.print(json: finding)
      } else {
        print(finding.shown)
      }
    }
    let failsOnNotice = input[failOn] == "notice"
    guard let pause = input[watch] else {
      let findings = try examine(input, show)
      return DoctorExit.code(findings, failsOnNotice: failsOnNotice)
    }
    var watcher = DoctorWatch()
    return try Watching.repeat(every: pause) {
      let findings = try examine(input) { _ in }
      for change in watcher.changes(findings) { try tell(change, asJSON: input[json]) }
      return DoctorExit.code(findings, failsOnNotice: failsOnNotice)
    }
  }

  /// A change on the watch, with its time.
  private struct Shown: Encodable {
    var at: String
    var change: String
    var subject: String
    var weight: Finding.Weight
    var text: String?
    var mend: String?
  }

  private static func tell(_ change: DoctorWatch.Change, asJSON: Bool) throws {
    let at = RFC3339.text(SystemClock.milliseconds())
    guard asJSON else { return print("\(at)  \(change.shown)") }
    switch change {
    case .appeared(let finding):
      try CommandOutput.print(
        json: Shown(
          at: at, change: "appeared", subject: finding.subject, weight: finding.weight,
          text: finding.text,
          mend: finding.mend))
    case .ended(let subject, let weight):
      try CommandOutput.print(
        json: Shown(at: at, change: "ended", subject: subject, weight: weight))
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
