import CLibrdkafka
import Synchronization

/// Wakes a consumer's poll from any thread. Harmless once the consumer is closed.
public final class ConsumerWaker: Sendable {
  private let queue: Mutex<OpaqueBits?>

  init(_ queue: OpaquePointer?) { self.queue = Mutex(queue.map { OpaqueBits($0) }) }

  /// Makes a poll that is waiting return; where none is, the next one does not wait.
  public func wake() {
    queue.withLock { if let queue = $0 { rd_kafka_queue_yield(queue.pointer) } }
  }

  /// Gives the queue back; from then on waking does nothing.
  func close() {
    queue.withLock {
      if let queue = $0 { rd_kafka_queue_destroy(queue.pointer) }
      $0 = nil
    }
  }
}
