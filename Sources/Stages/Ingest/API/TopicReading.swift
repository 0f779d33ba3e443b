import Dispatch
import Foundation
import Kafka
import ServiceKit
import Synchronization

/// A thread of the HTTP API that reads a topic until it is closed.
final class ReaderThread: Sendable {
  private let name: String
  private let isClosed = Atomic<Bool>(false)
  private let isStopped = Atomic<Bool>(false)
  private let ended = DispatchSemaphore(value: 0)

  init(_ name: String) { self.name = name }

  /// Whether neither `close` nor `stop` was called yet. The body checks it repeatedly, and returns soon after it becomes false.
  var isOpen: Bool { !isClosed.load(ordering: .relaxed) && !isStopped.load(ordering: .relaxed) }

  /// Runs the body on the thread. Call it once.
  func start(_ body: @escaping @Sendable () -> Void) {
    let thread = Thread { [self] in
      body()
      ended.signal()
    }
    thread.name = name
    thread.start()
  }

  /// Lets the body end, without waiting for it.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Waits for the body's end. Later calls do nothing.
  func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    ended.wait()
  }
}

extension ClientConfiguration {
  /// A consumer without a group, for topics that the HTTP API reads. The operator's properties override these.
  /// - Parameter properties: Properties in addition to those of every consumer, such as the limit of prefetched bytes.
  static func reader(
    _ settings: ServiceSettings, reportsEndOfPartition: Bool = true, _ properties: KeyValuePairs<String, String>
  ) -> ClientConfiguration {
    var configuration = ClientConfiguration.consumer(
      bootstrapServers: settings.bootstrapServers, group: nil, reportsEndOfPartition: reportsEndOfPartition)
    for (name, value) in properties { configuration.set(name, value) }
    return configuration.merging(
      overrides: ClientConfiguration.inOrder(settings.kafkaProperties))
  }
}
