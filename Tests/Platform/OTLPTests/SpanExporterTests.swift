import Foundation
import HTTPServer
import TestSupport
import Testing

@testable import OTLP
@testable import ServiceKit

@Suite("Sending spans to a collector", .serialized)
struct SpanExporterTests {
  private let metrics = MetricsRegistry()

  private func exporter(_ endpoint: String) throws -> SpanExporter {
    let log = Logger(label: "spans", sink: LogSink(level: .error))
    let exporter = SpanExporter(
      client: try OTLPClient(url: OTLPClient.url(of: endpoint, "traces"), headers: [], headersFile: nil, log: log),
      resource: SpanResource(service: "analyzer", instance: "a-0"), log: log, metrics: metrics)
    try exporter.start { Issue.record("the exporter ended by itself: \($0)") }
    return exporter
  }

  @Test("each recorded span arrives once, with the service's name; remaining spans are sent at the end")
  func arrives() throws {
    let collector = try SpanCollector()
    defer { collector.stop() }
    let exporter = try exporter(collector.endpoint)
    let count = SpanQueue.batchSize + 10
    for number in 0..<count { exporter.record(span(number)) }
    exporter.stop()
    let arrived = try collector.spans()
    #expect(arrived.map(\.span.spanId) == (0..<count).map { span($0).context.spanID })
    #expect(arrived.allSatisfy { $0.service == "nudge-analyzer" })
    #expect(metrics.value(of: "nudge_spans_exported_total") == count)
  }

  @Test("a collector that is overloaded gets the same spans again; one that refuses them does not, and that is counted")
  func retries() throws {
    let collector = try SpanCollector(answers: [
      .error(503, code: "busy", message: "busy"), .json(bytes: Array("{}".utf8)),
      .error(400, code: "bad", message: "bad"),
    ])
    defer { collector.stop() }
    let exporter = try exporter(collector.endpoint)
    defer { exporter.stop() }
    exporter.record(span(1))
    wait(for: "the second try") { metrics.value(of: "nudge_spans_exported_total") == 1 }
    #expect(try collector.spans().map(\.span.spanId) == [span(1).context.spanID, span(1).context.spanID])
    exporter.record(span(2))
    wait(for: "the refusal") { metrics.value(of: "nudge_spans_dropped_total", #"{reason="refused"}"#) == 1 }
    exporter.record(span(3))
    wait(for: "what comes after it") { metrics.value(of: "nudge_spans_exported_total") == 2 }
    #expect(collector.bodies.count == 4)
  }

  @Test("an unavailable or silent collector blocks no caller: spans that do not fit are dropped and counted")
  func away() throws {
    let silent = try SpanCollector(isSilent: true)
    defer { silent.stop() }
    // Nobody listens on port 9.
    for endpoint in ["http://127.0.0.1:9", silent.endpoint] {
      let before = metrics.value(of: "nudge_spans_dropped_total", #"{reason="queue_full"}"#) ?? 0
      let exporter = try exporter(endpoint)
      let spans = (0..<SpanQueue.capacity + 1_000).map { span($0) }
      let began = ContinuousClock.now
      for span in spans { exporter.record(span) }
      let took = began.duration(to: .now)
      // A microsecond or two each; a single request that is waited for takes 5 s.
      #expect(took < .seconds(4), "\(took)")
      let dropped = (metrics.value(of: "nudge_spans_dropped_total", #"{reason="queue_full"}"#) ?? 0) - before
      #expect(dropped == 1_000)
      let stopping = ContinuousClock.now
      exporter.stop()
      #expect(stopping.duration(to: .now) < ExportCounts.drain + .seconds(2))
    }
  }

  @Test("the query stays at the end of the URL")
  func urls() {
    #expect(OTLPClient.url(of: "http://h:1", "traces") == "http://h:1/v1/traces")
    #expect(OTLPClient.url(of: "http://h:1/x/?token=a/b", "traces") == "http://h:1/x/v1/traces?token=a/b")
    #expect(OTLPClient.url(of: "http://h:1/v1/traces", "traces") == "http://h:1/v1/traces")
    #expect(OTLPClient.url(of: "http://h:1/v1/traces", "metrics") == "http://h:1/v1/metrics")
  }

  @Test("T4: headers come from a file, are read again when it changes, and neither they nor the URL's login are logged")
  func headers() throws {
    let collector = try SpanCollector()
    defer { collector.stop() }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("headers-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try "# a token\nX-Api-Key: c4nary-1\n\n".write(to: file, atomically: true, encoding: .utf8)
    let capture = LogCapture()
    let endpoint = collector.endpoint.replacing("http://", with: "http://me:c4nary@")
    let log = Logger(label: "spans", sink: capture.sink)
    let exporter = SpanExporter(
      client: try OTLPClient(
        url: OTLPClient.url(of: endpoint, "traces"), headers: [], headersFile: file.path, log: log),
      resource: SpanResource(service: "analyzer", instance: "a-0"), log: log, metrics: metrics)
    try exporter.start { Issue.record("the exporter ended by itself: \($0)") }
    exporter.record(span(1))
    wait(for: "the first span") { metrics.value(of: "nudge_spans_exported_total") == 1 }
    #expect(collector.apiKeys.last == "c4nary-1")
    try "x-api-key: c4nary-22\n".write(to: file, atomically: true, encoding: .utf8)
    var number = 1
    wait(for: "the new header") {
      number += 1
      exporter.record(span(number))
      return collector.apiKeys.last == "c4nary-22"
    }
    exporter.stop()
    #expect(!"\(capture.entries)".contains("c4nary"), "\(capture.entries)")
    #expect(!metrics.exposition().contains("c4nary"))
  }

  private func context(_ environment: [String: String]) throws -> ServiceContext {
    try .exporting(environment, Logger(label: "spans", sink: LogSink(level: .error)), metrics)
  }

  @Test("OpenTelemetry's own variables: the whole URL, headers, the service's name, attributes of the process")
  func environment() throws {
    let collector = try SpanCollector()
    defer { collector.stop() }
    let exporter = try #require(
      try SpanExporter.make(
        try context([
          "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
          "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "\(collector.endpoint)/v1/traces",
          "OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=c4nary%2C1, x-other = a=b ", "OTEL_SERVICE_NAME": "night-analyzer",
          "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=a%20b,service.instance.id=pod-7,service.name=unused",
        ])))
    try exporter.start { Issue.record("the exporter ended by itself: \($0)") }
    exporter.record(span(1))
    exporter.stop()
    let arrived = try collector.spans()
    #expect(arrived.count == 1 && arrived.first?.service == "night-analyzer")
    #expect(collector.apiKeys.last == "c4nary,1")
    let body = collector.bodies.last ?? ""
    #expect(body.contains(#""deployment.environment.name","value":{"stringValue":"a b"}"#), "\(body)")
    #expect(
      body.contains(#""service.instance.id","value":{"stringValue":"pod-7"}"#) && !body.contains("unused"), "\(body)")
    #expect(try SpanExporter.make(try context([:])) == nil)
  }

  @Test(
    "a list that cannot be used is refused at start, without its text",
    arguments: ["c4nary", "=c4nary", "a=c4n%zzary", "Host=c4nary", "a b=c4nary", "a=c4n%07ary"])
  func badLists(_ text: String) throws {
    do {
      _ = try SpanExporter.make(
        try context(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS": "x=1,\(text)"]))
      Issue.record("taken: \(text)")
    } catch {
      #expect("\(error)".hasPrefix("--otlp-headers, entry 2: ") && !"\(error)".contains("c4n"), "\(error)")
    }
  }

  @Test(
    "a file of headers that cannot be used is refused at start, without its text",
    arguments: ["c4nary", "Host: x", "a: ", "a b: c4nary", "a: c4n\u{7}ary"])
  func badHeaders(_ text: String) throws {
    do {
      _ = try SpanHeaders.parse(Array("# x\n\(text)\n".utf8), of: "h.txt")
      Issue.record("taken: \(text)")
    } catch {
      #expect("\(error)".hasPrefix("h.txt, line 2: ") && !"\(error)".contains("c4n"), "\(error)")
    }
  }
}
