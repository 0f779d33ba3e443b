import Foundation
import Kafka
import Testing

@testable import NudgeCommands
@testable import NudgeLab

@Suite("The demo's processes")
struct SupervisedProcessTests {
  private static let shell = URL(fileURLWithPath: "/bin/sh")

  private func withLog(_ body: (URL) throws -> Void) throws {
    let log = FileManager.default.temporaryDirectory.appendingPathComponent("process-\(UUID().uuidString).log")
    defer { try? FileManager.default.removeItem(at: log) }
    try body(log)
  }

  /// The first line that a process writes.
  private func firstLine(of log: URL) throws -> String? {
    var file = GrowingFile(path: log.path)
    let deadline = ContinuousClock.now + .seconds(20)
    var line: String?
    while line == nil, ContinuousClock.now < deadline {
      try file.readLines { line = line ?? String(decoding: $0, as: UTF8.self) }
      usleep(5_000)
    }
    return line
  }

  @Test("a process gets another value of a flag with its next start: an API that was killed comes back where it was")
  func givenValue() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("process-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = DemoProcess(
      .ingest, executable: URL(fileURLWithPath: "/bin/echo"),
      arguments: ["--http-address", "127.0.0.1:0", "--api-keys-file", "keys"], environment: [:], directory: folder)
    try process.start()
    #expect(process.waitForEnd(timeout: .seconds(20)) == 0)
    process.give("--http-address", "127.0.0.1:4711")
    try process.start()
    #expect(process.waitForEnd(timeout: .seconds(20)) == 0)
    #expect(
      try String(contentsOf: process.log, encoding: .utf8).split(separator: "\n") == [
        "--http-address 127.0.0.1:0 --api-keys-file keys", "--http-address 127.0.0.1:4711 --api-keys-file keys",
      ])
  }

  @Test("write to their log, and their exit status is known")
  func output() throws {
    try withLog { log in
      let process = try SupervisedProcess(
        Self.shell, ["-c", "echo $GREETING; echo oh >&2; exit 7"], environment: ["GREETING": "hello"], log: log)
      #expect(process.waitForEnd(timeout: .seconds(20)))
      #expect(process.exitStatus == 7)
      #expect(GrowingFile.tail(log.path, lines: 5) == "hello\noh")
    }
  }

  @Test("get signals by name, even if the thread that starts them blocks all signals")
  func signals() throws {
    var (everything, before) = (sigset_t(), sigset_t())
    sigfillset(&everything)
    pthread_sigmask(SIG_SETMASK, &everything, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try withLog { log in
      let process = try SupervisedProcess(
        Self.shell, ["-c", "trap 'exit 3' TERM; echo up; while :; do sleep 0.02; done"], environment: [:], log: log)
      #expect(try firstLine(of: log) == "up")
      #expect(process.exitStatus == nil)
      process.send("TERM")
      #expect(process.waitForEnd(timeout: .seconds(20)))
      #expect(process.exitStatus == 3)
    }
  }

  @Test("end when the last reference to them ends")
  func orphan() throws {
    try withLog { log in
      var process: SupervisedProcess? = try SupervisedProcess(
        Self.shell, ["-c", "echo $$; exec sleep 600"], environment: ["PATH": "/bin:/usr/bin"], log: log)
      let pid = try #require(try firstLine(of: log).flatMap { Int32($0) })
      #expect(kill(pid, 0) == 0)
      #expect(process?.exitStatus == nil)
      process = nil
      let deadline = ContinuousClock.now + .seconds(20)
      while kill(pid, 0) == 0, ContinuousClock.now < deadline { usleep(5_000) }
      #expect(kill(pid, 0) != 0)
    }
  }

  @Test("that are missing are named with the directory and the fix")
  func missing() {
    do throws(CommandError) {
      _ = try DemoProgram.find(in: URL(fileURLWithPath: "/nowhere"))
      Issue.record("found")
    } catch {
      #expect(error.description.contains("nudge-dispatcher") && error.description.contains("swift build"))
    }
  }

  @Test("that end have the end of their log in the error")
  func exitReport() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let process = DemoProcess(
      .analyzer, executable: Self.shell, arguments: ["-c", "echo no topics here; exit 70"], environment: [:],
      directory: directory)
    try process.start()
    let status = try #require(process.waitForEnd(timeout: .seconds(20)))
    let text = process.exitReport(status)
    #expect(text.contains("nudge-analyzer ended with status 70"))
    #expect(text.hasSuffix("no topics here"))
  }
}
