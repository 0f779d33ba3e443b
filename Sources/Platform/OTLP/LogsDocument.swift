import JSONCodec
import ServiceKit

/// Lines of the log as an `ExportLogsServiceRequest` in OTLP's JSON.
struct LogsDocument {
  let entries: [LogEntry]
  let resource: SpanResource

  /// UTF-8.
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
