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

  /// Suspends the exchange's connection until its answer comes; returns the answer, if it is already there or must not be awaited because the gate is closed.
  func awaitAnswer(of exchange: Exchange, on connection: Exchange.Connection) -> HTTPServerResponse? {
    state.withLock { state in
      if state.isClosed { exchange.answer(Refusal.stopping) }
      if let response = exchange.suspend(connection) { return response }
      state.waiting[ObjectIdentifier(exchange)] = exchange
      return nil
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
