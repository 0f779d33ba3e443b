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
  private let url: String
  /// The URL without what may be secret.
  private let place: String
  private let resource: SpanResource
  /// Those of the setting; those of the file come after them.
  private let ownHeaders: [(name: String, value: String)]
  private let http: HTTPClient
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

  /// The headers of requests, as of the last reading of their file.
  private struct Headers {
    var file: WatchedFile
    var current: [(name: String, value: String)]
  }

  private let headers: Mutex<Headers?>

  /// How long one request may take.
  static let timeout: Duration = .seconds(5)
  /// How long `stop` waits for the remaining spans to be sent.
  static let drain: Duration = .seconds(2)

  /// The exporter for `--otlp-traces-endpoint` or `--otlp-endpoint`; nil if both are absent.
  public static func make(_ context: ServiceContext) throws -> SpanExporter? {
    let settings = context.settings
    guard let url = settings.otlpTracesEndpoint ?? settings.otlpEndpoint.map({ Self.url(of: $0) }) else { return nil }
    return try SpanExporter(
      url: url, headers: try settings.otlpHeaders.map { try SpanHeaders.parse(list: $0) } ?? [],
      headersFile: settings.otlpHeadersFile,
      resource: SpanResource(
        service: context.name, instance: settings.instance, name: settings.otlpServiceName,
        more: try settings.otlpResourceAttributes.map {
          try OTLPList.parse($0, of: ServiceSettings.otlpResourceAttributes.name)
        } ?? []),
      log: context.logger.with(label: "spans"), metrics: context.metrics)
  }

  /// An exporter that has not started.
  /// - Parameters:
  ///   - url: The whole one.
  ///   - headers: Sent with each request.
  ///   - headersFile: Lines `NAME: VALUE`, sent as well.
  /// - Throws: `SettingsError`: the file of headers cannot be used.
  init(
    url: String, headers: [(name: String, value: String)] = [], headersFile: String? = nil, resource: SpanResource,
    log: Logger, metrics: MetricsRegistry
  ) throws {
    self.url = url
    place = PublicText.origin(of: url)
    ownHeaders = headers
    if let headersFile {
      var file = WatchedFile(path: headersFile)
      do {
        let current = try SpanHeaders.parse(file.changed(force: true) ?? [], of: headersFile)
        self.headers = Mutex(Headers(file: file, current: current))
      } catch {
        throw SettingsError("--otlp-headers-file: \(error)")
      }
    } else {
      self.headers = Mutex(nil)
    }
    self.resource = resource
    self.log = log
    state = Mutex(State())
    sent = metrics.counter("nudge_spans_exported_total", help: "Spans that the collector took.")
    let help = "Spans that no collector has: the queue was full, or the collector refused them."
    full = metrics.counter("nudge_spans_dropped_total", help: help, labels: ["reason": "queue_full"])
    refused = metrics.counter("nudge_spans_dropped_total", help: help, labels: ["reason": "refused"])
    http = try HTTPClient(
      HTTPClientConfiguration(maxConnectionsPerHost: 1, maxConcurrentStreams: 1, maxQueued: 1, plainProtocol: .http1))
  }

  /// The URL of a collector's address: `/v1/traces` is appended unless present.
  static func url(of endpoint: String) -> String {
    let query = endpoint.firstIndex { $0 == "?" || $0 == "#" } ?? endpoint.endIndex
    var base = endpoint[..<query]
    while base.last == "/" { base.removeLast() }
    return (base.hasSuffix("/v1/traces") ? String(base) : "\(base)/v1/traces") + endpoint[query...]
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
    log.info("spans are sent", ["to": .string(place)])
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
    http.shutdown(grace: .zero)
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
      ["to": .string(place), "reason": .string(reason), "dropped": .int(dropped)])
  }

  private func post(_ spans: [Span]) -> (outcome: SpanQueue.Outcome, reason: String?) {
    let body = OTLPDocument(spans, of: resource).bytes()
    let request = HTTPRequest(
      url: url, headers: [("content-type", "application/json")] + ownHeaders + currentHeaders(), body: body,
      timeout: Self.timeout)
    switch http.response(to: request) {
    case .success(let response): return Self.outcome(of: response)
    case .failure(let error): return (.unavailable(retryAfter: nil), "\(error)")
    }
  }

  /// The headers of the file, which is read again if it has changed. One that cannot be used changes nothing.
  private func currentHeaders() -> [(name: String, value: String)] {
    headers.withLock { headers in
      guard var found = headers else { return [] }
      do {
        if let bytes = try found.file.changed(force: false) {
          found.current = try SpanHeaders.parse(bytes, of: found.file.path)
        }
      } catch {
        log.warning(
          "the headers for the collector of spans cannot be read again; the former ones stay in use",
          ["reason": .string("\(error)")])
      }
      headers = found
      return found.current
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
