import Dispatch
import Glibc
import Synchronization

/// Counts SIGINT, SIGTERM and further signals while it lives, instead of letting them end the process.
package final class Interrupts: Sendable {
  private final class Count: Sendable {
    let value = Atomic<Int>(0)
    let signals = DispatchSemaphore(value: 0)
  }

  private let seen = Count()
  /// Only kept alive; they are set up before another thread can see them.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  private let signals: [Int32]

  /// Starts counting SIGINT, SIGTERM and `others`.
  package init(and others: [Int32] = []) {
    signals = [SIGINT, SIGTERM] + others

    // A closed pipe then fails the write instead of ending the process.
    signal(SIGPIPE, SIG_IGN)
    let queue = DispatchQueue(label: "nudge.interrupts")
    let seen = seen
    sources = signals.map { number in
      // Ignored first: the default action would end the process before the queue gets the signal.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        seen.value.add(1, ordering: .relaxed)
        seen.signals.signal()
      }
      source.resume()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for number in signals { signal(number, SIG_DFL) }
  }

  /// Waits for a signal that no earlier call has waited for.
  package func wait() { seen.signals.wait() }

  /// Signals received so far.
  package var count: Int { seen.value.load(ordering: .relaxed) }
}
