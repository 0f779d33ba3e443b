import CLibrdkafka
import Synchronization

/// Wakes a consumer's poll from any thread. Has no effect once the consumer is closed.
public final class ConsumerWaker: Sendable {
  private let queue: Mutex<OpaqueBits?>

  init(_ queue: OpaquePointer?) { self.queue = Mutex(queue.map { OpaqueBits($0) }) }

  /// Makes a waiting poll return; without one, the next poll does not wait.
  public func wake() {
    queue.withLock { if let queue = $0 { rd_kafka_queue_yield(queue.pointer) } }
  }

  /// Releases the queue; waking has no effect afterwards.
  func close() {
    queue.withLock {
      if let queue = $0 { rd_kafka_queue_destroy(queue.pointer) }
      $0 = nil
    }
  }
}
