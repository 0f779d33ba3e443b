public import ServiceKit

/// The exporters of a process to an OpenTelemetry collector: spans, metrics and lines of the log, each if the settings ask for it.
public struct Telemetry: Sendable {
  /// nil: no spans are sent.
  public let spans: SpanExporter?
  /// To be started before the others, so that they stop last and have what those record at their ends.
  public let services: [(any Service)?]

  /// - Throws: `SettingsError`.
  public init(_ context: ServiceContext) throws {
    // First: it has what is logged from here on.
    let logs = try LogExporter.make(context)
    spans = try SpanExporter.make(context)
    services = [logs, spans, try MetricsExporter.make(context)]
  }
}
