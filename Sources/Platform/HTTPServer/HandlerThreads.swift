import Dispatch
import Foundation
import Synchronization

/// Threads that run handlers, so that a slow one does not hold up the thread that serves all connections.
final class HandlerThreads: Sendable {
  private enum Job: Sendable {
    case run(@Sendable () -> Void)
    case end
  }

  /// No longer than there are connections, because each has one request under way at most.
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

  /// Lets each thread end after what is queued. Does not wait: a handler that hangs must not hang the stop as well.
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
