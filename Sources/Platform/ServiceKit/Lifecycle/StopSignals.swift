import Dispatch
import Glibc

/// SIGTERM, SIGINT, SIGUSR1 and, if wanted, SIGHUP as calls on a queue, while it lives; they come one after the other. SIGPIPE is ignored: a peer that has gone is an
/// error of the write, not the end of the process.
///
/// A handler writes the signal's number to a pipe, and the queue reads it. Dispatch's own signal sources lose a signal that comes before
/// their registration, which is asynchronous, has ended: a service stopped while it starts would go on.
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
  }

  // The handlers stay: who ends the group ends the process, and another signal must not end it halfway.
  deinit { source.cancel() }
}

/// The pipe between the signal handler and the queue: one in a process, never closed, because a handler may run at any moment.
private struct SignalPipe: Sendable {
  static let shared = SignalPipe()

  let reading: Int32

  /// Safe without a lock: written once, within the initialisation of `shared`, before any handler that reads it is installed.
  nonisolated(unsafe) private static var writing: Int32 = -1

  private init() {
    var ends: [Int32] = [-1, -1]
    // Without a pipe, with no descriptor left, signals are ignored and the process has to be killed; its first socket will say so.
    pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    reading = ends[0]
    Self.writing = ends[1]
  }

  /// Does only what a signal handler may do: one write, and errno as it was.
  static let handler: @convention(c) (Int32) -> Void = { number in
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    write(SignalPipe.writing, &byte, 1)
    errno = before
  }
}
