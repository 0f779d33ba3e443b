import NudgeSchema
import ServiceKit

/// Decides when a stream thread looks for hanging transactions. Call it only while none of the thread's own is in flight.
final class HangingWatch<IO: StreamIO> {
  private let context: StreamContext<IO>
  /// When it last looked for transactions that stay open, by the steady clock.
  private var watchedAt: Milliseconds?

  init(_ context: StreamContext<IO>) { self.context = context }

  /// Ends hanging transactions, because pending ones should have ended by now.
  /// - Parameter what: names what waits for them.
  func suspect(_ what: String) throws {
    context.observe(.markersMissing(what: what))
    try pass(context.io.endHanging)
  }

  /// Looks for transactions that stay open, every 10 s. This thread may not wait for them, but the next stage does.
  func watch() throws {
    let steady = context.io.steadyClock
    guard steady - (watchedAt ?? steady) >= context.limits.markerWatch else {
      watchedAt = watchedAt ?? steady
      return
    }
    watchedAt = steady
    try pass(context.io.watchTransactions)
  }

  /// Reports ended transactions.
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
