import Foundation
import HTTPTransport
public import ServiceKit
import Synchronization

/// Sends a process's spans to a collector of OpenTelemetry's, by OTLP over HTTP with JSON bodies.
///
/// Recording a span never blocks. Spans wait in a bounded queue, which a separate thread empties with one request at a time; spans that
/// do not fit are dropped and counted.
public final class SpanExporter: SpanRecorder, Service {
  /// The name in logs.
  public let name = "spans"
  private let client: OTLPClient
  private let resource: SpanResource
  private let log: Logger
  private let sent: Counter
  private let full: Counter
  private let refused: Counter
  private let state: Mutex<State>
  private let news = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  private struct State {
    var queue = SpanQueue()
    var isStopping = false
  }

  /// How long `stop` waits for the remaining spans to be sent.
  static let drain: Duration = .seconds(2)

  /// The exporter for `--otlp-traces-endpoint` or `--otlp-endpoint`; nil if both are absent.
  public static func make(_ context: ServiceContext) throws -> SpanExporter? {
    let settings = context.settings
    guard let url = settings.otlpTracesEndpoint ?? settings.otlpEndpoint.map({ OTLPClient.url(of: $0, "traces") })
    else { return nil }
    let log = context.logger.with(label: "spans")
    return SpanExporter(
      client: try OTLPClient(settings, url: url, log: log), resource: try SpanResource(context), log: log,
      metrics: context.metrics)
  }

  /// An exporter that has not started.
  init(client: OTLPClient, resource: SpanResource, log: Logger, metrics: MetricsRegistry) {
    self.client = client
    self.resource = resource
    self.log = log
    state = Mutex(State())
    sent = metrics.counter("nudge_spans_exported_total", help: "Spans that the collector took.")
    let help = "Spans that no collector has: the queue was full, or the collector refused them."
    full = metrics.counter("nudge_spans_dropped_total", help: help, labels: ["reason": "queue_full"])
    refused = metrics.counter("nudge_spans_dropped_total", help: help, labels: ["reason": "refused"])
  }

  /// The wall clock in nanoseconds since the epoch.
  public func now() -> UInt64 { SystemClock.nanoseconds() }

  /// Queues a span, or drops it if the queue is full.
  public func record(_ span: Span) {
    let steady = SystemClock.steadyMilliseconds()
    let (taken, isNews) = state.withLock { $0.queue.add(span, now: steady) }
    if !taken { full.increment() }
    if isNews { news.signal() }
  }

  // MARK: Sending

  /// Starts the thread that sends.
  public func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws {
    log.info("spans are sent", ["to": .string(client.place)])
    let thread = Thread { [self] in
      while turn() {}
      ended.signal()
    }
    thread.name = "nudge-spans"
    thread.start()
  }

  /// Sends the remaining spans, for two seconds at most, and ends.
  public func stop() {
    state.withLock {
      $0.isStopping = true
      $0.queue.drain()
    }
    news.signal()
    _ = ended.wait(timeout: .now() + Self.drain.seconds)
    client.close()
  }

  /// False once the exporter has ended.
  private func turn() -> Bool {
    let steady = SystemClock.steadyMilliseconds()
    let (next, isOver) = state.withLock { state in
      let next = state.queue.next(now: steady)
      return (next, state.isStopping && state.queue.count == 0)
    }
    if isOver { return false }
    switch next {
    case .send(let spans): send(spans)
    case .wait(let until):
      guard let until else {
        news.wait()
        return true
      }
      _ = news.wait(timeout: .now() + .milliseconds(Int(max(1, until - steady))))
    }
    return true
  }

  private func send(_ spans: [Span]) {
    let (outcome, reason) = post(spans)
    let steady = SystemClock.steadyMilliseconds()
    let (count, dropped) = state.withLock { $0.queue.finished(outcome, now: steady) }
    sent.increment(by: count)
    refused.increment(by: dropped)
    guard let reason else { return }
    log.limited("spans", every: .seconds(60))?.warning(
      "the collector of spans does not take them; nothing waits for it",
      ["to": .string(client.place), "reason": .string(reason), "dropped": .int(dropped)])
  }

  private func post(_ spans: [Span]) -> (outcome: SpanQueue.Outcome, reason: String?) {
    let body = OTLPDocument(spans, of: resource).bytes()
    switch client.post(body) {
    case .success(let response): return Self.outcome(of: response)
    case .failure(let error): return (.unavailable(retryAfter: nil), "\(error)")
    }
  }

  /// The statuses that OTLP's specification allows to retry.
  static func outcome(of response: HTTPResponse) -> (outcome: SpanQueue.Outcome, reason: String?) {
    switch response.status {
    case 200..<300:
      let answer = try? JSONDecoder().decode(OTLPDocument.Answer.self, from: Data(response.body))
      let rejected = answer?.partialSuccess?.rejectedSpans ?? 0
      return (.taken(rejected: rejected), rejected > 0 ? "it left out \(rejected) spans" : nil)
    case 429, 502, 503, 504:
      // For a date instead of seconds the own backoff applies.
      let seconds = response.headers["retry-after"].flatMap { Int64($0) }
      return (.unavailable(retryAfter: seconds.map { $0 * 1_000 }), "HTTP \(response.status)")
    default: return (.refused, "HTTP \(response.status)")
    }
  }
}
