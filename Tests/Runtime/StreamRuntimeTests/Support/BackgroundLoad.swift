import Dispatch
import Foundation
import Kafka
import Synchronization
import Testing

/// Produces some thousand records a second to a topic, on a thread of its own, until it is ended. Keys rotate. It survives the broker's
/// absence.
final class BackgroundLoad: Sendable {
  private let sent = Mutex(0)
  private let isOver = Mutex(false)
  private let done = DispatchSemaphore(value: 0)

  /// Begins at once, with `key-0` to one below `keys`.
  init(to topic: String, partitions: Int32, keys: Int, brokers: String) {
    let thread = Thread { [self] in
      defer { done.signal() }
      do {
        try publish(to: topic, partitions, keys, brokers)
      } catch {
        Issue.record("the load ended: \(error)")
      }
    }
    thread.start()
  }

  /// Ends it, once Kafka has acknowledged all of it. Returns how many records there are.
  func end() -> Int {
    isOver.withLock { $0 = true }
    done.wait()
    return sent.withLock { $0 }
  }

  private func publish(to topic: String, _ partitions: Int32, _ keys: Int, _ brokers: String) throws {
    let producer = try Producer(.producer(bootstrapServers: brokers, transactionalID: nil), name: "load")
    let handle = try producer.topic(topic)
    while !isOver.withLock({ $0 }) {
      for _ in 0..<10 {
        let number = sent.withLock { sent in
          defer { sent += 1 }
          return sent
        }
        let key = Array("key-\(number % keys)".utf8)
        try producer.produce(
          topic: handle, partition: Murmur2.partition(of: key, count: partitions), key: key, value: [120])
      }
      producer.poll(timeout: .milliseconds(10))
    }
    try producer.flush(timeout: .seconds(60))
    producer.close()
  }
}
