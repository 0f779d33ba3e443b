import Foundation
import FoundationNetworking
import HTTPServer
import Synchronization
import TestSupport
import Testing

@testable import ServiceKit

@Suite("Health")
struct HealthTests {
  @Test("a service is ready when every part is, those that were awaited included")
  func readiness() {
    let checks = HealthChecks(awaiting: ["restore"])
    #expect(checks.reasons == ["restore": "starting"])
    checks.set("brokers", .ready)
    #expect(!checks.isReady)
    checks.set("restore", .notReady("task 3: 40 %"))
    #expect(checks.reasons == ["restore": "task 3: 40 %"])
    checks.set("restore", .ready)
    #expect(checks.isReady)
    checks.set("fcm", .notReady("credentials"))
    #expect(!checks.isReady)
    checks.set("fcm", .ready)
    #expect(checks.isReady)
  }

  @Test("an observer hears of the state now and of each change, not of each report")
  func observe() {
    let heard = Mutex<[Bool]>([])
    let checks = HealthChecks(awaiting: ["a"])
    checks.observe { isReady in heard.withLock { $0.append(isReady) } }
    checks.set("a", .notReady("1 %"))
    checks.set("a", .notReady("2 %"))
    checks.set("a", .ready)
    checks.set("b", .ready)
    checks.set("b", .notReady("gone"))
    checks.set("b", .ready)
    #expect(heard.withLock { $0 } == [false, true, false, true])
  }

  private func get(_ port: Int, _ path: String) async throws -> (status: Int, type: String?, body: String) {
    let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
    let session = URLSession(configuration: .ephemeral)
    defer { session.finishTasksAndInvalidate() }
    let (data, response) = try await session.data(from: url)
    let http = try #require(response as? HTTPURLResponse)
    return (http.statusCode, http.value(forHTTPHeaderField: "Content-Type"), String(decoding: data, as: UTF8.self))
  }

  @Test("/readyz says 503 with the reasons and then 200; `ready` is logged once")
  func adminServer() async throws {
    let capture = LogCapture()
    let health = HealthState(awaiting: ["stream"])
    let metrics = MetricsRegistry()
    metrics.counter("nudge_x_total", help: "X.").increment()
    let admin = try AdminServer(
      address: "127.0.0.1:0", health: health, metrics: metrics, logger: Logger(label: "admin", sink: capture.sink))
    try admin.start { _ in }
    defer { admin.stop() }
    #expect(capture.entries.map { $0.metadata["port"] } == [.int(admin.port)])
    let waiting = try await get(admin.port, "/readyz")
    #expect(waiting.status == 503)
    #expect(waiting.body == #"{"reasons":{"stream":"starting"},"status":"not ready"}"#)
    for _ in 0..<2 {
      health.readiness.set("stream", .ready)
      health.readiness.set("stream", .notReady("rebalance"))
    }
    health.readiness.set("stream", .ready)
    let ready = try await get(admin.port, "/readyz")
    #expect(ready.status == 200)
    #expect(ready.body == #"{"reasons":{},"status":"ready"}"#)
    #expect(
      capture.entries.dropFirst().map(\.message) == [
        "ready", "is no longer ready", "is ready again", "is no longer ready", "is ready again",
      ])
  }

  @Test("/livez follows liveness, and so does its older name /healthz, /metrics is Prometheus' text")
  func aliveAndMetrics() async throws {
    let health = HealthState(awaiting: ["stream"])
    let metrics = MetricsRegistry()
    metrics.counter("nudge_x_total", help: "X.").increment()
    let admin = try AdminServer(
      address: "127.0.0.1:0", health: health, metrics: metrics,
      logger: Logger(label: "admin", sink: LogCapture().sink))
    try admin.start { _ in }
    defer { admin.stop() }
    for path in ["/livez", "/healthz"] { #expect(try await get(admin.port, path).status == 200) }
    health.liveness.set("thread 2", .notReady("ended"))
    for path in ["/livez", "/healthz"] {
      let dead = try await get(admin.port, path)
      #expect(dead.status == 503)
      #expect(dead.body == #"{"reasons":{"thread 2":"ended"},"status":"not alive"}"#)
    }
    let scraped = try await get(admin.port, "/metrics")
    #expect(scraped.type == "text/plain; version=0.0.4; charset=utf-8")
    #expect(scraped.body == "# HELP nudge_x_total X.\n# TYPE nudge_x_total counter\nnudge_x_total 1\n")
  }
}
