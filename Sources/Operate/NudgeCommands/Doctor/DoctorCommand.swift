import Foundation
import ServiceKit

/// `nudge doctor`.
enum DoctorCommand {
  private static let credentials = Setting<String?>(
    "fcm-credentials", environment: .named(["NUDGE_FCM_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"]), default: nil,
    placeholder: "FILE", help: "Also check this service account's file.")
  private static let role = Setting<DoctorRole>(
    "role", environment: .none, default: .oncall,
    help:
      "The role whose access rules are checked for the user that --kafka-property logs in as: oncall, replay, ingest, analyzer "
      + "or dispatcher. The last three check brokers and access rules only.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Print one line of JSON a finding.")

  static let command = Command(
    "doctor",
    abstract: "Checks everything the pipeline depends on.",
    discussion:
      "Checks brokers, their settings, access rules, topics, groups, lag, dead letters, clocks, "
      + "credentials, and known issues of librdkafka. Each finding comes with its fix. Changes nothing. "
      + "Exits with 1 if there is a problem.",
    settings: ClusterSettings.all + [credentials, role, json],
    examples: [
      "nudge doctor --bootstrap-servers kafka:9092",
      "nudge doctor --bootstrap-servers kafka:9092 --fcm-credentials service-account.json --json",
      "nudge doctor --bootstrap-servers kafka:9092 --role analyzer --kafka-property sasl.username=analyzer",
    ]
  ) { input in
    var hasProblem = false
    var failure: (any Error)?
    let examination = HealthChecks(
      cluster: ClusterSettings(input), credentials: input[credentials], role: input[role],
      now: SystemClock.milliseconds())
    try examination.run { finding in
      if finding.weight == .problem { hasProblem = true }
      do {
        if input[json] {
          try CommandOutput.print(json: finding)
        } else {
          print(finding.shown)
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return hasProblem ? ExitCode.failure : ExitCode.success
  }
}
