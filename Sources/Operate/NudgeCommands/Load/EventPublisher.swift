import Kafka
import NudgeSchema
import Synchronization

/// Publishes the load's events, and knows which of them Kafka has acknowledged. One thread publishes; any may ask.
final class EventPublisher: Sendable {
  /// How far it is.
  struct Progress: Sendable, Equatable {
    /// Events handed to the client.
    var produced = 0
    /// Events the broker has acknowledged.
    var acknowledged = 0
    /// Messages among the acknowledged.
    var messages = 0
    /// Events that were not written, or may not have been.
    var failed = 0
    /// Why, of the first.
    var failure: String?

    /// Events whose fate is open.
    var pending: Int { produced - acknowledged - failed }
  }

  private struct State {
    var progress = Progress()
    /// Messages in the air, by the tag of their record.
    var inFlight: [UInt64: LoadMessage] = [:]
    /// Acknowledged and not yet taken.
    var published: [LoadMessage] = []
  }

  private let producer: Producer
  private let topics: TopicNames
  private let state: Shared
  /// The delivery reports write to it, and they come to the producer, which is made first.
  private final class Shared: Sendable {
    let state = Mutex(State())
  }

  /// A publisher; it connects in the background.
  init(_ configuration: ClientConfiguration, topics: TopicNames) throws(KafkaError) {
    self.topics = topics
    let shared = Shared()
    state = shared
    producer = try Producer(configuration, name: "nudge-load", onDelivery: { Self.note($0, in: shared) })
  }

  private static func note(_ delivery: Delivery, in shared: Shared) {
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

  /// Queues an event. Throws where the client cannot take it.
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

  /// Serves acknowledgements until a time.
  func wait(until due: ContinuousClock.Instant) {
    while true {
      let rest = ContinuousClock.now.duration(to: due)
      guard rest > .zero else { return producer.poll(timeout: .zero) }
      producer.poll(timeout: min(rest, .milliseconds(20)))
    }
  }

  /// Waits until every event's fate is known. What has none when the time is over counts as failed.
  func finish(timeout: Duration) {
    do throws(KafkaError) {
      try producer.flush(timeout: timeout)
    } catch {
      state.state.withLock { $0.progress.failure = $0.progress.failure ?? "\(error)" }
    }
  }

  /// How far it is.
  var progress: Progress { state.state.withLock { $0.progress } }

  /// The messages acknowledged since it was last asked.
  func takePublished() -> [LoadMessage] {
    state.state.withLock { state in
      defer { state.published.removeAll() }
      return state.published
    }
  }

  /// Ends the client.
  func close() { producer.close() }
}
