import Dispatch
import Foundation
import Synchronization

/// Threads that run handlers, so that a slow handler does not block the thread that serves all connections.
final class HandlerThreads: Sendable {
  private enum Job: Sendable {
    case run(@Sendable () -> Void)
    case end
  }

  /// At most one job per connection, because a connection has one request in flight.
  private let jobs = Mutex<[Job]>([])
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

  func run(_ job: @escaping @Sendable () -> Void) { add(.run(job)) }

  /// Ends each thread after the queued jobs. Does not wait: a handler that hangs must not block the stop.
  func end() {
    for _ in 1...count { add(.end) }
  }

  private func add(_ job: Job) {
    jobs.withLock { $0.append(job) }
    available.signal()
  }

  private func work() {
    while true {
      available.wait()
      let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      switch job {
      case .run(let handler)?: handler()
      case .end?: return
      case nil: break
      }
    }
  }
}
