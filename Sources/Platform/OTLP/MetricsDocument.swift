import JSONCodec
import ServiceKit

/// Metrics as an `ExportMetricsServiceRequest` in OTLP's JSON: numbers of 64 bits as texts, values since the start of the process.
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
    // JSON has no text for them that every reader takes.
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
