import Foundation
import HTTPServer
import TestSupport
import Testing

@testable import OTLP
@testable import ServiceKit

@Suite("Sending lines of the log to a collector", .serialized)
struct LogExporterTests {
  private let metrics = MetricsRegistry()

  private func context(_ environment: [String: String], _ capture: LogCapture) throws -> ServiceContext {
    try .exporting(
      environment, Logger(label: "analyzer", metadata: ["service": "analyzer"], sink: capture.sink), metrics)
  }

  /// The records of all requests, with the name of the service that sent each.
  private func records(_ collector: SpanCollector) throws -> [(service: String?, record: [String: Any])] {
    func attribute(_ name: String, of object: Any?) -> String? {
      let list = (object as? [String: Any])?["attributes"] as? [[String: Any]]
      return (list?.first { $0["key"] as? String == name }?["value"] as? [String: Any])?["stringValue"] as? String
    }
    return try collector.bodies.flatMap { body in
      let document = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
      return try #require(document["resourceLogs"] as? [[String: Any]]).flatMap { resource in
        let service = attribute("service.name", of: resource["resource"])
        return try #require(resource["scopeLogs"] as? [[String: Any]]).flatMap { scope in
          try #require(scope["logRecords"] as? [[String: Any]]).map { (service, $0) }
        }
      }
    }
  }

  @Test(
    "a line is a record: time, severity, message, metadata of each kind; its trace and span are fields, not attributes")
  func document() throws {
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736", span = "00f067aa0ba902b7"
    let entry = LogEntry(
      time: 1_700_000_000_123, level: .warning, label: "kafka.consumer", message: "ä \"quoted\"",
      metadata: [
        "trace_id": .string(trace), "span_id": .string(span), "partition": 3, "share": 0.5, "done": true,
        "odd": .double(.infinity),
      ])
    let resource = SpanResource(service: "ingest", instance: "i-0")
    let expected = """
      {"resourceLogs": [{"resource": {"attributes": [
        {"key": "service.name", "value": {"stringValue": "nudge-ingest"}},
        {"key": "service.instance.id", "value": {"stringValue": "i-0"}},
        {"key": "service.version", "value": {"stringValue": "\(NudgeVersion.current)"}}]},
       "scopeLogs": [{"scope": {"name": "nudge", "version": "\(NudgeVersion.current)"}, "logRecords": [{
        "timeUnixNano": "1700000000123000000", "observedTimeUnixNano": "1700000000123000000",
        "severityNumber": 13, "severityText": "WARNING", "body": {"stringValue": "ä \\"quoted\\""},
        "traceId": "\(trace)", "spanId": "\(span)",
        "attributes": [{"key": "nudge.label", "value": {"stringValue": "kafka.consumer"}},
                       {"key": "done", "value": {"boolValue": true}},
                       {"key": "odd", "value": {"stringValue": "inf"}},
                       {"key": "partition", "value": {"intValue": "3"}},
                       {"key": "share", "value": {"doubleValue": 0.5}}]}]}]}]}
      """
    func object(_ data: Data) throws -> NSDictionary? { try JSONSerialization.jsonObject(with: data) as? NSDictionary }
    let bytes = LogsDocument(entries: [entry], resource: resource).bytes()
    #expect(try object(Data(bytes)) == object(Data(expected.utf8)))
    let severities = try LogLevel.allCases.map { level in
      let entry = LogEntry(time: 1, level: level, label: "", message: "", metadata: [:])
      let text = String(decoding: LogsDocument(entries: [entry], resource: resource).bytes(), as: UTF8.self)
      return try #require(Int(text.firstMatch(of: /"severityNumber":(\d+)/)?.1 ?? ""))
    }
    #expect(severities == [1, 5, 9, 10, 13, 17], "OpenTelemetry's SeverityNumber")
  }

  @Test(
    "with the usual variables each line arrives once, in order, beside the sink's own; what is logged until the end too",
    arguments: [
      ["OTEL_EXPORTER_OTLP_ENDPOINT": "COLLECTOR", "OTEL_LOGS_EXPORTER": "otlp"],
      ["OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "COLLECTOR/v1/logs"],
      ["NUDGE_OTLP_LOGS": "otlp", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "COLLECTOR/v1/logs"],
    ])
  func arrives(_ environment: [String: String]) throws {
    let collector = try SpanCollector()
    defer { collector.stop() }
    let capture = LogCapture()
    let context = try context(
      environment.mapValues { $0.replacing("COLLECTOR", with: collector.endpoint) }
        .merging(["OTEL_SERVICE_NAME": "night"]) { $1 }, capture)
    let exporter = try #require(try LogExporter.make(context))
    context.logger.info("before the start")
    try exporter.start { Issue.record("the exporter ended by itself: \($0)") }
    let trace = try #require(TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
    for number in 0..<1_000 { context.logger.with(trace).info("line \(number)") }
    exporter.stop()
    context.logger.info("after the end")
    let arrived = try records(collector)
    let messages = arrived.map { ($0.record["body"] as? [String: Any])?["stringValue"] as? String ?? "" }
    #expect(messages.first == "before the start")
    #expect(messages.filter { $0.hasPrefix("line ") } == (0..<1_000).map { "line \($0)" })
    #expect(!messages.contains("after the end"))
    #expect(arrived.allSatisfy { $0.service == "night" })
    let ofTrace = arrived.filter { $0.record["traceId"] as? String == trace.traceID }
    #expect(ofTrace.count == 1_000 && ofTrace.allSatisfy { $0.record["spanId"] as? String == trace.spanID })
    #expect(capture.entries.filter { $0.message.hasPrefix("line ") }.count == 1_000)
    #expect(metrics.value(of: "nudge_log_lines_exported_total") == messages.count)
  }

  @Test("a silent or unavailable collector keeps nobody from logging: lines that do not fit are dropped and counted")
  func away() throws {
    let silent = try SpanCollector(isSilent: true)
    defer { silent.stop() }
    for endpoint in ["http://127.0.0.1:9", silent.endpoint] {
      let before = metrics.value(of: "nudge_log_lines_dropped_total", #"{reason="queue_full"}"#) ?? 0
      let capture = LogCapture()
      let context = try context(["NUDGE_OTLP_LOGS": "otlp", "NUDGE_OTLP_ENDPOINT": endpoint], capture)
      let exporter = try #require(try LogExporter.make(context))
      try exporter.start { Issue.record("the exporter ended by itself: \($0)") }
      let count = ExportQueue<LogEntry>.capacity + 1_000
      let began = ContinuousClock.now
      for number in 0..<count { context.logger.info("\(number)") }
      let took = began.duration(to: .now)
      // Some microseconds each; a single request that is waited for takes 5 s.
      #expect(took < .seconds(4), "\(took)")
      #expect(capture.entries.count >= count, "all of them are written")
      let dropped = (metrics.value(of: "nudge_log_lines_dropped_total", #"{reason="queue_full"}"#) ?? 0) - before
      // The exporter's own lines take places too.
      #expect((1_000...1_010).contains(dropped), "\(dropped)")
      let stopping = ContinuousClock.now
      exporter.stop()
      #expect(stopping.duration(to: .now) < ExportCounts.drain + .seconds(2))
    }
  }

  @Test("a collector that refuses lines is told of once a minute, not with every line about it")
  func refused() throws {
    let collector = try SpanCollector(
      answers: (0..<100).map { _ in .error(400, code: "bad", message: "bad") })
    defer { collector.stop() }
    let capture = LogCapture()
    let context = try context(["NUDGE_OTLP_LOGS": "otlp", "NUDGE_OTLP_ENDPOINT": collector.endpoint], capture)
    let exporter = try #require(try LogExporter.make(context))
    try exporter.start { Issue.record("the exporter ended by itself: \($0)") }
    wait(for: "the line about the refusal to be refused too") { collector.bodies.count >= 2 }
    exporter.stop()
    #expect(capture.entries.filter { $0.message.contains("does not take them") }.count == 1)
    #expect(metrics.value(of: "nudge_log_lines_dropped_total", #"{reason="refused"}"#) ?? 0 >= 2)
  }

  @Test(
    "without these settings nothing is sent, also with an endpoint for spans; a wish without a collector is an error")
  func settings() throws {
    let capture = LogCapture()
    let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"]
    #expect(try LogExporter.make(context(endpoint, capture)) == nil)
    for word in ["none", "console"] {
      let environment = ["OTEL_LOGS_EXPORTER": word, "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://127.0.0.1:9/v1/logs"]
      #expect(try LogExporter.make(context(environment, capture)) == nil)
    }
    let error = #expect(throws: SettingsError.self) {
      try LogExporter.make(context(["OTEL_LOGS_EXPORTER": "otlp"], capture))
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains("--otlp-logs otlp needs --otlp-endpoint"))
  }
}
