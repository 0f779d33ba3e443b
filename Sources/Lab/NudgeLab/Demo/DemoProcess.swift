import Foundation
import Kafka
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

  /// Replaces the value of a flag among the arguments, from the next start on.
  func give(_ flag: String, _ value: String) {
    guard let place = arguments.firstIndex(of: flag) else {
      preconditionFailure("\(program.rawValue) was started without \(flag)")
    }
    arguments[place + 1] = value
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

  /// The text of an error: how the process ended, and the last lines of its log; after a signal as many as a backtrace has.
  func exitReport(_ status: Int32) -> String {
    let (how, lines) =
      status > 128 ? ("was ended by signal \(status - 128)", 90) : ("ended with status \(status)", 12)
    return "\(program.rawValue) \(how); the end of \(log.path):\n\(GrowingFile.tail(log.path, lines: lines))"
  }
}

/// A program that the demo runs as a process.
enum DemoProgram: String, CaseIterable, Sendable {
  case emulator = "fcm-emulator"
  case ingest = "nudge-ingest"
  case analyzer = "nudge-analyzer"
  case dispatcher = "nudge-dispatcher"

  /// The three services, in the order of the data flow.
  static let services: [DemoProgram] = [.ingest, .analyzer, .dispatcher]

  /// The name on the display.
  var shortName: String {
    switch self {
    case .emulator: "emulator"
    case .ingest: "ingest"
    case .analyzer: "analyzer"
    case .dispatcher: "dispatcher"
    }
  }

  /// Whether a line of output announces readiness.
  func isReadyLine(_ line: String) -> Bool {
    switch self {
    case .emulator: line.contains(#""ready":true"#)
    case .ingest, .analyzer, .dispatcher: line.contains(#""message":"ready""#)
    }
  }

  /// Finds all programs in a directory.
  /// - Throws: `CommandError` with the names of missing programs.
  static func find(in directory: URL) throws(CommandError) -> [DemoProgram: URL] {
    var found: [DemoProgram: URL] = [:]
    for program in allCases {
      let url = directory.appendingPathComponent(program.rawValue)
      if FileManager.default.isExecutableFile(atPath: url.path) { found[program] = url }
    }
    let missing = allCases.filter { found[$0] == nil }.map(\.rawValue)
    guard missing.isEmpty else {
      throw CommandError(
        "\(missing.joined(separator: ", ")) not found in \(directory.path), where nudge itself is: build the whole "
          + "package (swift build), or install all programs in one directory")
    }
    return found
  }

  /// The directory of the running program.
  static func directoryOfThisProgram() -> URL {
    let path =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent()
  }
}
