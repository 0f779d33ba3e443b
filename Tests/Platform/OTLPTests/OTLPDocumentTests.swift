import Foundation
import HTTPTransport
import ServiceKit
import Testing

@testable import OTLP

@Suite("OTLP's JSON")
struct OTLPDocumentTests {
  @Test("ids in lower-case hexadecimal, times and whole numbers as texts, kinds and states by their numbers")
  func document() throws {
    let parent = try #require(TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
    let span = Span(
      parent.child("t", [1, 2]), parent: parent.span, name: "process t", kind: .consumer,
      start: 1_700_000_000_000_000_001,
      end: 5, attributes: [("a", .string("ä\"")), ("b", .int(.max))], failure: "schema_violation")
    let bytes = OTLPDocument([span], of: SpanResource(service: "ingest", instance: "ingest-0")).bytes()
    let expected = """
      {"resourceSpans": [{"resource": {"attributes": [
        {"key": "service.name", "value": {"stringValue": "nudge-ingest"}},
        {"key": "service.instance.id", "value": {"stringValue": "ingest-0"}},
        {"key": "service.version", "value": {"stringValue": "\(NudgeVersion.current)"}}]},
       "scopeSpans": [{"scope": {"name": "nudge", "version": "\(NudgeVersion.current)"}, "spans": [{
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": "\(span.context.spanID)",
        "parentSpanId": "00f067aa0ba902b7", "flags": 1, "name": "process t", "kind": 5,
        "startTimeUnixNano": "1700000000000000001", "endTimeUnixNano": "1700000000000000001",
        "attributes": [{"key": "a", "value": {"stringValue": "ä\\""}},
                       {"key": "b", "value": {"intValue": "9223372036854775807"}},
                       {"key": "error.type", "value": {"stringValue": "schema_violation"}}],
        "status": {"code": 2, "message": "schema_violation"}}]}]}]}
      """
    func object(_ data: Data) throws -> NSDictionary? { try JSONSerialization.jsonObject(with: data) as? NSDictionary }
    #expect(try object(Data(bytes)) == object(Data(expected.utf8)))
    #expect(span.context.spanID.count == 16 && span.context.traceID == parent.traceID)
  }

  @Test("a span that did not fail has no status")
  func unset() {
    let text = String(
      decoding: OTLPDocument([span(1)], of: SpanResource(service: "s", instance: "i")).bytes(), as: UTF8.self)
    #expect(!text.contains("status"))
  }

  @Test("a collector's answers: accepted, partly accepted, retry, refused")
  func answers() {
    func outcome(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> SpanQueue.Outcome {
      ExportOutcome.of(
        HTTPResponse(
          status: status, headers: HTTPResponse.Headers(retryAfter.map { [("retry-after", $0)] } ?? []),
          body: Array(body.utf8),
          httpVersion: .http1)
      ).outcome
    }
    for body in ["", "{}", #"{"partialSuccess":{"rejectedSpans":"0"}}"#, "no json"] {
      #expect(outcome(200, body) == .taken(rejected: 0))
    }
    #expect(outcome(200, #"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"x"}}"#) == .taken(rejected: 3))
    #expect(outcome(202, #"{"partialSuccess":{"rejectedSpans":4}}"#) == .taken(rejected: 4))
    #expect(outcome(200, #"{"partialSuccess":{"rejectedLogRecords":"2"}}"#) == .taken(rejected: 2))
    for status in [429, 502, 503, 504] { #expect(outcome(status) == .unavailable(retryAfter: nil)) }
    #expect(outcome(503, retryAfter: "7") == .unavailable(retryAfter: 7_000))
    #expect(outcome(503, retryAfter: "Sun, 22 Nov 2026 18:00:00 GMT") == .unavailable(retryAfter: nil))
    for status in [400, 401, 404, 413, 500] { #expect(outcome(status) == .refused) }
  }

  @Test("an endpoint is an address, to which the path is added once")
  func urls() {
    for endpoint in ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces", "http://c:4318/v1/traces/"] {
      #expect(OTLPClient.url(of: endpoint, "traces") == "http://c:4318/v1/traces")
    }
    #expect(OTLPClient.url(of: "https://c/otlp", "traces") == "https://c/otlp/v1/traces")
  }
}
