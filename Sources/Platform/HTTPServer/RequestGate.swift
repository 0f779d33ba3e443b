import Dispatch
import Synchronization

/// Counts the requests in flight, so that a stop can wait for them and refuse those that take too long.
final class RequestGate: Sendable {
  private struct State {
    var isStopping = false
    var isClosed = false
    var waiting: [ObjectIdentifier: Exchange] = [:]
  }

  private let state = Mutex(State())
  private let inProgress = DispatchGroup()

  /// A request line has been read.
  func enter() { inProgress.enter() }

  /// The answer has been sent, or the connection has been closed.
  func leave(_ exchange: Exchange) {
    state.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(exchange)) }
    inProgress.leave()
  }

  /// Suspends the exchange's connection until its answer is set. Returns the answer if the handler has already set it, or a refusal if the gate is closed.
  func awaitAnswer(of exchange: Exchange, on connection: Exchange.Connection) -> HTTPServerResponse? {
    state.withLock { state in
      if state.isClosed { exchange.answer(Refusal.stopping) }
      if let response = exchange.suspend(connection) { return response }
      state.waiting[ObjectIdentifier(exchange)] = exchange
      return nil
    }
  }

  /// Whether connections are closed after their answer.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  func beginStopping() { state.withLock { $0.isStopping = true } }

  /// Whether all requests have ended within the time.
  func waitUntilIdle(_ limit: Duration) -> Bool {
    let (seconds, attoseconds) = limit.components
    let nanoseconds = Int(clamping: seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    return inProgress.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
  }

  /// Closes the gate: later requests are refused. Returns the exchanges that wait for an answer.
  func close() -> [Exchange] {
    state.withLock { state in
      state.isClosed = true
      return Array(state.waiting.values)
    }
  }
}
