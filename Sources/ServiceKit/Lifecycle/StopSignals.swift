import Dispatch
import Glibc

/// SIGTERM and SIGINT as calls on a queue, while it lives. SIGPIPE is ignored: a peer that has gone is an error of the write, not the end of the process.
final class StopSignals {
  private let sources: [any DispatchSourceSignal]

  init(_ onSignal: @escaping @Sendable (_ number: Int32) -> Void) {
    signal(SIGPIPE, SIG_IGN)
    let queue = DispatchQueue(label: "nudge.signals")
    sources = [SIGTERM, SIGINT].map { number in
      // Ignored first: the default action would end the process before the queue hears of it.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { onSignal(number) }
      source.resume()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
  }
}
