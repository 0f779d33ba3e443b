import Foundation
import Kafka
import NudgeSchema
import Synchronization

/// A record for one of the pipeline's two public topics.
struct PublishedEvent: Sendable {
  var topic: Topic
  var key: String
  var value: String
  /// The header; nil: none.
  var traceparent: String?
}

/// A simple producer: murmur2 partitioner, JSON by hand.
final class Publisher: Sendable {
  private struct State {
    /// The events of the load.
    var published = 0
    /// All events.
    var sent = 0
    var failure: String?
    var isDone = true
    /// The rest of the load is not wanted.
    var isEnough = false
  }

  private let producer: Producer
  private let names: TopicNames
  private let state = Mutex(State())

  init(brokers: String, names: TopicNames) throws {
    self.names = names
    var configuration = ClientConfiguration.producer(bootstrapServers: brokers, transactionalID: nil)
    // With more, a starting broker can refuse a request ("not leader") and then the next as out of order, which is a fatal error for
    // librdkafka 2.0.2.
    configuration.set("max.in.flight.requests.per.connection", "1")
    producer = try Producer(configuration, name: "test-app")
  }

  deinit { producer.close() }

  /// Publishes events and waits until Kafka has them.
  func publish(_ events: [PublishedEvent]) throws {
    for event in events { try send(event) }
    try producer.flush(timeout: .seconds(30))
  }

  private func send(_ event: PublishedEvent) throws {
    // -1: the partitioner chooses by the key.
    try producer.produce(
      topic: try producer.topic(names(event.topic)), partition: -1, key: Array(event.key.utf8),
      value: Array(event.value.utf8),
      headers: event.traceparent.map { [(RecordHeader.traceparent, Array($0.utf8))] } ?? [])
    state.withLock { $0.sent += 1 }
  }

  /// Publishes events at a rate, on its own thread. Each event is made when it is due, so that its time is that of a live
  /// chat.
  func start(rate: Double, _ events: [@Sendable () -> PublishedEvent]) {
    state.withLock { state in
      state.published = 0
      state.isDone = false
      state.isEnough = false
    }
    let thread = Thread { [self] in
      do {
        let start = ContinuousClock.now
        for (index, event) in events.enumerated() {
          let due = start + .seconds(Double(index) / rate)
          while ContinuousClock.now < due {
            producer.poll(timeout: min(.milliseconds(20), ContinuousClock.now.duration(to: due)))
          }
          if state.withLock({ $0.isEnough }) { break }
          try send(event())
          state.withLock { $0.published += 1 }
        }
        try producer.flush(timeout: .seconds(30))
        state.withLock { $0.isDone = true }
      } catch {
        state.withLock { $0.failure = "\(error)" }
      }
    }
    thread.start()
  }

  /// Publishes no more of the load. Returns how many of its events Kafka has.
  func stop() throws -> Int {
    state.withLock { $0.isEnough = true }
    try waitUntil("Kafka has what was published") { try isDone() }
    return published
  }

  /// The number of the load's events handed to Kafka.
  var published: Int { state.withLock { $0.published } }

  /// The number of all events handed to Kafka.
  var sent: Int { state.withLock { $0.sent } }

  /// Whether Kafka has the whole load. Throws if publishing failed.
  func isDone() throws -> Bool {
    try state.withLock { state in
      if let failure = state.failure { throw StillWaiting(description: "the load failed: \(failure)") }
      return state.isDone
    }
  }
}
