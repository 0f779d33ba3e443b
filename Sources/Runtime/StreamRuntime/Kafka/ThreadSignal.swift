import Foundation
import NudgeSchema
import ServiceKit
import Synchronization

/// Ends a stream thread's waits from any thread: its idle wait, and the poll of its consumer.
final class ThreadSignal: Sendable {
  /// The closure is in a struct, because `Mutex<() -> Void>` would wrap it in one more thunk at each access and keep the thunk. Every
  /// wake-up would leak, and the call through all thunks would overflow the stack (`make lint` looks for such a mutex).
  private struct PollWaker: Sendable {
    let wake: @Sendable () -> Void
  }

  private let semaphore = DispatchSemaphore(value: 0)
  private let isRaised = Atomic<Bool>(false)
  private let pollWaker = Mutex<PollWaker?>(nil)
  private let wakeUps: Counter?

  /// - Parameter wakeUps: Counts the calls of `raise`.
  init(wakeUps: Counter? = nil) { self.wakeUps = wakeUps }

  /// Makes `raise` call `wake` as well. Absent: it no longer calls another closure.
  func attach(_ wake: (@Sendable () -> Void)?) { pollWaker.withLock { $0 = wake.map(PollWaker.init) } }

  /// Ends the present wait. If there is none, ends the next one.
  func raise() {
    wakeUps?.increment()
    if !isRaised.exchange(true, ordering: .acquiringAndReleasing) { semaphore.signal() }
    pollWaker.withLock { $0 }?.wake()
  }

  /// Returns when the signal is raised, after `timeout` milliseconds at the latest.
  func wait(atMost timeout: Milliseconds) {
    if semaphore.wait(timeout: .now() + .milliseconds(Int(max(0, timeout)))) == .success {
      isRaised.store(false, ordering: .releasing)
    }
  }
}
