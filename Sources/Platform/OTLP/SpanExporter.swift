public import ServiceKit

/// Spans that wait for a collector.
typealias SpanQueue = ExportQueue<Span>

/// Sends a process's spans to a collector of OpenTelemetry's. Recording a span never blocks.
public final class SpanExporter: SpanRecorder, Service {
  /// The name in logs.
  public let name = "spans"
  private let exporter: BatchExporter<Span>

  /// The exporter for `--otlp-traces-endpoint` or `--otlp-endpoint`; nil if both are absent.
  static func make(_ context: ServiceContext) throws -> SpanExporter? {
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
    exporter = BatchExporter(
      ExportSignal(name: name) { OTLPDocument($0, of: resource).bytes() }, client: client, log: log,
      counts: ExportCounts(
        exported: "nudge_spans_exported_total", dropped: "nudge_spans_dropped_total", "Spans", metrics: metrics))
  }

  /// The wall clock in nanoseconds since the epoch.
  public func now() -> UInt64 { SystemClock.nanoseconds() }

  /// Queues a span, or drops it if the queue is full.
  public func record(_ span: Span) { exporter.record(span) }

  /// Starts the thread that sends.
  public func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws { exporter.start() }

  /// Sends the remaining spans, for two seconds at most, and ends.
  public func stop() { exporter.stop() }
}
