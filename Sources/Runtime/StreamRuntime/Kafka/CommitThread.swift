import Foundation
import Kafka
import Synchronization

/// A thread that commits a stream thread's transactions, one at a time, so that the stream thread goes on meanwhile.
final class CommitThread: Sendable {
  private struct State: Sendable {
    var transaction: (SealedTransaction, ConsumerGroupMetadata)?
    var outcome: CommitOutcome?
    var isClosed = false
  }

  /// Whoever holds the lock uses it: this thread while it commits, the stream thread at other times.
  private let writer: Mutex<any TransactionWriter>
  private let state = Mutex(State())
  private let work = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  private let onOutcome: @Sendable () -> Void

  /// `onOutcome` is called, from whichever thread, when there is an outcome to take.
  init(_ writer: sending any TransactionWriter, name: String, onOutcome: @escaping @Sendable () -> Void) {
    self.writer = Mutex(writer)
    self.onOutcome = onOutcome
    let thread = Thread { [self] in run() }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Begins to commit; `takeOutcome` tells what became of it. Not before the outcome of the one before was taken.
  func begin(_ transaction: SealedTransaction, by member: ConsumerGroupMetadata) {
    state.withLock { $0.transaction = (transaction, member) }
    work.signal()
  }

  /// What became of the transaction; nil: that is not known yet.
  func takeOutcome() -> CommitOutcome? {
    state.withLock { state in
      defer { state.outcome = nil }
      return state.outcome
    }
  }

  /// The outcome of a transaction that could not be handed over.
  func note(_ outcome: CommitOutcome) {
    state.withLock { $0.outcome = outcome }
    onOutcome()
  }

  /// Uses the writer for something else. Waits while a transaction is on its way.
  func use<Result: Sendable, Failure: Error>(
    _ body: (any TransactionWriter) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try writer.withLock { writer throws(Failure) in try body(writer) }
  }

  /// Waits for what is on its way, and closes the writer.
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
