import ServiceKit

/// Sends the lines of a process's log to a collector of OpenTelemetry's, beside standard error. Logging never waits for it.
final class LogExporter: Service {
  /// The name in logs.
  let name = "logs"
  private let exporter: BatchExporter<LogEntry>
  private let log: Logger

  /// The exporter for `--otlp-logs otlp`, or for `--otlp-logs-endpoint` alone; nil: lines go to standard error alone.
  /// - Throws: `SettingsError` without a collector.
  static func make(_ context: ServiceContext) throws -> LogExporter? {
    let settings = context.settings
    let isWanted = settings.otlpLogs.map { $0 == .otlp } ?? (settings.otlpLogsEndpoint != nil)
    guard isWanted else { return nil }
    guard let url = settings.otlpLogsEndpoint ?? settings.otlpEndpoint.map({ OTLPClient.url(of: $0, "logs") })
    else { throw SettingsError("--otlp-logs otlp needs --otlp-endpoint or --otlp-logs-endpoint") }
    let log = context.logger.with(label: "logs")
    return LogExporter(
      client: try OTLPClient(settings, url: url, log: log), resource: try SpanResource(context), log: log,
      metrics: context.metrics)
  }

  /// An exporter that has not started. It has the lines of the logger's sink from now on.
  init(client: OTLPClient, resource: SpanResource, log: Logger, metrics: MetricsRegistry) {
    exporter = BatchExporter(
      ExportSignal(name: name) { LogsDocument(entries: $0, resource: resource).bytes() }, client: client, log: log,
      counts: ExportCounts(
        exported: "nudge_log_lines_exported_total", dropped: "nudge_log_lines_dropped_total", "Lines of the log",
        metrics: metrics))
    self.log = log
    log.copyLines { [exporter] in exporter.record($0) }
  }

  /// Starts the thread that sends.
  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws { exporter.start() }

  /// Sends the remaining lines, for two seconds at most, and ends.
  func stop() {
    log.copyLines(to: nil)
    exporter.stop()
  }
}
