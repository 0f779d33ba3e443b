internal import Foundation
public import ServiceKit

/// The program `fcm-emulator`.
public enum EmulatorProgram {
  /// Serves until SIGTERM or SIGINT. Prints a `ReadyLine` once it serves, and its counters as JSON when it stops.
  public static let program = ServiceProgram(
    EmulatorSettings.schema, check: { _ = try EmulatorSettings.configuration($0) },
    run: { try run(EmulatorSettings.configuration($0)) })

  private static func run(_ configuration: FCMEmulatorConfiguration) throws -> Int32 {
    // Threads inherit the mask. It is set before the emulator starts any, so only `sigwait` takes these signals.
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

  /// Writes a line to standard output without buffering, because the parent process waits for it.
  private static func write(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  /// One line of JSON with the addresses and files that a client needs.
  private struct ReadyLine: Encodable {
    var ready = true
    let url: String
    let plainUrl: String?
    let serviceAccount: String
    let caFile: String
    let adminUrl: String?
    let appKeys: AppKeys?
  }

  /// The values of `nudge-ingest`'s `--jwt-keys-file`, `--jwt-issuer` and `--jwt-audience` for the tokens of the emulated apps.
  private struct AppKeys: Encodable {
    let file: String
    var issuer = FCMEmulator.appIssuer
    var audience = FCMEmulator.appAudience
  }
}
