/// Where lines of the log go beside standard error, by the names of OpenTelemetry's `OTEL_LOGS_EXPORTER`.
public enum LogsDestination: String, Sendable, CaseIterable, SettingValue {
  /// To a collector.
  case otlp
  /// Nowhere: standard error is the console.
  case console
  /// Nowhere.
  case none
}
