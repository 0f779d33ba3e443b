import Foundation
import HTTPTransport
import ServiceKit
import Synchronization

/// Sends a process's metrics to a collector of OpenTelemetry's every minute, beside `/metrics`.
///
/// Values are sums since the start of the process, so one that is not taken is in the next one.
final class MetricsExporter: Service {
  /// The name in logs.
  let name = "metrics"
  private let client: OTLPClient
  private let resource: SpanResource
  private let metrics: MetricsRegistry
  private let log: Logger
  private let start = SystemClock.nanoseconds()
  private let interval: Duration
  private let sent: Counter
  private let failed: Counter
  private let isStopping = Mutex(false)
  private let news = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  /// OpenTelemetry's own interval.
  static let interval: Duration = .seconds(60)
  /// How long `stop` waits for the last values to be sent.
  static let drain: Duration = .seconds(2)

  /// The exporter for `--otlp-metrics otlp`; nil: metrics are on `/metrics` alone.
  /// - Throws: `SettingsError` without a collector.
  static func make(_ context: ServiceContext) throws -> MetricsExporter? {
    let settings = context.settings
    guard settings.otlpMetrics == .otlp else { return nil }
    guard let url = settings.otlpMetricsEndpoint ?? settings.otlpEndpoint.map({ OTLPClient.url(of: $0, "metrics") })
    else { throw SettingsError("--otlp-metrics otlp needs --otlp-endpoint or --otlp-metrics-endpoint") }
    let log = context.logger.with(label: "metrics")
    return MetricsExporter(
      client: try OTLPClient(settings, url: url, log: log), resource: try SpanResource(context), log: log,
      metrics: context.metrics)
  }

  init(
    client: OTLPClient, resource: SpanResource, log: Logger, metrics: MetricsRegistry,
    interval: Duration = MetricsExporter.interval
  ) {
    self.client = client
    self.resource = resource
    self.log = log
    self.metrics = metrics
    self.interval = interval
    let help = "Exports of all metrics to the collector."
    sent = metrics.counter("nudge_metric_exports_total", help: help, labels: ["result": "taken"])
    failed = metrics.counter("nudge_metric_exports_total", help: help, labels: ["result": "failed"])
  }

  /// Starts the thread that sends.
  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws {
    log.info("metrics are sent", ["to": .string(client.place)])
    let thread = Thread { [self] in
      while true {
        _ = news.wait(timeout: .now() + interval.seconds)
        // Asked before the values are taken: those of the end are in the last export.
        let isLast = isStopping.withLock { $0 }
        send()
        if isLast { break }
      }
      ended.signal()
    }
    thread.name = "nudge-metrics"
    thread.start()
  }

  /// Sends the last values, for two seconds at most, and ends.
  func stop() {
    isStopping.withLock { $0 = true }
    news.signal()
    _ = ended.wait(timeout: .now() + Self.drain.seconds)
    client.close()
  }

  private func send() {
    let document = MetricsDocument(
      families: metrics.snapshot(), resource: resource, start: start, now: SystemClock.nanoseconds())
    let reason: String
    switch client.post(document.bytes()) {
    case .success(let response) where (200..<300).contains(response.status): return sent.increment()
    case .success(let response): reason = "HTTP \(response.status)"
    case .failure(let error): reason = "\(error)"
    }
    failed.increment()
    log.limited("metrics", every: .seconds(600))?.warning(
      "the collector of metrics does not take them; the next ones have all of it",
      ["to": .string(client.place), "reason": .string(reason)])
  }
}
