import Foundation
import NudgeSchema
import Synchronization

/// What ends a stream thread's waits from outside: a wait for nothing in particular, and the consumer's poll.
final class ThreadSignal: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  private let isRaised = Atomic<Bool>(false)
  private let wakePoll = Mutex<(@Sendable () -> Void)?>(nil)

  /// Also wakes a poll from now on; nil: no more.
  func attach(_ wake: (@Sendable () -> Void)?) { wakePoll.withLock { $0 = wake } }

  /// Ends the wait that is under way, or the next one.
  func raise() {
    if !isRaised.exchange(true, ordering: .acquiringAndReleasing) { semaphore.signal() }
    wakePoll.withLock { $0 }?()
  }

  /// Waits until raised, or for so many milliseconds.
  func wait(atMost timeout: Milliseconds) {
    if semaphore.wait(timeout: .now() + .milliseconds(Int(max(0, timeout)))) == .success {
      isRaised.store(false, ordering: .releasing)
    }
  }
}
