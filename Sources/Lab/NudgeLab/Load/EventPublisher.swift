import Kafka
import NudgeSchema
import Synchronization

/// Publishes the load's events, and counts the acknowledgements. One thread publishes; any thread may ask.
final class EventPublisher: Sendable {
  struct Progress: Sendable, Equatable {
    /// Events handed to the client.
    var produced = 0
    var acknowledged = 0
    /// Acknowledged messages.
    var messages = 0
    /// Events that were not written, or may not have been.
    var failed = 0
    /// The first failure.
    var failure: String?
  }

  private struct State {
    var progress = Progress()
    /// Unacknowledged messages, by the tag of their record.
    var inFlight: [UInt64: LoadMessage] = [:]
    /// Acknowledged messages that `takePublished` has not returned yet.
    var published: [LoadMessage] = []
  }

  private let producer: Producer
  private let topics: TopicNames
  private let state: Shared
  /// Shared with the delivery callback, which the producer needs before `self` exists.
  private final class Shared: Sendable {
    let state = Mutex(State())
  }

  /// Connects in the background.
  init(_ configuration: ClientConfiguration, topics: TopicNames) throws(KafkaError) {
    self.topics = topics
    let shared = Shared()
    state = shared
    producer = try Producer(configuration, name: "nudge-load", onDelivery: { Self.record($0, in: shared) })
  }

  private static func record(_ delivery: Delivery, in shared: Shared) {
    shared.state.withLock { state in
      let message = state.inFlight.removeValue(forKey: delivery.tag)
      if let error = delivery.error {
        state.progress.failed += 1
        state.progress.failure = state.progress.failure ?? "\(error)"
      } else {
        state.progress.acknowledged += 1
        if let message {
          state.progress.messages += 1
          state.published.append(message)
        }
      }
    }
  }

  /// Queues an event. Throws if the client cannot take it.
  func publish(_ event: LoadEvent, at now: Milliseconds) throws(KafkaError) {
    let tag = state.state.withLock { state in
      state.progress.produced += 1
      let tag = UInt64(state.progress.produced)
      state.inFlight[tag] = event.message
      return tag
    }
    do throws(KafkaError) {
      try producer.produce(
        topic: try producer.topic(topics(event.topic)), partition: Producer.anyPartition,
        key: Array(event.key.utf8),
        value: event.value, timestamp: now, tag: tag)
    } catch {
      state.state.withLock { state in
        state.inFlight[tag] = nil
        state.progress.failed += 1
        state.progress.failure = state.progress.failure ?? "\(error)"
      }
      throw error
    }
  }

  /// Serves delivery reports until a time.
  func wait(until due: ContinuousClock.Instant) {
    while true {
      let rest = ContinuousClock.now.duration(to: due)
      guard rest > .zero else { return producer.poll(timeout: .zero) }
      producer.poll(timeout: min(rest, .milliseconds(20)))
    }
  }

  /// Waits until every event has a result; at the time-out the others count as failed.
  func finish(timeout: Duration) {
    do throws(KafkaError) {
      try producer.flush(timeout: timeout)
    } catch {
      state.state.withLock { $0.progress.failure = $0.progress.failure ?? "\(error)" }
    }
  }

  var progress: Progress { state.state.withLock { $0.progress } }

  /// Messages acknowledged since the last call.
  func takePublished() -> [LoadMessage] {
    state.state.withLock { state in
      defer { state.published.removeAll() }
      return state.published
    }
  }

  func close() { producer.close() }
}
