import Foundation
import HTTPTransport
import JSONCodec
import ServiceKit
import Synchronization

/// Sends a process's metrics to an OpenTelemetry collector every minute, in addition to `/metrics`.
///
/// Values are sums since the start of the process, so the next export makes up for one that failed.
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

  /// OpenTelemetry's default interval.
  static let interval: Duration = .seconds(60)
  /// How long `stop` waits for the last values to be sent.
  static let drain: Duration = .seconds(2)

  /// The exporter for `--otlp-metrics otlp`; nil if metrics are only on `/metrics`.
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
        // The flag is read before the values, so that the last export has the final values.
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

/// Metrics as an `ExportMetricsServiceRequest` in OTLP's JSON: 64-bit numbers as strings, values since the start of the
/// process.
struct MetricsDocument {
  let families: [MetricFamily]
  let resource: SpanResource
  /// The process's start and now, in nanoseconds since the epoch.
  let start: UInt64
  let now: UInt64

  /// OTLP's `AGGREGATION_TEMPORALITY_CUMULATIVE`.
  private static let cumulative = 2

  func bytes() -> [UInt8] {
    OTLPDocument.bytes(
      of: resource, "resourceMetrics", "scopeMetrics", "metrics", capacity: families.count * 512
    ) { json in
      for family in families where !family.points.isEmpty { write(family, to: &json) }
    }
  }

  private func write(_ family: MetricFamily, to json: inout JSONWriter) {
    json.beginObject()
    json.field("name", family.name)
    json.field("description", family.help)
    switch family.kind {
    case .counter: json.key("sum")
    case .gauge: json.key("gauge")
    case .histogram: json.key("histogram")
    }
    json.beginObject()
    if family.kind != .gauge { json.field("aggregationTemporality", Self.cumulative) }
    if family.kind == .counter { json.field("isMonotonic", true) }
    json.key("dataPoints")
    json.beginArray()
    for point in family.points { write(point, to: &json) }
    json.endArray()
    json.endObject()
    json.endObject()
  }

  private func write(_ point: MetricFamily.Point, to json: inout JSONWriter) {
    // JSON has no form for such values that every reader accepts.
    if case .number(let value) = point.value, !value.isFinite { return }
    json.beginObject()
    OTLPDocument.write(point.labels.map { ($0.name, .string($0.value)) }, to: &json)
    json.field("startTimeUnixNano", String(start))
    json.field("timeUnixNano", String(now))
    switch point.value {
    case .count(let count): json.field("asInt", String(count))
    case .number(let value): json.field("asDouble", value)
    case .distribution(let bounds, let counts, let sum):
      json.field("count", String(counts.reduce(0, +)))
      json.field("sum", sum)
      json.key("bucketCounts")
      json.beginArray()
      for count in counts { json.value(String(count)) }
      json.endArray()
      json.key("explicitBounds")
      json.beginArray()
      for bound in bounds { json.value(bound) }
      json.endArray()
    }
    json.endObject()
  }
}
