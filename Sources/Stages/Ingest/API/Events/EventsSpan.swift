import HTTPServer
import ServiceKit

/// The span of a request to `POST /v1/events`, from its last byte to its answer. The spans of its events are its children.
struct EventsSpan: Sendable {
  /// The span that the events' records name in `traceparent`.
  let context: TraceContext
  private let parent: UInt64
  private let start: UInt64
  private let recorder: any SpanRecorder

  /// A span that begins now; nil if no spans are sent or the caller's trace is not recorded.
  init?(_ parent: TraceContext?, _ recorder: (any SpanRecorder)?) {
    guard let recorder, let parent, parent.isSampled else { return nil }
    var random = SystemRandomNumberGenerator()
    context = parent.child(using: &random)
    self.parent = parent.span
    start = recorder.now()
    self.recorder = recorder
  }

  /// The request is answered. By OpenTelemetry's conventions a refusal is the client's failure, not the server's.
  func end(_ answer: HTTPServerResponse, events: Int) {
    var attributes: [(name: String, value: Span.Value)] = [
      ("http.request.method", .string("POST")), ("http.route", .string("/v1/events")),
      ("http.response.status_code", .int(Int64(answer.status))), ("nudge.stage", .string("ingest")),
      ("nudge.http.events", .int(Int64(events))),
    ]
    if let reason = answer.reason { attributes.append(("nudge.http.reason", .string(reason))) }
    recorder.record(
      Span(
        context, parent: parent, name: "POST /v1/events", kind: .server, start: start, end: recorder.now(),
        attributes: attributes, failure: answer.status >= 500 ? answer.reason ?? "internal" : nil))
  }
}
