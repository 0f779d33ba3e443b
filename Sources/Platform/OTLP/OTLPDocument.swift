import JSONCodec
import ServiceKit

/// Spans as an `ExportTraceServiceRequest` in OTLP's JSON: ids in hexadecimal, 64-bit numbers as strings.
struct OTLPDocument {
  private let spans: [Span]
  private let resource: SpanResource

  /// Spans of one process.
  init(_ spans: [Span], of resource: SpanResource) {
    self.spans = spans
    self.resource = resource
  }

  /// The document in UTF-8. It is written field by field, because encoding is most of a span's cost.
  func bytes() -> [UInt8] {
    Self.bytes(of: resource, "resourceSpans", "scopeSpans", "spans", capacity: spans.count * 1_024) { json in
      for span in spans { Self.write(span, to: &json) }
    }
  }

  /// A document with one resource and one scope. `write` fills the signal's list; the names depend on the signal.
  static func bytes(
    of resource: SpanResource, _ resources: String, _ scopes: String, _ data: String, capacity: Int,
    _ write: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    var json = JSONWriter(capacity: 512 + capacity)
    json.beginObject()
    json.key(resources)
    json.beginArray()
    json.beginObject()
    json.key("resource")
    json.beginObject()
    Self.write(resource.attributes, to: &json)
    json.endObject()
    json.key(scopes)
    json.beginArray()
    json.beginObject()
    json.key("scope")
    json.beginObject()
    json.field("name", "nudge")
    json.field("version", NudgeVersion.current)
    json.endObject()
    json.key(data)
    json.beginArray()
    write(&json)
    json.endArray()
    json.endObject()
    json.endArray()
    json.endObject()
    json.endArray()
    json.endObject()
    return json.bytes
  }

  private static func write(_ span: Span, to json: inout JSONWriter) {
    json.beginObject()
    json.field("traceId", span.context.traceID)
    json.field("spanId", span.context.spanID)
    json.field("parentSpanId", TraceContext.spanID(span.parent))
    json.field("flags", Int(span.context.flags))
    json.field("name", span.name)
    json.field("kind", span.kind.rawValue)
    json.field("startTimeUnixNano", String(span.start))
    json.field("endTimeUnixNano", String(span.end))
    write(span.attributes + (span.failure.map { [("error.type", .string($0))] } ?? []), to: &json)
    if let failure = span.failure {
      json.key("status")
      json.beginObject()
      // 2 means an error.
      json.field("code", 2)
      json.field("message", failure)
      json.endObject()
    }
    json.endObject()
  }

  static func write(_ attributes: [(name: String, value: Span.Value)], to json: inout JSONWriter) {
    json.key("attributes")
    json.beginArray()
    for attribute in attributes {
      json.beginObject()
      json.field("key", attribute.name)
      json.key("value")
      json.beginObject()
      switch attribute.value {
      case .string(let text): json.field("stringValue", text)
      case .int(let number): json.field("intValue", String(number))
      }
      json.endObject()
      json.endObject()
    }
    json.endArray()
  }
}
