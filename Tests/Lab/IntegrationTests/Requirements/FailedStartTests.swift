@testable import FCMEmulator
import Foundation
import ServiceKit
import Testing

@testable import NudgeLab

@Suite("A service that cannot start")
struct FailedStartTests {
  @Test("ends with 70 and the reason, also while its connections to FCM are still being made")
  func status() throws {
    let emulator = try FCMEmulator()
    defer { emulator.stop() }
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-start-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    // A file stands at the path of the lock's folder.
    let state = directory.appendingPathComponent("state")
    try Data().write(to: state)
    let dispatcher = try #require(DemoProgram.find(in: DemoProgram.directoryOfThisProgram())[.dispatcher])
    // The process once crashed in 2 of 48 starts: OpenSSL was unloaded before the thread that used it ended.
    for _ in 0..<30 {
      let (status, output) = try RealKafka.run(
        dispatcher,
        [
          "--bootstrap-servers", "127.0.0.1:1", "--state-dir", state.path, "--admin-address", "127.0.0.1:0",
          "--fcm-url", emulator.url, "--fcm-credentials", emulator.serviceAccountFile, "--fcm-ca-file", emulator.caFile,
        ])
      #expect(status == ExitCode.software, "\(output.suffix(2_000))")
      #expect(output.contains("cannot start"))
    }
  }
}
