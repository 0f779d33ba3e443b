import Foundation
import ServiceKit

/// Spans as an `ExportTraceServiceRequest` in OTLP's JSON: ids in hexadecimal, numbers of 64 bits as texts.
struct OTLPDocument: Encodable {
  /// Who sends: an attribute each.
  struct Resource: Encodable {
    var attributes: [Attribute]
  }

  struct Attribute: Encodable {
    var key: String
    var value: Value

    enum Value: Encodable {
      case string(String)
      case int(Int64)

      private enum Key: String, CodingKey { case stringValue, intValue }

      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .string(let text): try container.encode(text, forKey: .stringValue)
        case .int(let number): try container.encode(String(number), forKey: .intValue)
        }
      }
    }

    init(_ key: String, _ value: String) { (self.key, self.value) = (key, .string(value)) }

    init(_ attribute: (name: String, value: ServiceKit.Span.Value)) {
      key = attribute.name
      switch attribute.value {
      case .string(let text): value = .string(text)
      case .int(let number): value = .int(number)
      }
    }
  }

  struct Span: Encodable {
    struct Status: Encodable {
      var code: Int
      var message: String
    }

    var traceId: String
    var spanId: String
    var parentSpanId: String
    var flags: Int
    var name: String
    var kind: Int
    var startTimeUnixNano: String
    var endTimeUnixNano: String
    var attributes: [Attribute]
    var status: Status?

    init(_ span: ServiceKit.Span) {
      traceId = span.context.traceID
      spanId = span.context.spanID
      parentSpanId = TraceContext.spanID(span.parent)
      flags = Int(span.context.flags)
      name = span.name
      kind = span.kind.rawValue
      startTimeUnixNano = String(span.start)
      endTimeUnixNano = String(span.end)
      attributes = span.attributes.map { Attribute($0) }
      // 2: an error.
      status = span.failure.map { Status(code: 2, message: $0) }
    }
  }

  struct Scope: Encodable {
    var name: String
    var version: String
  }

  struct ScopeSpans: Encodable {
    var scope: Scope
    var spans: [Span]
  }

  struct ResourceSpans: Encodable {
    var resource: Resource
    var scopeSpans: [ScopeSpans]
  }

  var resourceSpans: [ResourceSpans]

  /// Spans of one process.
  /// - Parameters:
  ///   - service: `ingest`.
  ///   - instance: the process's `--instance`.
  init(_ spans: [ServiceKit.Span], service: String, instance: String) {
    resourceSpans = [
      ResourceSpans(
        resource: Resource(attributes: [
          Attribute("service.name", "nudge-\(service)"), Attribute("service.instance.id", instance),
          Attribute("service.version", NudgeVersion.current),
        ]),
        scopeSpans: [
          ScopeSpans(
            scope: Scope(name: "nudge", version: NudgeVersion.current), spans: spans.map { Span($0) })
        ])
    ]
  }

  /// UTF-8.
  func bytes() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }

  /// What a collector says of a request that it took: how many of its spans it left out.
  struct Answer: Decodable {
    struct PartialSuccess: Decodable {
      /// A number, or a number's text, as OTLP's JSON has those of 64 bits.
      var rejectedSpans: Int

      private enum Key: String, CodingKey { case rejectedSpans }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if let number = try? container.decode(Int.self, forKey: .rejectedSpans) {
          rejectedSpans = number
        } else {
          rejectedSpans = Int(try container.decode(String.self, forKey: .rejectedSpans)) ?? 0
        }
      }
    }
    var partialSuccess: PartialSuccess?
  }
}
