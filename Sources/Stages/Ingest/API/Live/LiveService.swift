import Foundation
import HTTPServer
import NudgeSchema
import ServiceKit
import Synchronization

/// The streams of `GET /v1/live` and what they need: reading the topic, timers and their end. It also reads the answers to questions about
/// people.
final class LiveService: Sendable {
  /// `GET /v1/live`; nil without streams.
  let route: HTTPRoute?
  /// Whether there are streams of users.
  private let hasStreams: Bool
  private let streams: LiveStreams
  private let tail: LiveTail
  private let backfill: LiveBackfill
  private let decisions: DecisionStreams
  private let reports = StreamReports { UUID().uuidString }
  private let producer: EventProducer
  private let coder = Mutex(RecordCoder())
  private let credentials: Credentials
  private let timer = RepeatingTimer("http-live", every: .seconds(1))
  private let keyReads: Mutex<(tokens: Int, apiKeys: Int)>

  init(
    _ context: ServiceContext, credentials: Credentials, rates: CallerRates, questions: PersonQuestions,
    producer: EventProducer, limits: LiveStreams.Limits, logger: Logger
  ) {
    let metrics = LiveMetrics(context.metrics)
    self.producer = producer
    streams = LiveStreams(limits: limits, metrics: metrics, reports: reports)
    decisions = DecisionStreams(settings: context.settings, logger: logger)
    hasStreams = limits.streams > 0
    let endpoint = LiveEndpoint(credentials: credentials, rates: rates, streams: streams, decisions: decisions)
    route = context.values[APISettings.liveStreams] > 0 ? endpoint.route : nil
    tail = LiveTail(
      settings: context.settings, streams: streams, questions: questions, logger: logger,
      remark: { [health = context.health] in
        health.readiness.setRemark("live", $0)
        metrics.report(isReading: $0 == nil)
      })
    backfill = LiveBackfill(settings: context.settings, streams: streams, logger: logger)
    self.credentials = credentials
    keyReads = Mutex((credentials.tokenKeyReads, credentials.apiKeyReads))
  }

  func start() {
    backfill.start()
    // Without streams, the topic is read only when somebody asks about a person.
    if hasStreams { tail.start() }
    timer.start { [self] in tick() }
  }

  /// Why answers are not being read; nil if they are.
  func obstacle() -> String? {
    tail.start()
    switch streams.condition {
    case .ready: return nil
    case .starting: return "this instance has just begun to read"
    case .failed(let reason): return reason
    }
  }

  private func tick() {
    let seconds = SystemClock.milliseconds() / 1_000
    let reads = (tokens: credentials.tokenKeyReads, apiKeys: credentials.apiKeyReads)
    let before = keyReads.withLock { known in
      defer { known = reads }
      return known
    }
    if before.tokens != reads.tokens { streams.keysChanged(seconds: seconds) }
    if before.apiKeys != reads.apiKeys { decisions.endAll() }
    streams.tick(now: SystemClock.steadyMilliseconds(), seconds: seconds)
    report()
  }

  /// Publishes reports about streams for the analyzer. If a report does not reach Kafka, the next one makes up for it.
  private func report() {
    guard !producer.isFull(adding: StreamReports.batch, bytes: StreamReports.batch * StreamReports.bytes) else {
      return
    }
    let reports = reports.take(now: SystemClock.steadyMilliseconds())
    let now = SystemClock.milliseconds()
    var events: [EventProducer.Event] = []
    for report in reports {
      let event = UserEvent(Envelope(eventId: UUID().uuidString, occurredAt: now), .activity(report))
      guard let value = try? coder.withLock({ try $0.encode(event) }) else { continue }
      events.append(EventProducer.Event(index: events.count, topic: .userEvents, key: report.userId, value: value))
    }
    guard !events.isEmpty else { return }
    producer.publish(
      events, BatchResult(statuses: events.map { _ in .unknown }, eventIds: events.map { _ in nil }), headers: [],
      then: EventProducer.Completion { _ in })
  }

  /// Ends all streams, spread over some seconds.
  func stop() {
    decisions.close()
    streams.close { Thread.sleep(forTimeInterval: $0.seconds) }
    timer.stop()
    backfill.close()
    tail.close()
  }
}

extension LiveStreams.Limits {
  /// The limits from the settings.
  init(_ values: SettingsValues, streams: Int) {
    self.streams = streams
    streamsOfAPerson = values[APISettings.liveUserStreams]
    ring = streams > 0 ? values[APISettings.liveMemory] << 20 : 0
    waitingInAll = values[APISettings.liveMemory] << 20
  }
}

/// Counts what streams receive.
final class LiveMetrics: Sendable {
  private let registry: MetricsRegistry
  private let events: Counter
  private let delay: Histogram
  private let ring: Gauge
  let streams: Gauge

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    streams = registry.gauge("nudge_live_streams", help: "Open streams of GET /v1/live.")
    ring = registry.gauge("nudge_live_ring_bytes", help: "Bytes kept of nudge.banners for streams that go on.")
    events = registry.counter("nudge_live_events_total", help: "Events written to streams of GET /v1/live.")
    delay = registry.histogram(
      "nudge_live_delay_seconds", help: "From a record's time on nudge.banners to its event on the streams, in seconds."
    )
    for reason in LiveReset.allCases { counter(of: reason).increment(by: 0) }
  }

  /// An event was sent to this many streams.
  func count(_ streams: Int, delay seconds: Double) {
    events.increment(by: streams)
    delay.observe(max(0, seconds))
  }

  /// A stream received a reset.
  func count(_ reason: LiveReset) { counter(of: reason).increment() }

  /// Reports whether the topic is being read. An instance without requests for it has no such series.
  func report(isReading: Bool) {
    registry.gauge(
      "nudge_live_reading", help: "1: nudge.banners is read for streams and answers; 0: they get nothing."
    ).set(isReading ? 1 : 0)
  }

  /// Reports the size of the ring.
  func keep(_ bytes: Int) { ring.set(bytes) }

  private func counter(of reason: LiveReset) -> Counter {
    registry.counter(
      "nudge_live_resets_total", help: "Streams of GET /v1/live that were told to ask anew, by reason.",
      labels: ["reason": reason.rawValue])
  }
}
