import Foundation
import NudgeCommands

/// A process of the demo. After a kill it restarts with the same name.
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

  /// Gives a flag another value from the next start on.
  func give(_ flag: String, _ value: String) {
    if let place = arguments.firstIndex(of: flag) { arguments[place + 1] = value }
  }

  /// Starts or restarts the process.
  func start() throws {
    // Skips the output of the previous run.
    _ = try isReady()
    readyLine = nil
    process = try SupervisedProcess(executable, arguments, environment: environment, log: log)
  }

  /// Whether it has announced readiness since its last start.
  func isReady() throws -> Bool {
    try output.readLines { line in
      let text = String(decoding: line, as: UTF8.self)
      if program.isReadyLine(text) { readyLine = text }
    }
    return readyLine != nil
  }

  /// The exit status. Absent while the process runs.
  var exitStatus: Int32? { process?.exitStatus }

  /// Sends SIGKILL, and waits for the end.
  func kill() throws(CommandError) {
    send("KILL")
    guard process?.waitForEnd(timeout: .seconds(10)) ?? true else {
      throw CommandError("\(program.rawValue) could not be killed within 10 s")
    }
  }

  func terminate() { send("TERM") }

  /// Sends a signal, named without `SIG`.
  func send(_ signal: String) { process?.send(signal) }

  /// Waits for the end, and returns the exit status. Absent if the process had to be killed.
  func waitForEnd(timeout: Duration) -> Int32? {
    guard let process else { return 0 }
    if process.waitForEnd(timeout: timeout) { return process.exitStatus }
    process.send("KILL")
    _ = process.waitForEnd(timeout: .seconds(10))
    return nil
  }

  /// How the process ended, with the last lines of its log.
  func obituary(_ status: Int32) -> String {
    let how = status > 128 ? "was ended by signal \(status - 128)" : "ended with status \(status)"
    return "\(program.rawValue) \(how); the end of \(log.path):\n\(GrowingFile.tail(log.path, lines: 12))"
  }
}
