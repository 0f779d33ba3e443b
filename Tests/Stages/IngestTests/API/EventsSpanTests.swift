import Kafka
import NudgeSchema
import Synchronization
import Testing

@testable import Ingest
@testable import ServiceKit

@Suite("O3: HTTP API: the span of a request", .serialized)
struct EventsSpanTests {
  private final class Recorder: SpanRecorder {
    let spans = Mutex<[Span]>([])
    func now() -> UInt64 { SystemClock.nanoseconds() }
    func record(_ span: Span) { spans.withLock { $0.append(span) } }
  }

  private static let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0"

  @Test("is the child of the caller's, and what its events cause are its children")
  func parent() throws {
    let recorder = Recorder()
    let api = try APIUnderTest(spans: recorder)
    let events = [APIUnderTest.message("e1"), APIUnderTest.message("e2"), #"{"type":"no.such"}"#]
    let answer = try api.post("[\(events.joined(separator: ","))]", headers: ["traceparent: \(Self.trace)1"])
    #expect(answer.status == 207)
    let spans = recorder.spans.withLock { $0 }
    let span = try #require(spans.first)
    #expect(spans.count == 1 && span.name == "POST /v1/events" && span.kind == .server && span.failure == nil)
    #expect(span.context.traceID == "0af7651916cd43dd8448eb211c80319c")
    #expect(TraceContext.spanID(span.parent) == "b7ad6b7169203331" && span.context.span != span.parent)
    #expect(span.start <= span.end && span.end <= recorder.now())
    #expect(span.attributes.first { $0.name == "http.response.status_code" }?.value == .int(207))
    #expect(span.attributes.first { $0.name == "nudge.http.events" }?.value == .int(3))
    #expect(span.attributes.first { $0.name == "nudge.http.reason" }?.value == .string("partly_accepted"))
    let records = try api.records(.chatEvents, count: 2)
    #expect(records.map(\.traceparent) == [span.context.traceparent, span.context.traceparent])
  }

  @Test("a request that is refused for its content has one, which is no failure of the server's")
  func refused() throws {
    let recorder = Recorder()
    let api = try APIUnderTest(spans: recorder)
    #expect(try api.post("{", headers: ["traceparent: \(Self.trace)1"]).status == 400)
    #expect(try api.post(#"{"type":"no.such"}"#, headers: ["traceparent: \(Self.trace)1"]).status == 400)
    let spans = recorder.spans.withLock { $0 }
    #expect(spans.count == 2 && spans.allSatisfy { $0.failure == nil && $0.kind == .server })
  }

  @Test("one that Kafka does not answer for has failed")
  func failed() throws {
    let recorder = Recorder()
    let api = try APIUnderTest(spans: recorder, limits: EventProducer.Limits(acknowledgement: .milliseconds(300)))
    try api.broker.brokerDown()
    #expect(try api.post(APIUnderTest.message("e1"), headers: ["traceparent: \(Self.trace)1"]).status == 503)
    #expect(recorder.spans.withLock { $0.map(\.failure) } == ["unavailable"])
  }

  @Test("nobody's trace, one that is not recorded and one that is no trace have none, and go along as they came")
  func unrecorded() throws {
    let recorder = Recorder()
    let api = try APIUnderTest(spans: recorder)
    for (number, headers) in [[], ["traceparent: \(Self.trace)0"], ["traceparent: 00-xyz"]].enumerated() {
      #expect(try api.post(APIUnderTest.message("e\(number)"), headers: headers).status == 202)
    }
    #expect(recorder.spans.withLock { $0 } == [])
    let records = try api.records(.chatEvents, count: 3)
    #expect(records.compactMap(\.traceparent) == ["\(Self.trace)0"])
  }
}
