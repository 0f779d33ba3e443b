import Foundation
import ServiceKit

/// `nudge doctor`.
enum DoctorCommand {
  private static let credentials = Setting<String?>(
    "fcm-credentials", environment: .named(["NUDGE_FCM_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"]), default: nil,
    placeholder: "FILE", help: "A service account's file to look at. Default: not looked at.")
  private static let role = Setting<DoctorRole>(
    "role", environment: .none, default: .oncall,
    help:
      "Whose access rules to look for, with that user's login in --kafka-property: oncall (looks), replay (also replays), or "
      + "ingest, analyzer, dispatcher, of which nothing else is looked at than brokers and rules.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Prints JSON, a line a finding.")

  static let command = Command(
    "doctor",
    abstract:
      "Looks at all that the pipeline stands on: brokers, their settings, access rules, topics, groups, lag, dead letters, clock, "
      + "credentials, librdkafka's known traps; each finding with its mend. Changes nothing. Exits with 1 where there is a "
      + "problem.",
    settings: ClusterSettings.all + [credentials, role, json],
    examples: [
      "nudge doctor --bootstrap-servers kafka:9092",
      "nudge doctor --bootstrap-servers kafka:9092 --fcm-credentials service-account.json --json",
      "nudge doctor --bootstrap-servers kafka:9092 --role analyzer --kafka-property sasl.username=analyzer",
    ]
  ) { input in
    var hasProblem = false
    var failure: (any Error)?
    let examination = Examination(
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
