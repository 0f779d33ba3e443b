import Foundation
import Kafka
import Synchronization

/// Commits a stream thread's transactions on a thread of its own, one at a time, so that the stream thread need not wait.
final class CommitThread: Sendable {
  private struct State: Sendable {
    var transaction: (SealedTransaction, ConsumerGroupMetadata)?
    var outcome: CommitOutcome?
    var isClosed = false
  }

  /// This thread uses the writer while it commits, and the stream thread at other times.
  private let writer: Mutex<any TransactionWriter>
  private let state = Mutex(State())
  private let work = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  private let onOutcome: @Sendable () -> Void

  /// - Parameter onOutcome: called from any thread when an outcome can be taken.
  init(_ writer: sending any TransactionWriter, name: String, onOutcome: @escaping @Sendable () -> Void) {
    self.writer = Mutex(writer)
    self.onOutcome = onOutcome
    let thread = Thread { [self] in run() }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Begins to commit a transaction. Take the previous outcome first.
  func begin(_ transaction: SealedTransaction, by member: ConsumerGroupMetadata) {
    state.withLock { $0.transaction = (transaction, member) }
    work.signal()
  }

  /// The outcome of the transaction; nil: it is not known yet.
  func takeOutcome() -> CommitOutcome? {
    state.withLock { state in
      defer { state.outcome = nil }
      return state.outcome
    }
  }

  /// Sets the outcome of a transaction that could not begin.
  func note(_ outcome: CommitOutcome) {
    state.withLock { $0.outcome = outcome }
    onOutcome()
  }

  /// Uses the writer for other calls. Waits for the transaction in flight.
  func use<Result: Sendable, Failure: Error>(
    _ body: (any TransactionWriter) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try writer.withLock { writer throws(Failure) in try body(writer) }
  }

  /// Waits for the transaction in flight, and closes the writer.
  func close() {
    state.withLock { $0.isClosed = true }
    work.signal()
    ended.wait()
    use { $0.close() }
  }

  private func run() {
    while true {
      work.wait()
      let (next, isClosed) = state.withLock { state in
        defer { state.transaction = nil }
        return (state.transaction, state.isClosed)
      }
      if let (transaction, member) = next {
        note(writer.withLock { $0.commit(transaction, by: member) })
      } else if isClosed {
        break
      }
    }
    ended.signal()
  }
}
