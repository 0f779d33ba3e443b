import Dispatch
import Glibc

/// Delivers SIGTERM, SIGINT, SIGUSR1 and, on request, SIGHUP one after the other as calls on a queue. Ignores SIGPIPE, so that writing to
/// a closed connection is an error and does not end the process.
///
/// A handler writes the signal's number to a pipe, and the queue reads it. Dispatch's own signal sources register asynchronously and lose
/// signals that arrive earlier: a service that is stopped while it starts would not stop.
final class StopSignals {
  private let source: any DispatchSourceRead

  init(withHangup: Bool = false, _ onSignal: @escaping @Sendable (_ number: Int32) -> Void) {
    let reading = SignalPipe.shared.reading
    source = DispatchSource.makeReadSource(fileDescriptor: reading, queue: DispatchQueue(label: "nudge.signals"))
    source.setEventHandler {
      var number: UInt8 = 0
      while read(reading, &number, 1) == 1 { onSignal(Int32(number)) }
    }
    source.resume()
    signal(SIGPIPE, SIG_IGN)
    signal(SIGTERM, SignalPipe.handler)
    signal(SIGINT, SignalPipe.handler)
    signal(SIGUSR1, SignalPipe.handler)
    if withHangup { signal(SIGHUP, SignalPipe.handler) }
    unblock([SIGTERM, SIGINT, SIGUSR1, SIGHUP])
  }

  /// A process inherits the signal mask of the thread that started it, and a parent may block them all, as Dispatch's threads do: only
  /// SIGKILL would end the service.
  private func unblock(_ numbers: [Int32]) {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers { sigaddset(&signals, number) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  // The handlers stay installed: the process is about to end, and another signal must not end it halfway.
  deinit { source.cancel() }
}

/// The pipe between signal handler and queue. A process has one and never closes it, because a handler may run at any moment.
private struct SignalPipe: Sendable {
  static let shared = SignalPipe()

  let reading: Int32

  /// Safe without a lock: written once, within the initialisation of `shared`, before any handler that reads it is installed.
  nonisolated(unsafe) private static var writing: Int32 = -1

  private init() {
    var ends: [Int32] = [-1, -1]
    // Without a free descriptor there is no pipe, and signals are ignored. The process's first socket then fails with the reason.
    pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    reading = ends[0]
    Self.writing = ends[1]
  }

  /// Only async-signal-safe work: one write; errno is restored.
  static let handler: @convention(c) (Int32) -> Void = { number in
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    write(SignalPipe.writing, &byte, 1)
    errno = before
  }
}
