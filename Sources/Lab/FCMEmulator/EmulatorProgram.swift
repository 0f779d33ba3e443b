internal import Foundation
public import ServiceKit

/// The program `fcm-emulator`: settings in, exit code out.
public enum EmulatorProgram {
  /// Serves until SIGTERM or SIGINT. Prints its addresses at the start and its totals at the end.
  public static let program = ServiceProgram(
    EmulatorSettings.schema, check: { _ = try EmulatorSettings.configuration($0) },
    run: { try run(EmulatorSettings.configuration($0)) })

  private static func run(_ configuration: FCMEmulatorConfiguration) throws -> Int32 {
    // Blocked before other threads start, so that only `sigwait` receives them.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let emulator = try FCMEmulator(configuration)
    emulator.start()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    let ready = ReadyLine(
      url: emulator.url, plainUrl: emulator.plainURL, serviceAccount: emulator.serviceAccountFile,
      caFile: emulator.caFile, adminUrl: emulator.adminURL,
      appKeys: emulator.appKeysFile.map { AppKeys(file: $0) })
    write(String(decoding: try encoder.encode(ready), as: UTF8.self))
    var signal: Int32 = 0
    sigwait(&signals, &signal)
    emulator.stop()
    write(emulator.counters.json)
    return ExitCode.success
  }

  /// Writes a line without buffering: the parent process may wait for it.
  private static func write(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  private struct ReadyLine: Encodable {
    var ready = true
    let url: String
    let plainUrl: String?
    let serviceAccount: String
    let caFile: String
    let adminUrl: String?
    let appKeys: AppKeys?
  }

  /// The settings with which an ingest accepts the apps' tokens.
  private struct AppKeys: Encodable {
    let file: String
    var issuer = FCMEmulator.appIssuer
    var audience = FCMEmulator.appAudience
  }
}
