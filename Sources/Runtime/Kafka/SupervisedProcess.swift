package import Foundation

/// A child process that ends with this process. Ctrl-C on the terminal does not reach it.
///
/// A shell stands between the two. It reads names of signals from a socket and forwards them. When the socket closes because this process
/// has ended, the shell sends SIGKILL. Linux's `PR_SET_PDEATHSIG` would not do: it fires when the *thread* that started the child ends.
/// Foundation starts each child in its own process group.
package final class SupervisedProcess: Sendable {
  /// The process could not be started.
  package struct StartFailure: Error, CustomStringConvertible {
    package let description: String
  }

  private let process: Process
  private let ended = DispatchSemaphore(value: 0)
  /// This process's end of the socket, which `deinit` closes.
  private let control: Int32

  /// Makes a crashing Swift program end its log with a backtrace of the crashed thread.
  private static let backtrace =
    "enable=yes,interactive=no,color=no,threads=crashed,registers=none,images=none,output-to=stderr"

  /// Runs a program and appends its output to `log`.
  package init(
    _ program: URL, _ arguments: [String], environment: [String: String], log: URL
  ) throws(StartFailure) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
      throw StartFailure(
        description: "no socket to supervise \(program.lastPathComponent): \(String(cString: strerror(errno)))")
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
      throw StartFailure(description: "\(program.path) could not be started: \(error.localizedDescription)")
    }
  }

  deinit { close(control) }

  /// The exit status, or 128 plus the number of the signal that ended it. Absent while it runs.
  package var exitStatus: Int32? { process.isRunning ? nil : process.terminationStatus }

  /// Sends a signal, named without `SIG`.
  package func send(_ signal: String) {
    let line = Array("\(signal)\n".utf8)
    // The call fails only if the supervisor, and with it the child, has ended.
    _ = Foundation.send(control, line, line.count, Int32(MSG_NOSIGNAL))
  }

  /// Waits for the end. Returns whether it came before the time-out.
  package func waitForEnd(timeout: Duration) -> Bool {
    guard ended.wait(timeout: .now() + .milliseconds(Int(timeout.milliseconds))) == .success else { return false }
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
