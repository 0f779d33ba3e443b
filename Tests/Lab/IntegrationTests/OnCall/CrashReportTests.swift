import Foundation
import Kafka
import TestSupport
import Testing

@testable import NudgeLab

/// No broker is needed: a service that waits for one crashes as well as any.
@Suite("A service that crashes or is stopped")
struct CrashReportTests {
  @Test(
    "a service finds its arguments though a library that is loaded before it moved the environment",
    .enabled(if: ChaosClock.library != nil, "apt-get install libfaketime"))
  func movedEnvironment() throws {
    let directory = try TemporaryDirectory()
    let executable = try #require(DemoProgram.find(in: DemoProgram.directoryOfThisProgram())[.ingest])
    let clock = try #require(try ChaosClock(URL(fileURLWithPath: directory.path + "/clock")))
    let log = URL(fileURLWithPath: directory.path + "/ingest.log")
    let moved = clock.environment.merging(["FAKETIME_NO_CACHE": "1"]) { $1 }
    let process = try SupervisedProcess(
      executable, ["--version"], environment: Pipeline.environment.merging(moved) { $1 }, log: log)
    #expect(process.waitForEnd(timeout: .seconds(30)) && process.exitStatus == 0)
    let text = try String(contentsOf: log, encoding: .utf8)
    #expect(text.hasPrefix("nudge-ingest "), "\(text)")
  }

  @Test("O3: its log ends with a backtrace, and the next process counts an unclean start; a stop is not counted")
  func crash() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-crash-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let executable = try #require(DemoProgram.find(in: DemoProgram.directoryOfThisProgram())[.ingest])
    let log = directory.appendingPathComponent("ingest.log")

    /// Starts the service, waits until it looks for its broker, ends it by a signal, and returns its status and its part of the log.
    func run(endingBy signal: String) throws -> (status: Int32?, log: String) {
      let before = (try? Data(contentsOf: log).count) ?? 0
      func text() -> String {
        String(decoding: ((try? Data(contentsOf: log)) ?? Data()).dropFirst(before), as: UTF8.self)
      }
      let process = try SupervisedProcess(
        executable,
        [
          "--bootstrap-servers", "127.0.0.1:1", "--state-dir", directory.path, "--admin-address", "127.0.0.1:0",
          "--instance", "crash",
        ], environment: Pipeline.environment, log: log)
      try waitUntil("the service looks for its broker", atMost: 30, state: text) { text().contains("no broker") }
      process.send(signal)
      if signal == "SEGV" {
        try waitUntil("the backtrace is written", atMost: 60, state: text) { text().contains("Backtrace took") }
        // A real fault happens again when the handler returns, and ends the process. A signal from outside does not, and a second one
        // may arrive while the handler holds the threads: only SIGKILL ends the process for certain.
        process.send("KILL")
      }
      try waitUntil("the service ends", atMost: 30, state: text) { process.exitStatus != nil }
      return (process.exitStatus, text())
    }
    let unclean = "the process before this one did not stop"

    let crashed = try run(endingBy: "SEGV")
    #expect(crashed.status != 0)
    #expect(!crashed.log.contains(unclean))
    let lines = crashed.log.split(separator: "\n")
    let crash = try #require(lines.firstIndex { $0.contains("Program crashed") }, "\(crashed.log.suffix(2_000))")
    // Nothing but the backtrace follows, and it has frames.
    #expect(!lines[crash...].contains { $0.hasPrefix("{") })
    #expect(lines[crash...].contains { $0.contains(" in ") && $0.contains("0x") }, "\(lines[crash...])")

    let next = try run(endingBy: "TERM")
    #expect(next.status == 0, "\(next.log.suffix(2_000))")
    #expect(next.log.contains(unclean))
    #expect(next.log.contains(#""uncleanStarts":1"#))

    let last = try run(endingBy: "TERM")
    #expect(last.status == 0)
    #expect(!last.log.contains(unclean))
  }

  @Test("A service whose parent blocks all signals stops on SIGTERM all the same")
  func blockedSignals() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-blocked-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let log = directory.appendingPathComponent("ingest.log")
    try Data().write(to: log)
    let process = Process()
    process.executableURL = try DemoProgram.find(in: DemoProgram.directoryOfThisProgram())[.ingest]
    process.arguments = [
      "--bootstrap-servers", "127.0.0.1:1", "--state-dir", directory.path, "--admin-address", "127.0.0.1:0",
      "--instance", "blocked",
    ]
    process.environment = Pipeline.environment
    process.standardError = try FileHandle(forWritingTo: log)
    process.standardOutput = process.standardError
    var (everything, before) = (sigset_t(), sigset_t())
    sigfillset(&everything)
    pthread_sigmask(SIG_SETMASK, &everything, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try process.run()
    defer { kill(process.processIdentifier, SIGKILL) }
    func text() -> String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
    try waitUntil("the service looks for its broker", atMost: 30, state: text) { text().contains("no broker") }
    process.terminate()
    try waitUntil("the service stops", atMost: 30, state: text) { !process.isRunning }
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0, "\(text().suffix(2_000))")
  }
}
