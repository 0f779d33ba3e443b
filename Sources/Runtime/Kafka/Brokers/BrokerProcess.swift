import Foundation
import Synchronization

#if os(Linux)
  let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
  let streamSocket = SOCK_STREAM
#endif

/// A child process that cannot outlive this one.
///
/// A shell between the two reads signal names from a socket and forwards them. When the socket closes, because this process has ended in any
/// way, it sends SIGKILL. (Linux' `PR_SET_PDEATHSIG` is simpler but fires when the *thread* that started the child ends, and exists only
/// there.)
final class BrokerProcess: Sendable {
  private let process: Process
  private let ended = DispatchSemaphore(value: 0)
  /// Our end of the socket; closed in `deinit`.
  private let control: Int32

  /// Runs a program and appends its output to a file.
  init(_ program: String, _ arguments: [String], environment: [String: String], log: URL) throws(LocalBroker.Failure) {
    var ends: [Int32] = [-1, -1]
    // Not inherited by other children: any of them would keep the broker alive.
    guard socketpair(AF_UNIX, streamSocket, 0, &ends) == 0 else {
      throw LocalBroker.Failure(
        description: "no socket for the broker's supervisor: \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    control = ends[0]
    let input = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", Self.supervisor, "broker-supervisor", log.path, program] + arguments
    process.environment = environment
    process.standardInput = input
    let ended = ended
    process.terminationHandler = { _ in ended.signal() }
    // A child inherits the signal mask of its thread, and Dispatch's threads block all signals: the shell would not notice the
    // broker's end, and the broker would not receive SIGTERM.
    var none = sigset_t()
    var before = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    do {
      try process.run()
    } catch {
      close(control)
      throw LocalBroker.Failure(description: "\(program) could not be started: \(error)")
    }
  }

  deinit { close(control) }

  var isRunning: Bool { process.isRunning }

  /// The program's exit status, once it has ended.
  var status: Int32 { process.terminationStatus }

  /// Sends a signal, named without `SIG`.
  func send(_ signal: String) {
    let line = Array("\(signal)\n".utf8)
    #if os(Linux)
      let flags = Int32(MSG_NOSIGNAL)
    #else
      let flags: Int32 = 0
    #endif
    // Fails only if the supervisor, and with it the broker, has ended.
    _ = Foundation.send(control, line, line.count, flags)
  }

  /// True once the process has ended, false after the time-out.
  func waitForEnd(timeout: Duration) -> Bool {
    guard ended.wait(timeout: .now() + .milliseconds(Int(timeout.milliseconds))) == .success else { return false }
    ended.signal()
    return true
  }

  /// Uses descriptor 3: a shell's background command has no standard input. The watch ends with the broker, so that no signal
  /// reaches a later process with the same id.
  private static let supervisor = """
    log=$1; shift
    exec 3<&0 >>"$log" 2>&1
    "$@" </dev/null 3<&- & broker=$!
    (while read -r signal <&3; do kill -"$signal" $broker; done; kill -KILL $broker) & watch=$!
    wait $broker; status=$?
    kill -KILL $watch
    exit $status
    """
}
