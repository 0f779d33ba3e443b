import Kafka
import KafkaTransactions
import NudgeCodec
import NudgeSchema
import ServiceKit
import StreamRuntime

/// An event that passed the stage's validation, with the fields of its record.
struct ReadEvent: Sendable {
  let topic: Topic
  let key: String
  let envelope: Envelope
  /// The record's value.
  let value: [UInt8]
  /// The user whose token may send this; nil if only backends may. A message with a snapshot or a sender's name is reserved for backends,
  /// because with it a user could join any conversation or pretend to be somebody else.
  let speaker: String?
  /// The fields that ingest will ignore.
  let ignored: IgnoredFields
}

/// Reads events by the stage's rules (`RecordReading`), so that the stage does not later refuse the form of an accepted event.
struct EventReading {
  let rules: IngestRules
  private let coder = RecordCoder()
  private let codec = RecordCodec()

  init(_ rules: IngestRules) { self.rules = rules }

  /// Reads an event.
  /// - Parameters:
  ///   - type: The event's field `type`.
  ///   - now: The time in milliseconds since the epoch.
  func read(_ bytes: [UInt8], type: String?, from caller: Caller, now: Milliseconds) throws -> ReadEvent {
    let isUserEvent = type.flatMap { EventType(rawValue: $0) }.map { UserEventBody.types.contains($0) } ?? false
    let topic: Topic = isUserEvent ? .userEvents : .chatEvents
    let record = InputRecord(
      topic: topic, topicName: topic.rawValue, partition: 0, offset: 0, timestamp: 0, key: nil, value: bytes)
    if isUserEvent {
      var event = try RecordReading.decode(from: record, maxBytes: rules.maxRecordBytes, coder: coder, codec: codec) {
        codec.read(UserEvent.self, from: $0)
      }
      let raw = event
      let ignored = event.normalize()
      try RecordReading.hold { () throws(SchemaViolation) in try event.validate(rules) }
      var speaker: String? = event.body.userId
      // Only backends may erase: an app that is signed in for a moment must not be able to.
      if case .deleted = event.body { speaker = nil }
      return try written(raw, bytes, topic, key: event.body.userId, speaker: speaker, ignored, from: caller, now: now)
    }
    var event: ChatEvent
    do {
      event = try RecordReading.decode(from: record, maxBytes: rules.maxRecordBytes, coder: coder, codec: codec) {
        codec.read(ChatEvent.self, from: $0)
      }
    } catch let error as Rejection where error.code == .unknownType {
      // The endpoint accepts events of both topics.
      throw Rejection(EventFormatError.unknownType(type ?? "", of: ChatEventBody.types + UserEventBody.types))
    }
    let raw = event
    let ignored = event.normalize()
    try RecordReading.hold { () throws(SchemaViolation) in try event.validate() }
    var speaker: String?
    if case .messageCreated(let message) = event.body, message.conversation == nil, message.sender == nil {
      speaker = message.senderId
    }
    return try written(
      raw, bytes, topic, key: event.body.conversationId, speaker: speaker, ignored, from: caller, now: now)
  }

  /// The event as it is published. A backend's event is unchanged. A user's event keeps its known fields only, and a time that is
  /// ahead is set back to the arrival, because a phone's wrong clock is no reason to refuse the event (M10).
  private func written<Body: EventBody>(
    _ event: Event<Body>, _ bytes: [UInt8], _ topic: Topic, key: String, speaker: String?,
    _ ignored: IgnoredFields, from caller: Caller, now: Milliseconds
  ) throws -> ReadEvent {
    guard caller.isUser else {
      return ReadEvent(
        topic: topic, key: key, envelope: event.envelope, value: bytes, speaker: speaker, ignored: ignored)
    }
    var event = event
    event.envelope.occurredAt = min(event.envelope.occurredAt, now)
    return ReadEvent(
      topic: topic, key: key, envelope: event.envelope, value: try coder.encode(event), speaker: speaker,
      ignored: ignored)
  }

  /// Throws for an event that is older, or further in the future, than ingest accepts.
  func requireTime(of event: ReadEvent, now: Milliseconds) throws(Rejection) {
    try RecordReading.requireTime(event.envelope, now: now, rules: rules)
  }
}

/// An event that waits to be published.
struct WaitingEvent: Sendable {
  let batch: UInt64
  let event: EventProducer.Event
  let headers: [Header]
  /// The latest time at which its request is answered.
  let deadline: ContinuousClock.Instant
}

/// Why an event was not published, or may not have been.
struct EventFailure: Sendable {
  let name: String
  let reason: String
  var isTimedOut = false
  var isTooLarge = false

  init(name: String, reason: String, isTimedOut: Bool = false, isTooLarge: Bool = false) {
    self.name = name
    self.reason = reason
    self.isTimedOut = isTimedOut
    self.isTooLarge = isTooLarge
  }

  init(_ error: KafkaError) {
    self.init(
      name: error.name, reason: error.reason, isTimedOut: error.isTimedOut, isTooLarge: error.isMessageTooLarge)
  }
}

/// Publishes all waiting events together, with one request for all partitions of a broker. One thread owns it.
final class EventPublishing {
  /// The result for one event.
  struct Outcome {
    var failure: EventFailure?
    var position: RecordPosition?
  }

  private static let topics: [Topic] = [.chatEvents, .userEvents]
  private let names: [String]
  private let publisher: RecordPublisher

  /// The most bytes of values in one request, so that it does not delay the next one for long.
  private static let maxBytes = 4 << 20
  /// Waiting for Kafka ends this long before a request's deadline, so that the request can be answered in time.
  private static let margin: Duration = .milliseconds(100)
  private static let openTimeout: Duration = .seconds(1)

  /// Nil if the operator set a property that only librdkafka has.
  init?(_ settings: ServiceSettings, topics names: TopicNames) {
    self.names = Self.topics.map { names($0) }
    do throws(TransactionalProducerError) {
      let properties = ClientConfiguration.inOrder(settings.kafkaProperties)
      publisher = try RecordPublisher(
        TransactionalProducerConfiguration(
          bootstrapServers: settings.bootstrapServers, properties: [("client.id", "nudge-ingest-http")] + properties),
        topics: self.names)
    } catch {
      return nil
    }
  }

  /// Connects to the brokers.
  /// - Throws: `refused` if the brokers are not suitable.
  func open() throws(TransactionalProducerError) { try publisher.open(timeout: Self.openTimeout) }

  func close() { publisher.close() }

  /// How many of the events fit into one request.
  static func fitting(_ waiting: [WaitingEvent]) -> Int {
    var bytes = 0
    for (index, it) in waiting.enumerated() {
      bytes += it.event.value.count
      if bytes > maxBytes, index > 0 { return index }
    }
    return waiting.count
  }

  /// Publishes events, and waits for Kafka until shortly before the earliest of their deadlines.
  /// - Returns: The outcomes in the order of the events.
  func publish(_ waiting: [WaitingEvent], now: ContinuousClock.Instant) -> [Outcome] {
    var outcomes = [Outcome](repeating: Outcome(), count: waiting.count)
    var records: [PublishedRecord] = []
    var places: [Int] = []
    records.reserveCapacity(waiting.count)
    var timeout: Duration?
    for (index, it) in waiting.enumerated() {
      let left = now.duration(to: it.deadline) - Self.margin
      guard left > .zero else {
        outcomes[index].failure = EventFailure(
          name: "timed out", reason: "Kafka has not answered in time", isTimedOut: true)
        continue
      }
      timeout = min(timeout ?? left, left)
      let topic = Self.topics.firstIndex(of: it.event.topic) ?? 0
      guard let count = publisher.partitionCount(of: topic, timeout: left) else {
        outcomes[index].failure = EventFailure(name: "no topic", reason: "\(names[topic]) is not known to the brokers")
        continue
      }
      let key = Array(it.event.key.utf8)
      records.append(
        PublishedRecord(
          topic: topic, partition: Murmur2.partition(of: key, count: count), key: key, value: it.event.value,
          headers: it.headers.map { (name: $0.name, value: $0.value) }))
      places.append(index)
    }
    guard let timeout, !records.isEmpty else { return outcomes }
    let results = publisher.publish(records, timestamp: SystemClock.milliseconds(), timeout: timeout)
    for (number, result) in results.enumerated() {
      let record = records[number]
      switch result {
      case .written(let offset):
        outcomes[places[number]].position = offset.map {
          RecordPosition(topic: names[record.topic], partition: record.partition, offset: $0)
        }
      case .refused(let kind, let reason):
        outcomes[places[number]].failure = EventFailure(
          name: "refused", reason: reason, isTooLarge: kind == .tooLarge)
      case .unknown(let reason):
        outcomes[places[number]].failure = EventFailure(name: "not acknowledged", reason: reason)
      }
    }
    return outcomes
  }
}
