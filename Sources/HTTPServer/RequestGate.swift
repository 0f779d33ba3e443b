import Dispatch
import Synchronization

/// Counts the requests under way, so that a stop can wait for them and then turn the rest away.
final class RequestGate: Sendable {
  private struct State {
    var isStopping = false
    var isClosed = false
    var waiting: [ObjectIdentifier: Exchange] = [:]
  }

  private let state = Mutex(State())
  private let underWay = DispatchGroup()

  /// A request line has been read.
  func enter() { underWay.enter() }

  /// Its answer has been sent, or the connection is gone.
  func leave(_ exchange: Exchange) {
    state.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(exchange)) }
    underWay.leave()
  }

  /// Suspends with `suspend` and notes the exchange as waiting; false, without suspending, if the gate is closed.
  func suspend(_ exchange: Exchange, _ suspend: () -> Void) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.waiting[ObjectIdentifier(exchange)] = exchange
      suspend()
      return true
    }
  }

  /// Whether connections are to be closed after their answer.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  func beginStopping() { state.withLock { $0.isStopping = true } }

  /// Whether all requests have ended within the time.
  func waitUntilIdle(_ limit: Duration) -> Bool {
    let (seconds, attoseconds) = limit.components
    let nanoseconds = Int(clamping: seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    return underWay.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
  }

  /// Lets none wait from now on; returns those that do.
  func close() -> [Exchange] {
    state.withLock { state in
      state.isClosed = true
      return Array(state.waiting.values)
    }
  }
}
