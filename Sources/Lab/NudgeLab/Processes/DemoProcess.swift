import Foundation
import NudgeCommands

/// A process of the demo. It may be killed and started again, with the same arguments and log.
final class DemoProcess {
  let program: DemoProgram
  /// The file of standard output and standard error, which restarts append to.
  let log: URL
  private let executable: URL
  private var arguments: [String]
  private let environment: [String: String]
  private var process: SupervisedProcess?
  private var output: GrowingFile
  /// The line that announced readiness. Absent until then.
  private(set) var readyLine: String?

  init(
    _ program: DemoProgram, executable: URL, arguments: [String], environment: [String: String], directory: URL
  ) {
    self.program = program
    self.executable = executable
    self.arguments = arguments
    self.environment = environment
    log = directory.appendingPathComponent("\(program.rawValue).log")
    output = GrowingFile(path: log.path)
  }

  /// Replaces the value of a flag among the arguments, from the next start on. Does nothing if they lack the flag.
  func give(_ flag: String, _ value: String) {
    if let place = arguments.firstIndex(of: flag) { arguments[place + 1] = value }
  }

  /// Starts or restarts the process.
  func start() throws {
    // Reads to the end of the previous run's output, whose ready line would count for this run.
    _ = try isReady()
    readyLine = nil
    process = try SupervisedProcess(executable, arguments, environment: environment, log: log)
  }

  /// Whether the process has announced readiness since its last start.
  func isReady() throws -> Bool {
    try output.readLines { line in
      let text = String(decoding: line, as: UTF8.self)
      if program.isReadyLine(text) { readyLine = text }
    }
    return readyLine != nil
  }

  /// The exit status. Absent while the process runs.
  var exitStatus: Int32? { process?.exitStatus }

  /// Sends SIGKILL, and waits for the process to end.
  func kill() throws(CommandError) {
    send("KILL")
    guard process?.waitForEnd(timeout: .seconds(10)) ?? true else {
      throw CommandError("\(program.rawValue) could not be killed within 10 s")
    }
  }

  func terminate() { send("TERM") }

  /// Sends a signal, named without `SIG`.
  func send(_ signal: String) { process?.send(signal) }

  /// Waits for the process to end, and returns its exit status: 0 if it was never started, nil if it had to be killed after `timeout`.
  func waitForEnd(timeout: Duration) -> Int32? {
    guard let process else { return 0 }
    if process.waitForEnd(timeout: timeout) { return process.exitStatus }
    process.send("KILL")
    _ = process.waitForEnd(timeout: .seconds(10))
    return nil
  }

  /// The text of an error: how the process ended, and the last lines of its log.
  func obituary(_ status: Int32) -> String {
    let how = status > 128 ? "was ended by signal \(status - 128)" : "ended with status \(status)"
    return "\(program.rawValue) \(how); the end of \(log.path):\n\(GrowingFile.tail(log.path, lines: 12))"
  }
}
