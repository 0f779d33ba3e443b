import Dispatch
import Foundation
import HTTPServer
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit
import StreamRuntime
import Synchronization

/// Publishes the events of requests. A request is answered once Kafka has acknowledged all of its events, or after a timeout.
///
/// The producer is idempotent but not transactional, because ingest recognises repeats by their event ids (M6). Events that arrive while a
/// request to Kafka is in flight leave together with the next one (`EventPublishing`). Where a broker or a client property does not allow
/// that, as on the embedded broker, librdkafka publishes them.
final class EventProducer: Sendable {
  /// An event to publish.
  struct Event: Sendable {
    /// Its index in the request.
    let index: Int
    let topic: Topic
    let key: String
    let value: [UInt8]
  }

  /// A request that waits for the results of its events.
  struct Wait: Sendable {
    let decisions: DecisionTail
    /// The name of the API key, which `decisions` has admitted.
    let caller: String
    let deadline: ContinuousClock.Instant
    /// When the events occurred, by their index.
    let times: [Int: Milliseconds]
  }

  /// Receives the results of events, in place of a request's answer. Called once, from any thread.
  struct Completion: Sendable {
    let resume: @Sendable (BatchResult) -> Void
  }

  /// Limits for waiting.
  struct Limits {
    /// How long a request waits for Kafka.
    var acknowledgement: Duration = .seconds(5)
    /// The most events that wait for Kafka. It is far below the capacity of the client's queue, because a full queue would block the
    /// server's thread.
    var pendingEvents = 100_000
    /// The most bytes of the values of these events.
    var pendingBytes = 64 << 20
  }

  /// How events reach Kafka.
  private enum Route {
    /// Not known until a broker has answered.
    case undecided
    /// By `EventPublishing`: one request for all partitions of a broker.
    case together
    case librdkafka
  }

  private struct Batch {
    var result: BatchResult
    let forbidden: Bool
    /// Events without an outcome.
    var open: Int
    /// Whether all events were passed to the client. Until then the batch is not done, even if `open` is zero.
    var isHandedOver = false
    var bytes: Int
    let startedAt: ContinuousClock.Instant
    let span: EventsSpan?
    let responder: HTTPResponder?
    let completion: Completion?
    let wait: Wait?
    /// The positions of the events by index, if the request waits for them.
    var positions: [Int: RecordPosition] = [:]
  }

  private struct State: ~Copyable {
    var producer: Producer
    var route = Route.undecided
    /// Events for `EventPublishing`, in the order of their arrival.
    var waiting: [WaitingEvent] = []
    var batches: [UInt64: Batch] = [:]
    /// The batches in the order of their deadlines. Answered batches are skipped.
    var deadlines: [(at: ContinuousClock.Instant, batch: UInt64)] = []
    var passed = 0
    var lastBatch: UInt64 = 0
    var pendingEvents = 0
    var pendingBytes = 0
    var isClosed = false
  }

  /// Receives the delivery reports of librdkafka. A separate object, because librdkafka's producer refers to it and is created before
  /// `self`.
  private final class Reports: Sendable {
    let owner = Mutex<WeakOwner>(WeakOwner())
    struct WeakOwner { weak var producer: EventProducer? }
  }

  private let configuration: ClientConfiguration
  private let settings: ServiceSettings
  /// Signalled when events wait.
  private let arrivals = DispatchSemaphore(value: 0)
  private let topics: TopicNames
  private let limits: Limits
  private let logger: Logger
  private let metrics: APIMetrics
  private let reports = Reports()
  private let state: Mutex<State>
  private let ended = DispatchSemaphore(value: 0)

  /// The number of low bits of a tag that hold the index of the event in its batch.
  private static let indexBits: UInt64 = 12

  /// A producer that connects in the background.
  /// - Throws: `KafkaError` if a property is unknown or has an invalid value.
  init(settings: ServiceSettings, limits: Limits = Limits(), logger: Logger, metrics: APIMetrics) throws(KafkaError) {
    self.limits = limits
    self.logger = logger
    self.metrics = metrics
    self.settings = settings
    topics = TopicNames(prefix: settings.topicPrefix)
    configuration = Self.configuration(settings, limits)
    state = Mutex(State(producer: try Self.makeProducer(configuration, reports, logger)))
    reports.owner.withLock { $0.producer = self }
  }

  private static func configuration(_ settings: ServiceSettings, _ limits: Limits) -> ClientConfiguration {
    var configuration = ClientConfiguration.producer(
      bootstrapServers: settings.bootstrapServers, transactionalID: nil)
    // The client's timeout is shorter than the request's, so that little is published after the request was answered. The client checks for
    // timeouts only once per second.
    configuration.set(
      "message.timeout.ms", String(max(1_000, limits.acknowledgement.milliseconds - 500)))
    configuration.set("message.max.bytes", String(TopicPlan(.chatEvents).maxMessageBytes))
    configuration = configuration.merging(
      overrides: ClientConfiguration.inOrder(settings.kafkaProperties))
    // Another partitioner would put records into wrong partitions, and ingest would have to write each of them again (M9).
    configuration.set("partitioner", "murmur2_random")
    return configuration
  }

  private static func makeProducer(
    _ configuration: ClientConfiguration, _ reports: Reports, _ logger: Logger
  ) throws(KafkaError) -> Producer {
    try Producer(
      configuration, name: "nudge-ingest-http", log: { logger.write($0) },
      onDelivery: { [reports] delivery in
        reports.owner.withLock { $0.producer }?.record(delivery)
      })
  }

  /// Starts the thread that publishes events and takes acknowledgements.
  func start() {
    let thread = Thread { [self] in serve() }
    thread.name = "http-producer"
    thread.start()
  }

  /// Answers the open requests and closes the client.
  func close() {
    guard state.withLock({ !$0.isClosed }) else { return }
    state.withLock { $0.isClosed = true }
    ended.wait()
    for batch in state.withLock({ Array($0.batches.keys) }) { expire(batch) }
    state.withLock { $0.producer }.close()
  }

  /// Whether the limit of events or bytes that wait for Kafka is reached.
  func isFull(adding events: Int, bytes: Int) -> Bool {
    state.withLock { state in
      state.pendingEvents + events > limits.pendingEvents || state.pendingBytes + bytes > limits.pendingBytes
    }
  }

  /// Publishes a request's events, and answers it when their results are known.
  /// - Parameters:
  ///   - result: The results known before publishing. Those of the published events are overwritten.
  ///   - forbidden: See `BatchResult.answer`.
  ///   - span: The request's span, which ends with its answer.
  ///   - wait: How to wait for the results of the events after Kafka's acknowledgement; nil to answer without them.
  ///   - completion: Receives the acknowledgements in place of the request's answer; nil to answer the request.
  func publish(
    _ events: [Event], _ result: BatchResult, forbidden: Bool = false, headers: [Header], span: EventsSpan? = nil,
    responder: HTTPResponder? = nil, waiting wait: Wait? = nil, then completion: Completion? = nil
  ) {
    let bytes = events.reduce(0) { $0 + $1.value.count }
    let now = ContinuousClock.now
    let deadline = now + limits.acknowledgement
    let (batch, producer) = state.withLock { state -> (UInt64, Producer?) in
      state.lastBatch += 1
      var result = result
      for event in events { result.statuses[event.index] = .unknown }
      state.batches[state.lastBatch] = Batch(
        result: result, forbidden: forbidden, open: events.count, bytes: bytes, startedAt: now,
        span: span, responder: responder, completion: completion, wait: wait)
      state.deadlines.append((deadline, state.lastBatch))
      state.pendingEvents += events.count
      state.pendingBytes += bytes
      if state.route == .librdkafka { return (state.lastBatch, state.producer) }
      state.batches[state.lastBatch]?.isHandedOver = true
      for event in events {
        state.waiting.append(WaitingEvent(batch: state.lastBatch, event: event, headers: headers, deadline: deadline))
      }
      return (state.lastBatch, nil)
    }
    guard let producer else {
      arrivals.signal()
      return
    }
    for event in events { produce(event, of: batch, headers, by: producer) }
    settle(batch, index: nil, nil)
  }

  private func produce(_ event: Event, of batch: UInt64, _ headers: [Header], by producer: Producer) {
    do throws(KafkaError) {
      try producer.produce(
        topic: try producer.topic(topics(event.topic)), partition: Producer.anyPartition,
        key: Array(event.key.utf8), value: event.value, headers: headers,
        tag: batch << Self.indexBits | UInt64(event.index))
    } catch {
      settle(batch, index: event.index, EventFailure(error))
    }
  }

  // MARK: Outcomes

  private func record(_ delivery: Delivery) {
    let position = delivery.offset.map {
      RecordPosition(topic: delivery.topicPartition.topic, partition: delivery.topicPartition.partition, offset: $0)
    }
    settle(
      delivery.tag >> Self.indexBits, index: Int(delivery.tag & (1 << Self.indexBits - 1)),
      delivery.error.map { EventFailure($0) }, at: position)
  }

  /// Records the result of one event. A nil index records that all events of the batch were passed to the client. Answers once no event is
  /// open.
  private func settle(_ id: UInt64, index: Int?, _ failure: EventFailure?, at position: RecordPosition? = nil) {
    if let failure, !failure.isTimedOut {
      logger.limited("produce/\(failure.name)", every: .seconds(5))?.warning(
        "an event was not published", ["reason": .string("\(failure.name): \(failure.reason)")])
    }
    let finished = state.withLock { state -> Batch? in
      guard state.batches[id] != nil else { return nil }  // answered at its deadline
      if let index {
        state.pendingEvents -= 1
        state.batches[id]?.result.statuses[index] = Self.status(failure)
        state.batches[id]?.open -= 1
        if let position, state.batches[id]?.wait != nil { state.batches[id]?.positions[index] = position }
      } else {
        state.batches[id]?.isHandedOver = true
      }
      guard state.batches[id]?.open == 0, state.batches[id]?.isHandedOver == true else { return nil }
      let batch = state.batches.removeValue(forKey: id)
      state.pendingBytes -= batch?.bytes ?? 0
      return batch
    }
    if let finished { answer(finished) }
  }

  private static func status(_ failure: EventFailure?) -> BatchResult.Status {
    guard let failure else { return .accepted }
    guard failure.isTooLarge else { return .unknown }
    return .rejected(
      code: DeadLetterCode.tooLarge.rawValue, message: "the event is larger than Kafka takes for this topic")
  }

  /// Answers a batch with the results so far.
  private func expire(_ id: UInt64) {
    let batch = state.withLock { state -> Batch? in
      guard let batch = state.batches.removeValue(forKey: id) else { return nil }
      state.pendingEvents -= batch.open
      state.pendingBytes -= batch.bytes
      return batch
    }
    if let batch { answer(batch) }
  }

  private func answer(_ batch: Batch) {
    if let completion = batch.completion { return completion.resume(batch.result) }
    metrics.count(batch.result, after: batch.startedAt.duration(to: .now))
    guard let wait = batch.wait else { return answer(batch, fates: [:]) }
    let events =
      batch.result.unknown > 0
      ? []
      : batch.positions.map { index, position in
        EarlierEvents.Wanted(
          position: position, eventId: batch.result.eventIds[index] ?? "", occurredAt: wait.times[index] ?? 0)
      }
    wait.decisions.wait(for: events, of: wait.caller, until: wait.deadline) { fates in
      self.answer(batch, fates: batch.positions.compactMapValues { fates[$0] })
    }
  }

  private func answer(_ batch: Batch, fates: [Int: DecisionLog.Fate]) {
    let answer = batch.result.answer(forbidden: batch.forbidden, fates: fates)
    batch.span?.end(answer, events: batch.result.statuses.count)
    batch.responder?.respond(answer)
  }

  // MARK: The thread

  private func serve() {
    let publishing = EventPublishing(settings, topics: topics)
    if publishing == nil { useLibrdkafka(because: "a property of --kafka-property is for librdkafka only") }
    while true {
      let (producer, route, isClosed) = state.withLock { ($0.producer, $0.route, $0.isClosed) }
      if isClosed { break }
      switch route {
      case .undecided: decide(publishing)
      case .together: publishWaiting(publishing)
      case .librdkafka:
        producer.poll(timeout: .milliseconds(50))
        if let error = producer.fatalError { replace(producer, error) }
      }
      for batch in takeExpired(.now) { expire(batch) }
    }
    if state.withLock({ $0.route == .together && !$0.waiting.isEmpty }) { publishWaiting(publishing) }
    publishing?.close()
    ended.signal()
  }

  private func decide(_ publishing: EventPublishing?) {
    do throws(TransactionalProducerError) {
      try publishing?.open()
      state.withLock { if $0.route == .undecided { $0.route = .together } }
    } catch {
      if error.kind == .refused { return useLibrdkafka(because: error.description) }
      _ = arrivals.wait(timeout: .now() + .milliseconds(50))
    }
  }

  /// From now on passes events to librdkafka, beginning with the waiting ones.
  private func useLibrdkafka(because reason: String) {
    logger.info("HTTP events are published by librdkafka", ["reason": .string(reason)])
    let (producer, waiting) = state.withLock { state in
      state.route = .librdkafka
      defer { state.waiting = [] }
      return (state.producer, state.waiting)
    }
    for it in waiting { produce(it.event, of: it.batch, it.headers, by: producer) }
  }

  /// Publishes as many waiting events as fit into a request. If none wait, blocks until some arrive, for 50 ms at most.
  private func publishWaiting(_ publishing: EventPublishing?) {
    let waiting = state.withLock { state -> [WaitingEvent] in
      let count = EventPublishing.fitting(state.waiting)
      var taken: [WaitingEvent] = []
      taken.reserveCapacity(count)
      // Events that were answered at their deadline are no longer published.
      for index in 0..<count where state.batches[state.waiting[index].batch] != nil {
        taken.append(state.waiting[index])
      }
      state.waiting.removeFirst(count)
      return taken
    }
    guard let publishing, !waiting.isEmpty else {
      if waiting.isEmpty { _ = arrivals.wait(timeout: .now() + .milliseconds(50)) }
      return
    }
    for (it, outcome) in zip(waiting, publishing.publish(waiting, now: .now)) {
      settle(it.batch, index: it.event.index, outcome.failure, at: outcome.position)
    }
  }

  private func takeExpired(_ now: ContinuousClock.Instant) -> [UInt64] {
    state.withLock { state in
      var expired: [UInt64] = []
      while state.passed < state.deadlines.count, state.deadlines[state.passed].at <= now {
        let batch = state.deadlines[state.passed].batch
        if state.batches[batch] != nil { expired.append(batch) }
        state.passed += 1
      }
      // Removed in bulk, so that the cost per batch is small.
      if state.passed > 1_024, state.passed * 2 > state.deadlines.count {
        state.deadlines.removeFirst(state.passed)
        state.passed = 0
      }
      return expired
    }
  }

  /// Replaces librdkafka's producer after a fatal error, after which an idempotent producer cannot send. The events in its queue are
  /// dropped.
  private func replace(_ broken: Producer, _ error: KafkaError) {
    logger.error("the producer failed and is replaced", ["reason": .string("\(error.name): \(error.reason)")])
    do throws(KafkaError) {
      let producer = try Self.makeProducer(configuration, reports, logger)
      state.withLock { $0.producer = producer }
      broken.close()
    } catch {
      logger.error("a new producer could not be made", ["reason": .string("\(error.name): \(error.reason)")])
    }
  }
}
