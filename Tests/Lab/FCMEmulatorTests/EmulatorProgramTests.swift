import Foundation
import ServiceKit
import TestSupport
import Testing

@testable import FCMEmulator

@Suite("The program fcm-emulator")
struct EmulatorProgramTests {
  private func run(_ arguments: [String], environment: [String: String] = [:]) -> (exitCode: Int32, lines: [String]) {
    var lines: [String] = []
    let exitCode = EmulatorProgram.program.main(
      arguments, environment: environment, output: { lines.append($0) }, errors: { lines.append($0) })
    return (exitCode, lines)
  }

  private func configuration(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> FCMEmulatorConfiguration {
    guard case .run(let values) = try EmulatorSettings.schema.parse(arguments, environment: environment) else {
      throw SettingsError("nothing to run")
    }
    return try EmulatorSettings.configuration(values)
  }

  @Test("a wrong flag or value ends it with 64, and the line says what is allowed")
  func wrong() {
    for (arguments, part) in [
      (["--lisen", "127.0.0.1:1"], "did you mean --listen?"), (["--listen", "here"], "use an address and a port"),
      (["--delay", "soon"], "use a duration"), (["--stream-limit", "0"], "use a value from 1 to 10000"),
      (["--faults", "/nowhere/faults.json"], "--faults /nowhere/faults.json"), (["extra"], "unexpected argument"),
    ] {
      let (exitCode, lines) = run(arguments + ["--check"])
      #expect(exitCode == ExitCode.usage, "\(arguments)")
      #expect(lines.joined().contains(part), "\(lines)")
    }
  }

  @Test("flags win over FCM_EMULATOR_…; variables of the services do not reach it; projects and keys may be repeated")
  func values() throws {
    let environment = [
      "FCM_EMULATOR_DELAY": "2s", "FCM_EMULATOR_LISTEN": "127.0.0.1:8443", "NUDGE_ADMIN_ADDRESS": "127.0.0.1:9090",
    ]
    let some = try configuration(
      ["--delay", "50ms", "--project", "a", "--project", "b,c", "--vapid-key", "k1", "--vapid-key", "k2"],
      environment: environment)
    #expect(some.delay == .milliseconds(50) && some.listen.port == 8443 && some.adminAddress == nil)
    #expect(some.projects == ["a", "b", "c"] && some.vapidKeys == ["k1", "k2"])
    let none = try configuration([])
    #expect(none.projects == ["nudge-demo"] && none.plainListen == FCMEmulatorAddress() && none.directory == nil)
    #expect(none.delay == .zero && none.maxConcurrentStreams == 100 && none.vapidKeys.isEmpty && !none.acceptAnyToken)
  }

  @Test("faults come from a file, with their seed")
  func faults() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString).json")
    try Data(#"{"seed": 7, "faults": [{"ratio": 0.2, "answer": "UNAVAILABLE"}]}"#.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let it = try configuration(["--faults", file.path])
    #expect(it.seed == 7 && it.faults.count == 1)
    let (exitCode, lines) = run(["--faults", file.path, "--check"])
    #expect(exitCode == ExitCode.success && lines == ["fcm-emulator: the settings are good"])
  }

  @Test("the help has every flag, the endpoints and the names of answers")
  func help() {
    // Lines are wrapped.
    let text = run(["--help"]).lines.joined().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for part in [
      "--listen HOST:PORT", "--[no-]count-tokens", "env: FCM_EMULATOR_RECORD", "POST /wpush/ID", "UNREGISTERED",
    ] {
      #expect(text.contains(part), "\(part)")
    }
  }
}
