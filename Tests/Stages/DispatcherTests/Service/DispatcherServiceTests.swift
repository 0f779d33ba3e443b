@testable import FCMEmulator
import Foundation
import ServiceKit
import StreamRuntime
import TestSupport
import Testing

@testable import Dispatcher

@Suite("The dispatcher process")
struct DispatcherServiceTests {
  private func run(_ arguments: [String], environment: [String: String] = [:]) -> (exitCode: Int32, lines: [String]) {
    var lines: [String] = []
    let exitCode = DispatcherService.assembly.program(sink: LogCapture().sink, signals: false).main(
      ["--bootstrap-servers", "127.0.0.1:1"] + arguments, environment: environment,
      output: { lines.append($0) }, errors: { lines.append($0) })
    return (exitCode, lines)
  }

  @Test("without credentials and a VAPID key it exits with 64 and names the settings; one of the two is enough")
  func noCredentials() {
    let (exitCode, lines) = run([])
    #expect(exitCode == ExitCode.usage)
    #expect(lines.first?.contains("NUDGE_FCM_CREDENTIALS, GOOGLE_APPLICATION_CREDENTIALS") == true)
    #expect(lines.first?.contains("--vapid-key") == true)
    func rules(_ projects: [String]) -> DispatcherRules {
      var rules = DispatcherRules()
      rules.projects = projects
      return rules
    }
    // With the key alone only its file is missing.
    let keyed = run(["--vapid-key", "/nowhere/vapid.pem", "--check"])
    #expect(keyed.lines.joined().contains("/nowhere/vapid.pem") && !keyed.lines.joined().contains("fcm-credentials"))
    #expect(
      !rules([]).allows(project: nil) && rules(["own"]).allows(project: nil) && DispatcherRules().allows(project: nil))
  }

  @Test("credentials come from NUDGE_FCM_CREDENTIALS, or else from GOOGLE_APPLICATION_CREDENTIALS")
  func credentialsFromEnvironment() {
    let google = ["GOOGLE_APPLICATION_CREDENTIALS": "google.json"]
    #expect(run(["--print-config"], environment: google).lines.first?.contains("= google.json  (GOOGLE_") == true)
    let both = google.merging(["NUDGE_FCM_CREDENTIALS": "nudge.json"]) { $1 }
    #expect(run(["--print-config"], environment: both).lines.first?.contains("= nudge.json  (NUDGE_") == true)
  }

  @Test("unreadable credentials end it, and --check, with the name of the file")
  func unreadableCredentials() {
    let started = run(["--fcm-credentials", "/nowhere/account.json"])
    #expect(started.exitCode == ExitCode.software)
    #expect(started.lines.first?.contains("/nowhere/account.json cannot be read") == true)
    let checked = run(["--fcm-credentials", "/nowhere/account.json", "--check"])
    #expect(checked.exitCode == ExitCode.failure)
    #expect(checked.lines == started.lines)
  }

  @Test("a malformed URL and an unreadable CA file are refused")
  func wrongSettings() throws {
    #expect(run(["--fcm-credentials", "x", "--fcm-url", "fcm"]).exitCode == ExitCode.usage)
    let emulator = try FCMEmulator()
    let (exitCode, lines) = run(
      ["--fcm-credentials", emulator.serviceAccountFile, "--fcm-ca-file", "/nowhere/ca.pem"])
    #expect(exitCode == ExitCode.usage)
    #expect(lines.first?.contains("/nowhere/ca.pem") == true)
  }

  @Test("a webhook needs https, a host name and a secret; each fault names its flag and shows no secret")
  func webhookSettings() throws {
    let emulator = try FCMEmulator()
    let folder = try TemporaryDirectory()
    let secret = folder.path + "/secret"
    try Data("whsec_bm90IGVub3VnaA==".utf8).write(to: URL(fileURLWithPath: secret))
    let account = ["--fcm-credentials", emulator.serviceAccountFile]
    for (arguments, part) in [
      (["--escalation-url", "https://pager.example.com"], "--escalation-secret-file"),
      (["--escalation-secret-file", secret], "--escalation-url"),
      (["--escalation-url", "http://pager.example.com", "--escalation-secret-file", secret], "only https"),
      (["--escalation-url", "https://10.0.0.1/", "--escalation-secret-file", secret], "a name is needed"),
      (["--escalation-url", "https://pager.example.com", "--escalation-secret-file", secret], "line 1"),
      (["--escalation-url", "https://pager.example.com", "--escalation-secret-file", "/nowhere"], "/nowhere"),
    ] {
      let (exitCode, lines) = run(account + arguments)
      #expect(exitCode == ExitCode.usage, "\(arguments)")
      #expect(lines.first?.contains(part) == true, "\(lines)")
      #expect(!lines.joined().contains("bm90"))
    }
  }

  @Test("a lost request is repeated only after its time-out; the runtime bounds requests in flight")
  func unanswered() throws {
    let request = try DispatcherService.assembly.schema.parse(
      ["--bootstrap-servers", "127.0.0.1:1", "--fcm-credentials", "x", "--fcm-timeout", "40s", "--fcm-in-flight", "7"],
      environment: [:])
    guard case .run(let values) = request else { throw SettingsError("not a run") }
    let rules = DispatcherSettings.rules(from: values, ownProjects: ["own"])
    #expect(rules.unansweredAfter == 50_000)
    #expect(DispatcherSettings.limits(from: values).maxEffects == 7)
    #expect(rules.maxInFlight > 7, "a backlog stays on its topic rather than in the lanes")
  }

  @Test(
    "there is a thread for each four connections, and as many as configured",
    arguments: [
      ([], 1), (["--fcm-connections", "5"], 2), (["--fcm-connections", "64"], 16), (["--fcm-loops", "3"], 3),
    ])
  func loops(_ arguments: [String], _ expected: Int) throws {
    let request = try DispatcherService.assembly.schema.parse(
      ["--bootstrap-servers", "127.0.0.1:1", "--fcm-credentials", "x"] + arguments, environment: [:])
    guard case .run(let values) = request else { throw SettingsError("not a run") }
    #expect(DispatcherSettings.loopCount(from: values) == expected)
  }
}
