import Dispatch
import Foundation
import Synchronization

/// Threads that run handlers, so that a slow handler does not block the thread that serves all connections. Jobs with
/// the same key run in their order. Keys take turns, so that no key waits for all jobs of another.
final class HandlerThreads: Sendable {
  /// At most one job per connection, because a connection has one request in flight.
  private struct Queues {
    var jobs: [String: [@Sendable () -> Void]] = [:]
    /// Keys with jobs, in the order of their turns.
    var turns: [String] = []
    var isEnding = false

    mutating func add(_ job: @escaping @Sendable () -> Void, of key: String) {
      if jobs[key] == nil { turns.append(key) }
      jobs[key, default: []].append(job)
    }

    mutating func next() -> (@Sendable () -> Void)? {
      guard !turns.isEmpty else { return nil }
      let key = turns.removeFirst()
      let job = jobs[key]?.removeFirst()
      if jobs[key]?.isEmpty == false { turns.append(key) } else { jobs[key] = nil }
      return job
    }
  }

  private let queues = Mutex(Queues())
  private let available = DispatchSemaphore(value: 0)
  private let count: Int

  init(count: Int) { self.count = count }

  func start() {
    for number in 1...count {
      let thread = Thread { [self] in work() }
      thread.name = "http-handler-\(number)"
      thread.start()
    }
  }

  func run(inTurnOf key: String, _ job: @escaping @Sendable () -> Void) {
    queues.withLock { $0.add(job, of: key) }
    available.signal()
  }

  /// Ends each thread after the queued jobs, without waiting for it: a handler that hangs must not block the stop.
  func end() {
    queues.withLock { $0.isEnding = true }
    for _ in 1...count { available.signal() }
  }

  private func work() {
    while true {
      available.wait()
      let (job, isEnding) = queues.withLock { ($0.next(), $0.isEnding) }
      if let job { job() } else if isEnding { return }
    }
  }
}

/// Limits the bytes of all bodies that the server holds.
///
/// Bytes are charged as they arrive, not by Content-Length. Otherwise a client that announces much and sends little
/// could exhaust the budget.
final class BodyBudget: Sendable {
  private let limit: Int
  private let used = Atomic<Int>(0)

  init(limit: Int) { self.limit = limit }

  /// Whether a body of this size fits at present.
  func hasRoom(for bytes: Int) -> Bool { bytes <= limit - used.load(ordering: .relaxed) }

  /// Charges bytes. Returns false and charges nothing if they do not fit.
  func charge(_ bytes: Int) -> Bool {
    let total = used.add(bytes, ordering: .relaxed).newValue
    if total <= limit { return true }
    used.subtract(bytes, ordering: .relaxed)
    return false
  }

  func release(_ bytes: Int) { used.subtract(bytes, ordering: .relaxed) }
}
