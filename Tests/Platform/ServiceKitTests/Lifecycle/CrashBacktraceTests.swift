import Foundation
import TestSupport
import Testing

@testable import ServiceKit

@Suite("Backtrace of a crash")
struct CrashBacktraceTests {
  @Test(
    "a service that dies by a signal leaves the frames of its thread on standard error, and no secret",
    .enabled(if: BuiltService.path != nil, BuiltService.missing),
    .timeLimit(.minutes(2)))
  func crash() throws {
    let program = try #require(BuiltService.path)
    let directory = try TemporaryDirectory()
    let path = directory.path + "/errors"
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    let secret = "secret-password-of-the-service"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = [
      "--bootstrap-servers", "127.0.0.1:1", "--admin-address", "127.0.0.1:0", "--state-dir", directory.path + "/state",
    ]
    process.environment = [
      "PATH": "/usr/bin:/bin",
      "NUDGE_KAFKA_SECURITY_PROTOCOL": "sasl_plaintext", "NUDGE_KAFKA_SASL_MECHANISM": "PLAIN",
      "NUDGE_KAFKA_SASL_USERNAME": "u", "NUDGE_KAFKA_SASL_PASSWORD": secret,
    ]
    let output = try #require(FileHandle(forWritingAtPath: path))
    process.standardOutput = output
    process.standardError = output
    try process.run()
    func text() -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
    wait(for: "the service to log", atMost: 30) { text().contains("\n") }
    // The runtime's handler returns to the instruction that failed, which fails again and ends the process. A signal that was sent has
    // no such instruction, so the process would continue.
    kill(process.processIdentifier, SIGSEGV)
    wait(for: "the backtrace", atMost: 60) { text().contains("Backtrace took") }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let lines = text().split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("*** Program crashed: ") || $0.hasPrefix("*** Signal 11") }, "\(text())")
    // A frame: its number, its address, its function.
    #expect(lines.contains { $0.contains(" in ") && $0.contains("0x") && $0.contains(" 0 ") }, "\(text())")
    #expect(!text().contains(secret))
    #expect(!text().contains("rax"))
  }

  @Test("the helper is looked for beside the program, then in the toolchain of the runtime library")
  func helpers() {
    #expect(
      CrashBacktrace.helpers(
        besideProgram: "/usr/local/bin/nudge-ingest", runtime: "/opt/swift/usr/lib/swift/linux/libswiftCore.so") == [
          "/usr/local/libexec/swift/linux/swift-backtrace-static", "/opt/swift/usr/libexec/swift/linux/swift-backtrace",
        ])
    #expect(
      CrashBacktrace.helpers(besideProgram: "/p/bin/x", runtime: nil) == [
        "/p/libexec/swift/linux/swift-backtrace-static"
      ])
  }
}
