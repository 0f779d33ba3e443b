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

  /// The text of an error: how the process ended, and the last lines of its log.
  func exitReport(_ status: Int32) -> String {
    let how = status > 128 ? "was ended by signal \(status - 128)" : "ended with status \(status)"
    return "\(program.rawValue) \(how); the end of \(log.path):\n\(GrowingFile.tail(log.path, lines: 12))"
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

/// A child process that ends with this process. Ctrl-C on the terminal does not reach it.
///
/// A shell stands between the two. It reads names of signals from a socket and forwards them. When the socket closes because this process
/// has ended, the shell sends SIGKILL. Linux's `PR_SET_PDEATHSIG` would not do: it fires when the *thread* that started the child ends, and
/// other systems lack it. Foundation starts each child in its own process group.
final class SupervisedProcess: Sendable {
  private let process: Process
  private let ended = DispatchSemaphore(value: 0)
  /// This process's end of the socket, which `deinit` closes.
  private let control: Int32

  /// Makes a crashing Swift program end its log with a backtrace of the crashed thread.
  static let backtrace =
    "enable=yes,interactive=no,color=no,threads=crashed,registers=none,images=none,output-to=stderr"

  /// Runs a program and appends its output to `log`.
  init(_ program: URL, _ arguments: [String], environment: [String: String], log: URL) throws(CommandError) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
      throw CommandError("no socket to supervise \(program.lastPathComponent): \(String(cString: strerror(errno)))")
    }
    // Other children do not inherit the ends: a child that held this end would keep the process alive.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    control = ends[0]
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", Self.supervisor, "nudge-supervisor", log.path, program.path] + arguments
    process.environment = environment.merging(["SWIFT_BACKTRACE": Self.backtrace]) { theirs, _ in theirs }
    process.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    let ended = ended
    process.terminationHandler = { _ in ended.signal() }
    // A child inherits the signal mask of the thread that starts it, and Dispatch threads block nearly all signals: the
    // shell would never see SIGCHLD, and the program never SIGTERM.
    var (nothing, blocked) = (sigset_t(), sigset_t())
    sigemptyset(&nothing)
    pthread_sigmask(SIG_SETMASK, &nothing, &blocked)
    defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
    do {
      try process.run()
    } catch {
      close(control)
      throw CommandError("\(program.path) could not be started: \(error.localizedDescription)")
    }
  }

  deinit { close(control) }

  /// The exit status, or 128 plus the number of the signal that ended it. Absent while it runs.
  var exitStatus: Int32? { process.isRunning ? nil : process.terminationStatus }

  /// Sends a signal, named without `SIG`.
  func send(_ signal: String) {
    let line = Array("\(signal)\n".utf8)
    // The call fails only if the supervisor, and with it the child, has ended.
    _ = Foundation.send(control, line, line.count, Int32(MSG_NOSIGNAL))
  }

  /// Waits for the end. Returns whether it came before the time-out.
  func waitForEnd(timeout: Duration) -> Bool {
    let (seconds, attoseconds) = timeout.components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    guard ended.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return false }
    ended.signal()
    return true
  }

  /// Reads descriptor 3, because a background command of a shell has no standard input. The end of the child ends the loop, so that a later
  /// process with the same id gets no signal.
  private static let supervisor = """
    log=$1; shift
    exec 3<&0 >>"$log" 2>&1
    "$@" </dev/null 3<&- & child=$!
    (while read -r signal <&3; do kill -"$signal" $child; done; kill -KILL $child) & watch=$!
    wait $child; status=$?
    kill -KILL $watch
    exit $status
    """
}
