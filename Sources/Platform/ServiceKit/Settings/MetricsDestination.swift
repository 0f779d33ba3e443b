/// Where metrics go beside `/metrics`, by the names of OpenTelemetry's `OTEL_METRICS_EXPORTER`.
public enum MetricsDestination: String, Sendable, CaseIterable, SettingValue {
  /// To a collector.
  case otlp
  /// Nowhere: `/metrics` is Prometheus'.
  case prometheus
  /// Nowhere.
  case none
}
