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

  /// Whether neither `close` nor `stop` has been called yet. The body looks at it, and returns soon after it has changed.
  var isOpen: Bool { !isClosed.load(ordering: .relaxed) && !isStopped.load(ordering: .relaxed) }

  /// Runs the body on the thread. Called once.
  func start(_ body: @escaping @Sendable () -> Void) {
    let thread = Thread { [self] in
      body()
      ended.signal()
    }
    thread.name = name
    thread.start()
  }

  /// Lets the body end, without waiting for that.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Waits for the body's end. Later calls do nothing.
  func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    ended.wait()
  }
}

extension ClientConfiguration {
  /// A consumer without a group, for what the HTTP API reads of a topic. The service's own properties override these.
  /// - Parameter properties: beside those of every consumer, such as the bound of what it fetches ahead.
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
