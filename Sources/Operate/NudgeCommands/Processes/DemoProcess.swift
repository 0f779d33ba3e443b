import Foundation

/// One of the demo's processes, started again under the same name where it was killed on purpose.
final class DemoProcess {
  /// What is run.
  let program: DemoProgram
  /// Where its output goes, over restarts.
  let log: URL
  private let executable: URL
  private let arguments: [String]
  private let environment: [String: String]
  private var process: SupervisedProcess?
  private var output: GrowingFile
  /// The line that said it is ready; nil while it is not.
  private(set) var readyLine: String?

  /// A process that does not run yet.
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

  /// Starts it, for the first time or again.
  func start() throws {
    // What a former life said last must not be taken for this one's word.
    _ = try isReady()
    readyLine = nil
    process = try SupervisedProcess(executable, arguments, environment: environment, log: log)
  }

  /// Whether it has said that it is ready since it was started last.
  func isReady() throws -> Bool {
    try output.readLines { line in
      let text = String(decoding: line, as: UTF8.self)
      if program.isReadyLine(text) { readyLine = text }
    }
    return readyLine != nil
  }

  /// What it has exited with; nil while it runs.
  var exitStatus: Int32? { process?.exitStatus }

  /// Kills it as a crash would, and waits for its end.
  func kill() throws(DemoError) {
    send("KILL")
    guard process?.waitForEnd(timeout: .seconds(10)) ?? true else {
      throw DemoError("\(program.rawValue) could not be killed within 10 s")
    }
  }

  /// Asks it to end (SIGTERM).
  func terminate() { send("TERM") }

  /// Sends a signal, named without `SIG`.
  func send(_ signal: String) { process?.send(signal) }

  /// What it has exited with, at most so much later; nil where it did not end, and was killed.
  func waitForEnd(timeout: Duration) -> Int32? {
    guard let process else { return 0 }
    if process.waitForEnd(timeout: timeout) { return process.exitStatus }
    process.send("KILL")
    _ = process.waitForEnd(timeout: .seconds(10))
    return nil
  }

  /// Why it ended, with the end of its log, for a message.
  func obituary(_ status: Int32) -> String {
    let how = status > 128 ? "was ended by signal \(status - 128)" : "ended with status \(status)"
    return "\(program.rawValue) \(how); the end of \(log.path):\n\(GrowingFile.tail(log.path, lines: 12))"
  }
}
