import NudgeSchema
import ServiceKit

/// Has a stream thread's I/O look for transactions that a lone broker has left without markers. Not while one of the thread's own
/// is on its way.
final class HangingWatch<IO: StreamIO> {
  private let context: StreamContext<IO>
  /// When it was last looked for transactions that stay open, by the steady clock.
  private var watchedAt: Milliseconds?

  init(_ context: StreamContext<IO>) { self.context = context }

  /// Pending transactions should have ended by now: what waits for them.
  func suspect(_ what: String) throws {
    context.observe(.markersMissing(what: what))
    try pass(context.io.endHanging)
  }

  /// Looks, now and then, for transactions that stay open: nothing here may wait for them, and others do, such as the next
  /// stage.
  func watch() throws {
    let steady = context.io.steadyClock
    guard steady - (watchedAt ?? steady) >= context.limits.markerWatch else {
      watchedAt = watchedAt ?? steady
      return
    }
    watchedAt = steady
    try pass(context.io.watchTransactions)
  }

  /// Tells what was ended.
  func tellEnded() {
    for ended in context.io.takeEnded() { context.observe(.transactionEnded(ended)) }
  }

  private func pass(_ look: () throws(IOFailure) -> Void) throws {
    do throws(IOFailure) {
      try look()
    } catch {
      if !error.isRetriable { throw error }
      context.observe(.retrying(reason: error.description))
    }
    tellEnded()
  }
}
