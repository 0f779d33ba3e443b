import Dispatch
import Glibc
import Synchronization

/// Counts SIGINT, SIGTERM and other signals it is told while it lives, in place of their ending the process.
final class Interrupts: Sendable {
  private final class Count: Sendable {
    let value = Atomic<Int>(0)
  }

  private let seen = Count()
  /// Only kept alive; they are set up before anybody else can see them.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  private let signals: [Int32]

  /// Begins to count SIGINT and SIGTERM, and others.
  init(and others: [Int32] = []) {
    signals = [SIGINT, SIGTERM] + others

    // A closed pipe is an error of the write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let queue = DispatchQueue(label: "nudge.demo.signals")
    let seen = seen
    sources = signals.map { number in
      // Ignored first: the default action would end the process before the queue hears of it.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { seen.value.add(1, ordering: .relaxed) }
      source.resume()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for number in signals { signal(number, SIG_DFL) }
  }

  /// How many came.
  var count: Int { seen.value.load(ordering: .relaxed) }
}
