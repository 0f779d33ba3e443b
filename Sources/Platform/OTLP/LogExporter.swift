import JSONCodec
import ServiceKit

/// Sends a process's log lines to an OpenTelemetry collector, in addition to standard error. Logging never waits for
/// it.
final class LogExporter: Service {
  /// The name in logs.
  let name = "logs"
  private let exporter: BatchExporter<LogEntry>
  private let log: Logger

  /// The exporter for `--otlp-logs otlp`, or for `--otlp-logs-endpoint` alone; nil if lines go only to standard error.
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

  /// An exporter that has not started. It receives the lines of the logger's sink from now on.
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

/// Log lines as an `ExportLogsServiceRequest` in OTLP's JSON.
struct LogsDocument {
  let entries: [LogEntry]
  let resource: SpanResource

  /// The document in UTF-8.
  func bytes() -> [UInt8] {
    OTLPDocument.bytes(
      of: resource, "resourceLogs", "scopeLogs", "logRecords", capacity: entries.count * 512
    ) { json in
      for entry in entries { write(entry, to: &json) }
    }
  }

  private func write(_ entry: LogEntry, to json: inout JSONWriter) {
    let time = String(entry.time) + "000000"
    json.beginObject()
    json.field("timeUnixNano", time)
    json.field("observedTimeUnixNano", time)
    json.field("severityNumber", entry.level.severity)
    json.field("severityText", entry.level.rawValue.uppercased())
    json.key("body")
    json.beginObject()
    json.field("stringValue", entry.message)
    json.endObject()
    var attributes = entry.metadata
    if case .string(let trace)? = attributes["trace_id"] {
      attributes["trace_id"] = nil
      json.field("traceId", trace)
      if case .string(let span)? = attributes.removeValue(forKey: "span_id") { json.field("spanId", span) }
    }
    json.key("attributes")
    json.beginArray()
    write("nudge.label", .string(entry.label), to: &json)
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { write(name, value, to: &json) }
    json.endArray()
    json.endObject()
  }

  private func write(_ name: String, _ value: LogValue, to json: inout JSONWriter) {
    json.beginObject()
    json.field("key", name)
    json.key("value")
    json.beginObject()
    switch value {
    case .string(let text): json.field("stringValue", text)
    case .int(let number): json.field("intValue", String(number))
    case .bool(let flag): json.field("boolValue", flag)
    case .double(let number) where number.isFinite: json.field("doubleValue", number)
    case .double(let number): json.field("stringValue", String(number))
    }
    json.endObject()
    json.endObject()
  }
}

extension LogLevel {
  /// OpenTelemetry's `SeverityNumber`.
  fileprivate var severity: Int {
    switch self {
    case .trace: 1
    case .debug: 5
    case .info: 9
    case .notice: 10
    case .warning: 13
    case .error: 17
    }
  }
}
