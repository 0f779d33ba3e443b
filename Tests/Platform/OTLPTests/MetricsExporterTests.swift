import Foundation
import TestSupport
import Testing

@testable import OTLP
@testable import ServiceKit

@Suite("Sending metrics to a collector", .serialized)
struct MetricsExporterTests {
  private func exporter(
    _ endpoint: String, _ metrics: MetricsRegistry, interval: Duration = .seconds(3_600)
  ) throws -> MetricsExporter {
    let log = Logger(label: "metrics", sink: LogSink(level: .error))
    return MetricsExporter(
      client: try OTLPClient(url: OTLPClient.url(of: endpoint, "metrics"), headers: [], headersFile: nil, log: log),
      resource: SpanResource(service: "analyzer", instance: "a-0"), log: log, metrics: metrics, interval: interval)
  }

  /// The metrics of a body, by name.
  private func metrics(_ body: String) throws -> [String: [String: Any]] {
    let document = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
    let resource = try #require((document["resourceMetrics"] as? [[String: Any]])?.first)
    let scope = try #require((resource["scopeMetrics"] as? [[String: Any]])?.first)
    let list = try #require(scope["metrics"] as? [[String: Any]])
    return Dictionary(
      uniqueKeysWithValues: list.compactMap { metric in (metric["name"] as? String).map { ($0, metric) } })
  }

  private func points(_ metric: [String: Any]?, _ kind: String) -> [[String: Any]] {
    (metric?[kind] as? [String: Any])?["dataPoints"] as? [[String: Any]] ?? []
  }

  @Test("counters are sums since the start, gauges values, histograms their buckets; labels are attributes")
  func document() throws {
    let registry = MetricsRegistry()
    registry.counter("nudge_a_total", help: "A.", labels: ["kind": "x\"y", "b": "1"]).increment(by: 5)
    registry.gauge("nudge_b", help: "B.").set(1.5)
    registry.gauge("nudge_none", help: "Nothing.") { .nan }
    let histogram = registry.histogram("nudge_c_seconds", help: "C.", buckets: [0.1, 1])
    for value in [0.05, 0.5, 0.6, 7.0] { histogram.observe(value) }
    let bytes = MetricsDocument(
      families: registry.snapshot(), resource: SpanResource(service: "ingest", instance: "i-0"), start: 5, now: 9
    ).bytes()
    let found = try metrics(String(decoding: bytes, as: UTF8.self))
    let sum = try #require(found["nudge_a_total"]?["sum"] as? [String: Any])
    #expect(sum["isMonotonic"] as? Bool == true && sum["aggregationTemporality"] as? Int == 2)
    let point = try #require(points(found["nudge_a_total"], "sum").first)
    #expect(point["asInt"] as? String == "5")
    #expect(point["startTimeUnixNano"] as? String == "5" && point["timeUnixNano"] as? String == "9")
    let attributes = point["attributes"] as? [[String: Any]] ?? []
    #expect(attributes.map { $0["key"] as? String } == ["b", "kind"])
    #expect(attributes.map { ($0["value"] as? [String: String])?["stringValue"] } == ["1", "x\"y"])
    #expect(points(found["nudge_b"], "gauge").first?["asDouble"] as? Double == 1.5)
    #expect(points(found["nudge_none"], "gauge").isEmpty)
    let buckets = try #require(points(found["nudge_c_seconds"], "histogram").first)
    #expect(buckets["bucketCounts"] as? [String] == ["1", "2", "1"])
    #expect(buckets["explicitBounds"] as? [Double] == [0.1, 1])
    #expect(buckets["count"] as? String == "4" && abs((buckets["sum"] as? Double ?? 0) - 8.15) < 1e-9)
  }

  @Test(
    "metrics are sent at each interval, and once more at the end; a collector that is away costs nothing but a count")
  func sends() throws {
    let collector = try SpanCollector()
    defer { collector.stop() }
    let registry = MetricsRegistry()
    let counter = registry.counter("nudge_a_total", help: "A.")
    let exporter = try exporter(collector.endpoint, registry, interval: .milliseconds(20))
    try exporter.start { Issue.record("the exporter ended by itself: \($0)") }
    wait(for: "two exports") { collector.bodies.count >= 2 }
    counter.increment(by: 7)
    exporter.stop()
    let last = try metrics(collector.bodies.last ?? "")
    #expect(points(last["nudge_a_total"], "sum").first?["asInt"] as? String == "7")
    let away = try self.exporter("http://127.0.0.1:9", registry)
    try away.start { Issue.record("the exporter ended by itself: \($0)") }
    let stopping = ContinuousClock.now
    away.stop()
    #expect(stopping.duration(to: .now) < MetricsExporter.drain + .seconds(2))
    #expect(registry.exposition().contains("nudge_metric_exports_total{result=\"failed\"} 1\n"))
  }
}
