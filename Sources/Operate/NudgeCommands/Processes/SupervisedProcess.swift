import Foundation

/// A child process that cannot outlive this one, and that Ctrl-C on the terminal does not reach.
///
/// Between the two stands a shell that reads names of signals from a socket and sends them on; when the socket closes,
/// because this process has ended however it did, it sends SIGKILL. (Linux' `PR_SET_PDEATHSIG` would do with less, but it
/// fires when the *thread* that started the child ends, and exists nowhere else.) Foundation starts each child in a
/// process group of its own.
final class SupervisedProcess: Sendable {
  private let process: Process
  private let ended = DispatchSemaphore(value: 0)
  /// Our end of the socket; closed in `deinit`.
  private let control: Int32

  /// Has a Swift program that crashes end its log with a backtrace of the crashed thread.
  static let backtrace =
    "enable=yes,interactive=no,color=no,threads=crashed,registers=none,images=none,output-to=stderr"

  /// Runs a program; what it prints goes to the end of a file.
  init(_ program: URL, _ arguments: [String], environment: [String: String], log: URL) throws(DemoError) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
      throw DemoError("no socket to supervise \(program.lastPathComponent): \(String(cString: strerror(errno)))")
    }
    // Not for other children: the last one to hold our end would keep this one alive.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    control = ends[0]
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", Self.supervisor, "nudge-supervisor", log.path, program.path] + arguments
    process.environment = environment.merging(["SWIFT_BACKTRACE": Self.backtrace]) { theirs, _ in theirs }
    process.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    let ended = ended
    process.terminationHandler = { _ in ended.signal() }
    // A child inherits what the starting thread blocks, and threads of a Dispatch queue block nearly everything: the shell
    // would wait for ever for a SIGCHLD, and the program would never see a SIGTERM.
    var (nothing, blocked) = (sigset_t(), sigset_t())
    sigemptyset(&nothing)
    pthread_sigmask(SIG_SETMASK, &nothing, &blocked)
    defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
    do {
      try process.run()
    } catch {
      close(control)
      throw DemoError("\(program.path) could not be started: \(error.localizedDescription)")
    }
  }

  deinit { close(control) }

  var isRunning: Bool { process.isRunning }

  /// What it has exited with, 128 and the signal's number where a signal ended it; nil while it runs.
  var exitStatus: Int32? { process.isRunning ? nil : process.terminationStatus }

  /// Sends a signal, named without `SIG`.
  func send(_ signal: String) {
    let line = Array("\(signal)\n".utf8)
    // Fails only where the supervisor, and with it the child, is gone already.
    _ = Foundation.send(control, line, line.count, Int32(MSG_NOSIGNAL))
  }

  /// True once it has ended, false if the time is over before.
  func waitForEnd(timeout: Duration) -> Bool {
    let (seconds, attoseconds) = timeout.components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    guard ended.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return false }
    ended.signal()
    return true
  }

  /// Descriptor 3: a background command of a shell has no standard input. The child's end ends the watch, so that no
  /// signal goes to a later process of the same number.
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
