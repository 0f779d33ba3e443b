import Dispatch
import Foundation
import Testing

@testable import ServiceKit

@Suite("Metrics")
struct MetricsTests {
  @Test("the text is Prometheus', byte for byte: help, type, escaping, order, buckets")
  func exposition() {
    let registry = MetricsRegistry()
    registry.counter("nudge_sent_total", help: "Pushes\\sent\nto \"FCM\".", labels: ["result": "ok"]).increment(by: 3)
    registry.counter("nudge_sent_total", help: "Pushes\\sent\nto \"FCM\".", labels: ["result": "a\"b\\c\nd"])
      .increment()
    registry.gauge("nudge_lag", help: "Lag.", labels: ["topic": "t", "partition": "3"]).set(12)
    registry.gauge("nudge_depth", help: "Depth.") { 0.25 }
    let histogram = registry.histogram(
      "nudge_commit_seconds", help: "Commit.", labels: ["stage": "ingest"], buckets: [0.1, 1, 2.5])
    for value in [0.05, 0.1, 0.5, 9] { histogram.observe(value) }
    histogram.observe(.nan)
    #expect(
      registry.exposition() == """
        # HELP nudge_commit_seconds Commit.
        # TYPE nudge_commit_seconds histogram
        nudge_commit_seconds_bucket{stage="ingest",le="0.1"} 2
        nudge_commit_seconds_bucket{stage="ingest",le="1"} 3
        nudge_commit_seconds_bucket{stage="ingest",le="2.5"} 3
        nudge_commit_seconds_bucket{stage="ingest",le="+Inf"} 4
        nudge_commit_seconds_sum{stage="ingest"} 9.65
        nudge_commit_seconds_count{stage="ingest"} 4
        # HELP nudge_depth Depth.
        # TYPE nudge_depth gauge
        nudge_depth 0.25
        # HELP nudge_lag Lag.
        # TYPE nudge_lag gauge
        nudge_lag{partition="3",topic="t"} 12
        # HELP nudge_sent_total Pushes\\\\sent\\nto "FCM".
        # TYPE nudge_sent_total counter
        nudge_sent_total{result="a\\"b\\\\c\\nd"} 1
        nudge_sent_total{result="ok"} 3

        """)
  }

  @Test("without labels a histogram's buckets have only their bound; special values have Prometheus' names")
  func plain() {
    let registry = MetricsRegistry()
    registry.histogram("h", help: "H.", buckets: [1]).observe(.milliseconds(1_500))
    registry.gauge("a", help: "A.").set(.infinity)
    registry.gauge("b", help: "B.").set(.nan)
    registry.gauge("c", help: "C.").set(-1e21)
    let samples = registry.exposition().split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(
      samples == [
        "a +Inf", "b NaN", "c -1e+21", #"h_bucket{le="1"} 0"#, #"h_bucket{le="+Inf"} 1"#, "h_sum 1.5", "h_count 1",
      ])
  }

  @Test("asking again for the same name and labels gives the same instrument, whatever the order of the labels")
  func same() {
    let registry = MetricsRegistry()
    let first = registry.counter("x_total", help: "X.", labels: ["a": "1", "b": "2"])
    #expect(registry.counter("x_total", help: "X.", labels: ["b": "2", "a": "1"]) === first)
    #expect(registry.counter("x_total", help: "X.", labels: ["a": "1", "b": "3"]) !== first)
  }

  @Test("counts of many threads are all there")
  func threads() {
    let registry = MetricsRegistry()
    let counter = registry.counter("c_total", help: "C.")
    let histogram = registry.histogram("h", help: "H.", buckets: [0.5])
    let group = DispatchGroup()
    for _ in 0..<4 {
      Thread.detachNewThread(in: group) {
        for _ in 0..<5_000 {
          counter.increment()
          histogram.observe(1)
        }
      }
    }
    #expect(group.wait(timeout: .now() + 60) == .success)
    #expect(counter.value == 20_000)
    #expect(histogram.count == 20_000)
    counter.increment(by: -5)
    #expect(counter.value == 20_000)
  }

  @Test("names that Prometheus, or this project, does not allow are found at registration")
  func names() {
    func problem(
      _ name: String, _ kind: MetricsRegistry.Kind = .gauge, labels: [String] = [], bounds: [Double] = [1]
    ) -> String? {
      MetricName.problem(name: name, kind: kind, labelNames: labels, bounds: bounds)
    }
    #expect(problem("nudge_lag:sum") == nil)
    #expect(problem("x_total", .counter) == nil)
    for name in ["", "1a", "a-b", "a b", "ä"] { #expect(problem(name)?.contains("'\(name)'") == true) }
    #expect(problem("x", .counter)?.contains("_total") == true)
    #expect(problem("x_total", .gauge)?.contains("_total") == true)
    for label in ["", "__a", "a:b", "1"] { #expect(problem("x", labels: [label]) != nil) }
    #expect(problem("x", .histogram, labels: ["le"]) != nil)
    for bounds in [[], [2, 1], [1, 1], [1, .infinity]] as [[Double]] {
      #expect(problem("x", .histogram, bounds: bounds) != nil)
    }
  }

  @Test("a registration that contradicts an earlier one is found")
  func conflicts() {
    let family = MetricsRegistry.Family(kind: .histogram, help: "H.", labelNames: ["a"], bounds: [1])
    func conflict(
      _ kind: MetricsRegistry.Kind = .histogram, help: String = "H.", labels: [String] = ["a"], bounds: [Double] = [1]
    ) -> String? {
      MetricName.conflict(name: "h", family, kind: kind, help: help, labelNames: labels, bounds: bounds)
    }
    #expect(conflict() == nil)
    #expect(conflict(.gauge) != nil)
    #expect(conflict(help: "Other.") != nil)
    #expect(conflict(labels: ["b"]) != nil)
    #expect(conflict(bounds: [2]) != nil)
  }
}

@Suite("Metrics of the process")
struct ProcessMetricsTests {
  @Test("the names of Prometheus' own clients, and the build")
  func names() throws {
    let metrics = MetricsRegistry()
    ProcessMetrics.register(in: metrics, environment: ["NUDGE_REVISION": "abc123"])
    let text = metrics.exposition()
    #expect(
      text.contains("nudge_build_info{revision=\"abc123\",version=\"\(NudgeVersion.current)\"} 1"), "\(text)")
    func value(_ name: String) -> Double? {
      text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }.flatMap { Double($0.split(separator: " ")[1]) }
    }
    #expect(text.contains("# TYPE process_cpu_seconds_total counter"))
    let started = try #require(value("process_start_time_seconds"))
    let now = Double(SystemClock.milliseconds()) / 1_000
    #expect(started < now + 2 && started > now - 7 * 86_400)
    #expect(try #require(value("process_cpu_seconds_total")) > 0)
    #expect(try #require(value("process_resident_memory_bytes")) > 1_048_576)
    #expect(try #require(value("process_virtual_memory_bytes")) > 1_048_576)
    #expect(try #require(value("process_open_fds")) >= 3)
    #expect(try #require(value("process_max_fds")) >= 64)
    #expect(try #require(value("process_threads")) >= 1)
    let other = MetricsRegistry()
    ProcessMetrics.register(in: other, environment: [:])
    #expect(other.exposition().contains("revision=\"unknown\""))
  }

  @Test("a program's name may have blanks and brackets in it")
  func stat() {
    let fields = (4...22).map { "\($0)" }.joined(separator: " ")
    let state = ProcessState("7 (a) b (c)) S \(fields) 23000 24 25")
    #expect(state?.ticks == 14 + 15 && state?.threads == 20 && state?.startedTicks == 22)
    #expect(state?.virtualBytes == 23_000 && state?.residentPages == 24)
    #expect(ProcessState("no stat") == nil)
  }
}
